// Opening a data folder.
#include "server/jobs/service.h"

#include "core/base/error.h"
#include "server/models/operator_files.h"

namespace sdip {
namespace {

const std::filesystem::path& usable(const std::filesystem::path& folder) {
  require_folder(folder);
  return folder;
}

}  // namespace

std::filesystem::path store_file(const std::filesystem::path& data_folder) { return data_folder / "sdip.sqlite"; }

std::filesystem::path kept_store_file(const std::filesystem::path& data_folder) {
  std::filesystem::path file = store_file(data_folder);
  if (!std::filesystem::exists(file))
    throw Error("file_not_found", file.string(), "no sweeps are kept in this folder");
  return file;
}

Service::Service(const std::filesystem::path& data_folder, const std::filesystem::path& program,
                 std::int64_t validate_seconds)
    : data(usable(data_folder)),
      store(store_file(data).string()),
      catalog(UploadedModels{&store, data, program, operators_in(data)}),
      validations(store, catalog, validate_seconds),
      accuracies(store, catalog),
      searches(store, catalog),
      jobs(store, catalog, [this](std::int64_t sweep) {
        validations.submit_front(sweep);
        accuracies.measure_front_of(sweep);
      }) {
  remove_unfinished(data / "models");  // the store's lock says that nobody else writes there
}

}  // namespace sdip
