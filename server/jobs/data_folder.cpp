// The data folder of a command.
#include "server/jobs/data_folder.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "server/io/files.h"

namespace sdip {

DataFolder::DataFolder(const std::string& given) : path_(given) {
  if (!given.empty()) {
    require_folder(path_);
    return;
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "sdip-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw Error("data_folder_unusable", pattern, "cannot create a temporary folder");
  path_ = pattern;
  temporary_ = true;
}

DataFolder::~DataFolder() {
  std::error_code ignored;
  if (temporary_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace sdip
