// A file that a model names as holding its weights: opened only when it really lies in the model's own folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "server/io/files.h"

namespace sdip {

/// How a path is walked: by one call of the kernel (openat2, Linux 5.6), or directory by directory where it has
/// none. Both refuse the same.
enum class PathWalk { by_kernel, by_directory };

/// The file at `location` below `folder`, mapped read-only. Refused are: an absolute location, a part that is
/// empty, "." or "..", a symbolic link anywhere in it, a file that has another name, too (a hard link, perhaps to
/// outside), and what is no regular file. Throws Error file_not_found, file_unreadable, each saying why.
std::shared_ptr<const MappedFile> map_external_file(const std::filesystem::path& folder,
                                                    const std::string& location,
                                                    PathWalk walk = PathWalk::by_kernel);

}  // namespace sdip
