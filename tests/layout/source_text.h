// The text of a source file as the layout rules see it: its lines, its includes, its identifiers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sdip::layout {

struct Source {
  std::string path;  // from the repository root, as in "core/base/units.h"
  std::string text;
};

/// A name in the code, with the two characters before it: "->" and "::" and "." tell a foreign name from our own.
struct Identifier {
  std::string name;
  std::string before;
  char after;  // the next character that is not a space
  int line;
};

struct Include {
  std::string path;
  bool quoted;
};

/// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

/// The text with comments, strings and character literals blanked; lines keep their numbers.
std::string code_of(std::string_view text);

/// What the #include lines name, in order.
std::vector<Include> includes_of(std::string_view text);

/// Every identifier of `code_of(text)`, in order. Preprocessor words are identifiers too.
std::vector<Identifier> identifiers_of(std::string_view text);

/// The words of a name in lower case: "MacUnit" and "mac_unit" are both mac, unit.
std::vector<std::string> words_of(std::string_view name);

/// The sources below `folders` of the repository at `root`, by path; folders node_modules, dist and build are left
/// out. Throws std::runtime_error when a folder that exists cannot be read.
std::vector<Source> sources_below(const std::string& root, const std::vector<std::string>& folders);

/// The text of one file. Throws std::runtime_error when it cannot be read.
std::string read_text(const std::string& path);

}  // namespace sdip::layout
