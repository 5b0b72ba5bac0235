// The rules of the house that a program can check. Each gives one complaint a breach, "path:line: what is wrong".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/layout/source_text.h"

namespace sdip::layout {

using Complaints = std::vector<std::string>;

/// Core's folders, first to last, as core/CMakeLists.txt lists them. Empty when the list is not found.
std::vector<std::string> core_folders_in(std::string_view cmake_text);

/// Includes follow the arrows core <- db <- server, and inside core the order of `core_folders`; exec and cost
/// never meet, in either direction. Files outside core, db and server may include anything.
Complaints against_arrows(const Source& source, const std::vector<std::string>& core_folders);

/// Quoted includes are written from the repository root: `exists` tells whether a path from there names a file.
Complaints against_root_includes(const Source& source, const std::function<bool(const std::string&)>& exists);

/// Core has no input or output, clock, environment or unseeded randomness, and never ends the program.
Complaints against_pure_core(const Source& source);

/// No name of our own holds the words manager, helper, util or impl, or begins with get_.
Complaints against_empty_names(const Source& source);

/// No file holds the marks of unfinished work.
Complaints against_marks(const Source& source);

/// The first line says what the file is, in a comment.
Complaints against_first_line(const Source& source);

/// No file is longer than 500 lines, nine in ten have under 300, and the median is about 120 (here: at most 130).
Complaints against_long_files(const std::vector<Source>& sources);

/// No C++ function is longer than 70 lines. A function is what a closing brace in the first column ends.
Complaints against_long_functions(const Source& source);

}  // namespace sdip::layout
