// The data folder of a command, and the files in it.
#include "server/jobs/data_folder.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/sha256.h"

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

void require_model_bytes(const StoredModel& model, const MappedFile& file) {
  if (sha256_hex(file.bytes()) != model.sha256)
    throw Error(
        "store_corrupt", model.file,
        "the file of model " + model.name + " is not what was kept: expected the bytes of sha256 " + model.sha256);
}

}  // namespace sdip
