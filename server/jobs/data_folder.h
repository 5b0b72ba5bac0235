// The data folder of a command.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

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

}  // namespace sdip
