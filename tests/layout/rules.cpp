// The checks themselves; rules_test.cpp shows for each what it lets pass and what it does not.
#include "tests/layout/rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>

namespace sdip::layout {
namespace {

std::string at_line(const Source& source, std::size_t line, const std::string& what) {
  return source.path + ":" + std::to_string(line) + ": " + what;
}

bool is_cpp(const Source& source) { return source.path.ends_with(".cpp") || source.path.ends_with(".h"); }

/// The part of a path before its first slash, and all before its last.
std::string top_of(const std::string& path) { return path.substr(0, path.find('/')); }
std::string folder_of(const std::string& path) {
  const std::size_t last = path.rfind('/');
  return last == std::string::npos ? "" : path.substr(0, last);
}

bool is_below(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

std::string capitals(std::string_view name) {
  std::string all;
  for (const char c : name) all += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return all;
}

template <class List>
std::size_t place_of(const List& list, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(list, name) - list.begin());
}

/// Whether a name stands behind ".", "->" or "::", so that it belongs to a library or to a type checked elsewhere.
bool is_member(const Identifier& identifier) {
  return identifier.before.ends_with(".") || identifier.before == "->" || identifier.before == "::";
}

template <class List>
bool holds(const List& list, std::string_view name) {
  return place_of(list, name) != list.size();
}

/// Whether a line holds `mark`, given in small letters, as a word in capitals.
bool holds_mark(std::string_view line, std::string_view mark) {
  std::string word;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ' ';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    if (std::ranges::equal(word, mark,
                           [](char a, char b) { return a == std::toupper(static_cast<unsigned char>(b)); })) {
      return true;
    }
    word.clear();
  }
  return false;
}

/// Lines of a comment joined to one.
std::string unwrapped(std::string comment) {
  constexpr std::string_view wrap = "\n// ";
  for (std::size_t at = 0; (at = comment.find(wrap, at)) != std::string::npos;)
    comment.replace(at, wrap.size(), " ");
  return comment;
}

}  // namespace

std::vector<std::string> folders_listed(std::string_view cmake_text, std::string_view top) {
  const std::size_t begin = cmake_text.find("set(SDIP_" + capitals(top) + "_FOLDERS");
  if (begin == std::string_view::npos) return {};
  const std::size_t names = cmake_text.find_first_of(" \n", begin);
  std::istringstream list(std::string(cmake_text.substr(names, cmake_text.find(')', names) - names)));
  std::vector<std::string> folders;
  for (std::string folder; list >> folder;) folders.push_back(std::string(top) + "/" + folder);
  return folders;
}

Complaints against_arrows(const Source& source, const std::vector<std::string>& folders) {
  static constexpr std::array<std::string_view, 3> tops = {"core", "db", "server"};
  const std::string top = top_of(source.path), folder = folder_of(source.path);
  if (!holds(tops, top)) return {};
  Complaints complaints;
  for (const Include& include : includes_of(source.text)) {
    if (!include.quoted) continue;
    const std::string included_top = top_of(include.path), included = folder_of(include.path);
    const auto complain = [&, path = include.path](const std::string& why) {
      complaints.push_back(std::string(source.path).append(": includes ").append(path).append(", ").append(why));
    };
    if (place_of(tops, included_top) > place_of(tops, top)) complain("but core <- db <- server");
    // core/sdip.h stands above all folders of core.
    if (top == "db" || included_top != top || folder == "core") continue;
    if (!holds(folders, folder)) complain("but " + top + "/CMakeLists.txt does not list " + folder);
    if (place_of(folders, included) > place_of(folders, folder)) complain("which comes later in " + top);
    if ((is_below(folder, "core/exec") && is_below(included, "core/cost")) ||
        (is_below(folder, "core/cost") && is_below(included, "core/exec"))) {
      complain("but cost and exec are independent views of the machine");
    }
  }
  return complaints;
}

Complaints against_internal_includes(const std::vector<Source>& sources) {
  const auto library_of = [](const std::string& path) {
    const std::size_t first = path.find('/');
    return path.substr(0, path.starts_with("core/") ? path.find('/', first + 1) : first);
  };
  const auto folder_of = [](const std::string& path) { return path.substr(0, path.rfind('/')); };
  std::map<std::string, std::string> rooms, libraries;  // by header: the folder that may include it
  for (const Source& source : sources) {
    const std::string head = unwrapped(source.text.substr(0, source.text.find("#pragma once")));
    if (head.find("Internal to its room.") != std::string::npos) rooms[source.path] = folder_of(source.path);
    if (head.find("Internal to its library.") != std::string::npos)
      libraries[source.path] = library_of(source.path);
  }
  Complaints complaints;
  for (const Source& source : sources) {
    if (source.path.starts_with("tests/")) continue;
    for (const Include& include : includes_of(source.text)) {
      const auto room = rooms.find(include.path), library = libraries.find(include.path);
      const bool outside = (room != rooms.end() && folder_of(source.path) != room->second) ||
                           (library != libraries.end() && !is_below(source.path, library->second));
      if (outside)
        complaints.push_back(source.path + ": includes " + include.path + ", which is internal to " +
                             (room != rooms.end() ? room->second : library->second));
    }
  }
  return complaints;
}

