// The data folder of a command, and the files in it.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "db/store.h"
#include "server/io/files.h"

namespace sdip {

/// The folder of --data, made where it is not there; or one that lasts as long as this value.
class DataFolder {
 public:
  /// Throws Error("data_folder_unusable", ...).
  explicit DataFolder(const std::string& given);
  ~DataFolder();
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool temporary_ = false;
};

/// Throws Error("store_corrupt", file, ...) where a model's bytes are not those that were kept.
void require_model_bytes(const StoredModel& model, const MappedFile& file);

}  // namespace sdip
