// Formats of layers from a file.
#pragma once

#include <string>

#include "core/study/said_formats.h"
#include "server/io/files.h"

namespace sdip {

/// Reads `--formats FILE`; nothing for "". Throws what reading it throws.
inline SaidFormats formats_of_file(const std::string& file) {
  return file.empty() ? SaidFormats() : SaidFormats{read_text(file), file};
}

}  // namespace sdip