Complaints against_shared_counts(const Source& source) {
  struct Shared {
    std::string_view header;
    bool by_cost;  // exec may include all of them
  };
  static constexpr std::array<Shared, 10> list = {{
      {"core/program/program.h", true},                 // the Program itself
      {"core/program/workload.h", true},                // and the graphs that it came from
      {"core/program/memories.h", true},                // names and capacities of its core's memories
      {"core/program/capacity.h", true},                // for which capacities of PSRAM it is the same
      {"core/program/kinds.h", true},                   // what is a nest, what is a scalar
      {"core/program/weight_form.h", true},             // bits of a weight in `.weight`
      {"core/program/weights/weight_region.h", false},  // which element stands where in `.weight`
      {"core/program/weights/weight_scales.h", false},  // and which scale is its
      {"core/program/weights/coded_weight.h", false},   // codes to numbers
      {"core/program/weights/weights.h", false},        // a `.weight` file opened
  }};
  const auto named = std::ranges::find(list, source.path, &Shared::header) != list.end();
  const bool cost = is_below(source.path, "core/cost"), exec = is_below(source.path, "core/exec");
  if (!cost && !exec && !named) return {};
  Complaints complaints;
  for (const Include& include : includes_of(source.text)) {
    if (!include.quoted || !include.path.starts_with("core/program/")) continue;
    const auto row = std::ranges::find(list, include.path, &Shared::header);
    if (row != list.end() && (!cost || row->by_cost)) continue;
    complaints.push_back(source.path + ": includes " + include.path +
                         ", but program, cost and exec share nothing that counts");
  }
  return complaints;
}

Complaints against_full_folders(const std::vector<Source>& sources) {
  constexpr int most = 40;
  std::map<std::string, int> counts;
  for (const Source& source : sources)
    if (is_cpp(source)) ++counts[folder_of(source.path)];
  Complaints complaints;
  for (const auto& [folder, count] : counts) {
    if (count > most)
      complaints.push_back(folder + ": " + std::to_string(count) + " sources, more than " + std::to_string(most));
  }
  return complaints;
}

Complaints against_root_includes(const Source& source, const std::function<bool(const std::string&)>& exists) {
  Complaints complaints;
  for (const Include& include : includes_of(source.text)) {
    if (include.quoted && !exists(include.path)) {
      complaints.push_back(source.path + ": includes \"" + include.path + "\", which is no path from the root");
    }
  }
  return complaints;
}

Complaints against_pure_core(const Source& source) {
  static constexpr std::array<std::string_view, 9> headers = {
      "fstream", "iostream", "filesystem", "cstdio", "stdio.h", "unistd.h", "ctime", "time.h", "sys/time.h"};
  static constexpr std::array<std::string_view, 7> words = {
      "cout", "cerr", "random_device", "system_clock", "steady_clock", "high_resolution_clock", "getenv"};
  static constexpr std::array<std::string_view, 7> calls = {"printf", "fprintf", "puts", "exit",
                                                            "_Exit",  "abort",   "fopen"};
  // Good names of our own too (rand is an operator), so only these, qualified, are the library's.
  static constexpr std::array<std::string_view, 3> qualified = {"rand", "time", "terminate"};
  if (!source.path.starts_with("core/")) return {};
  Complaints complaints;
  for (const Include& include : includes_of(source.text)) {
    if (holds(headers, include.path)) complaints.push_back(source.path + ": core includes <" + include.path + ">");
  }
  for (const Identifier& name : identifiers_of(source.text)) {
    const bool method = name.before.ends_with(".") || name.before == "->";
    const bool call = name.after == '(' && !method;
    if (holds(words, name.name) || (call && holds(calls, name.name)) ||
        (call && name.before == "::" && holds(qualified, name.name))) {
      complaints.push_back(at_line(source, static_cast<std::size_t>(name.line), "core uses " + name.name));
    }
  }
  return complaints;
}

Complaints against_subranges(const Source& source) {
  static constexpr std::array<std::string_view, 8> algorithms = {
      "unique", "rotate", "partition", "stable_partition", "remove", "remove_if", "equal_range", "subrange"};
  if (!is_cpp(source)) return {};
  Complaints complaints;
  std::string before;
  for (const Identifier& name : identifiers_of(source.text)) {
    if (before == "ranges" && name.before == "::" && holds(algorithms, name.name))
      complaints.push_back(at_line(source, static_cast<std::size_t>(name.line), "clang 14 builds no " + name.name));
    before = name.name;
  }
  return complaints;
}

