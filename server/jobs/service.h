// The service that request handlers work with.
#pragma once

#include <filesystem>
#include <semaphore>

#include "db/store.h"
#include "server/jobs/accuracy_jobs.h"
#include "server/jobs/jobs.h"
#include "server/jobs/search_jobs.h"
#include "server/jobs/validation_jobs.h"
#include "server/models/catalog.h"

namespace sdip {

/// Everything behind the API, opened in one data folder and closed in reverse order.
class Service {
 public:
  /// Uploads are read in children of `program`, by their operators and those of operators/*.json in the folder.
  /// Fronts of sweeps are validated for `validate_seconds`. Throws Error data_folder_unusable, operator_invalid and
  /// what Store throws.
  Service(const std::filesystem::path& data_folder, const std::filesystem::path& program,
          std::int64_t validate_seconds = 60);

  std::filesystem::path data;
  Store store;
  Catalog catalog;
  ValidationJobs validations;
  AccuracyJobs accuracies;
  SearchJobs searches;
  Jobs jobs;
  std::counting_semaphore<> screenings{2};  // more at once would leave no worker for others
};

/// The store's file in a data folder.
std::filesystem::path store_file(const std::filesystem::path& data_folder);
/// The same of a folder that has one. Throws Error file_not_found.
std::filesystem::path kept_store_file(const std::filesystem::path& data_folder);

}  // namespace sdip