Complaints against_empty_names(const Source& source) {
  static constexpr std::array<std::string_view, 7> empty = {"manager", "managers", "helper", "helpers",
                                                            "util",    "utils",    "impl"};
  if (!is_cpp(source)) return {};
  Complaints complaints;
  const auto lines = lines_of(source.text);
  for (const Identifier& name : identifiers_of(source.text)) {
    // An override of a library's function, or one called by its name, has the library's name.
    const std::string_view line = lines[static_cast<std::size_t>(name.line - 1)];
    const bool overrides =
        line.find(" override") != std::string_view::npos || line.find("// pagmo's name") != std::string_view::npos;
    if (is_member(name) || overrides) continue;
    const auto words = words_of(name.name);
    if (std::ranges::any_of(words, [](const std::string& word) { return holds(empty, word); }) ||
        name.name.starts_with("get_")) {
      complaints.push_back(at_line(source, static_cast<std::size_t>(name.line), name.name + " is an empty name"));
    }
  }
  return complaints;
}

Complaints against_marks(const Source& source) {
  static constexpr std::array<std::string_view, 3> marks = {"todo", "fixme", "xxx"};
  Complaints complaints;
  const auto lines = lines_of(source.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::string_view mark : marks) {
      if (holds_mark(lines[i], mark)) complaints.push_back(at_line(source, i + 1, "marked " + std::string(mark)));
    }
  }
  return complaints;
}

Complaints against_unsaid_codes(const Source& source, std::string_view said) {
  Complaints complaints;
  const std::string code = code_of(source.text);
  for (const std::string_view opening : {"Error(", "fail("}) {
    for (std::size_t at = code.find(opening); at != std::string::npos; at = code.find(opening, at + 1)) {
      const std::size_t end = code.find_first_of(",)", at);
      std::string_view first = std::string_view(source.text).substr(at, std::min(end, source.text.size()) - at);
      for (std::size_t quote = first.find('"'); quote != std::string_view::npos; quote = first.find('"')) {
        first.remove_prefix(quote + 1);
        const std::string_view name = first.substr(0, first.find('"'));
        first.remove_prefix(std::min(name.size() + 1, first.size()));
        const bool is_code = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
        if (!is_code || (opening == "fail(" && name.find('_') == std::string_view::npos)) continue;
        if (said.find("`" + std::string(name) + "`") != std::string_view::npos) continue;
        const auto line = static_cast<std::size_t>(
                              std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
                          1;
        complaints.push_back(at_line(source, line, "docs/api.md does not say the code " + std::string(name)));
      }
    }
  }
  return complaints;
}

Complaints against_sentences_with_of(const Source& source) {
  if (!is_cpp(source) || source.path == "tests/layout/rules_test.cpp") return {};  // which quotes them
  Complaints complaints;
  const auto lines = lines_of(source.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t comment = lines[i].find("// ");
    if (comment == std::string_view::npos) continue;
    const std::string said = std::string(lines[i].substr(comment)) + ' ';
    if (said.find(" Of ") != std::string::npos || said.find("(Of ") != std::string::npos)
      complaints.push_back(at_line(source, i + 1, "a sentence that begins with Of: say what it is"));
  }
  return complaints;
}

Complaints against_first_line(const Source& source) {
  const auto lines = lines_of(source.text);
  const std::string_view first = lines.empty() ? "" : lines[0];
  for (std::string_view mark : {"// ", "# ", "/* "}) {
    if (first.starts_with(mark) && first.size() >= mark.size() + 8) return {};
  }
  return {at_line(source, 1, "the first line does not say what the file is")};
}

Complaints against_long_files(const std::vector<Source>& sources) {
  Complaints complaints;
  std::vector<std::size_t> lengths;
  for (const Source& source : sources) {
    if (source.text.starts_with("// Generated by ")) continue;
    lengths.push_back(lines_of(source.text).size());
    if (lengths.back() > 500) complaints.push_back(at_line(source, lengths.back(), "longer than 500 lines"));
  }
  if (lengths.empty()) return complaints;
  std::ranges::sort(lengths);
  const std::size_t under = static_cast<std::size_t>(std::ranges::lower_bound(lengths, 300U) - lengths.begin());
  if (under * 10 < lengths.size() * 9) {
    complaints.push_back("only " + std::to_string(under) + " of " + std::to_string(lengths.size()) +
                         " files have under 300 lines, not nine in ten");
  }
  if (lengths[lengths.size() / 2] > 130) {
    complaints.push_back("the median file has " + std::to_string(lengths[lengths.size() / 2]) +
                         " lines, not about 120");
  }
  return complaints;
}

Complaints against_long_functions(const Source& source) {
  if (!is_cpp(source)) return {};
  Complaints complaints;
  const std::string code = code_of(source.text);
  const auto lines = lines_of(code);
  std::size_t opening = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    // clang-format indents neither namespaces nor what they hold: the last line that began in the first column
    // before the closing brace is the signature's.
    if (line.starts_with("}")) {
      const std::size_t length = i + 2 - opening;
      if (opening != 0 && line.find(';') == std::string_view::npos && length > 70) {
        complaints.push_back(at_line(source, opening, "a function of " + std::to_string(length) + " lines"));
      }
      opening = 0;
    } else if (line.starts_with("namespace")) {
      opening = 0;
    } else if (!line.empty() && line[0] != ' ' && line[0] != '#') {
      opening = i + 1;
    }
  }
  return complaints;
}

}  // namespace sdip::layout
