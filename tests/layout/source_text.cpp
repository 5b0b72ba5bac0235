// Reads source files and takes their text apart, by hand: no part of a compiler is needed for these rules.
#include "tests/layout/source_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace sdip::layout {
namespace {

namespace fs = std::filesystem;

bool is_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Where the comment or literal that begins at `at` ends, or `at` if none begins there.
std::size_t end_of_blank(std::string_view text, std::size_t at) {
  const auto past = [&](std::string_view mark, std::size_t from) {
    const std::size_t found = text.find(mark, from);
    return found == std::string_view::npos ? text.size() : found + mark.size();
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) return past("*/", at + 2);
  const bool word_before = at > 0 && is_word(text[at - 1]);
  if (rest.starts_with("R\"") && !word_before) {
    const std::size_t open = text.find('(', at);
    return past(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
  }
  // 1'000 is a number with a separator, not the start of a character.
  if (rest.starts_with('"') || (rest.starts_with('\'') && !word_before)) {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != text[at] && text[end] != '\n') end += text[end] == '\\' ? 2U : 1U;
    return std::min(end + 1, text.size());
  }
  return at;
}

bool is_source(const fs::path& path) {
  static constexpr std::array<std::string_view, 5> endings = {".h", ".cpp", ".ts", ".tsx", ".css"};
  return std::ranges::find(endings, path.extension().string()) != endings.end();
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string code_of(std::string_view text) {
  std::string code(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_blank(text, at);
    for (std::size_t i = at; i < end; ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
    at = std::max(end, at + 1);
  }
  return code;
}

std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> includes;
  for (std::string_view line : lines_of(text)) {
    if (!line.starts_with("#include ")) continue;
    line.remove_prefix(9);
    if (line.empty() || (line[0] != '"' && line[0] != '<')) continue;
    const std::size_t end = line.find(line[0] == '"' ? '"' : '>', 1);
    if (end != std::string_view::npos) includes.push_back({std::string(line.substr(1, end - 1)), line[0] == '"'});
  }
  return includes;
}

std::vector<Identifier> identifiers_of(std::string_view text) {
  const std::string code = code_of(text);
  std::vector<Identifier> found;
  int line = 1;
  for (std::size_t at = 0; at < code.size();) {
    if (code[at] == '\n') ++line;
    if (!is_word(code[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < code.size() && is_word(code[end])) ++end;
    if (!is_digit(code[at])) {
      const std::size_t from = at >= 2 ? at - 2 : 0;
      std::size_t next = end;
      while (next < code.size() && is_space(code[next])) ++next;
      found.push_back(
          {code.substr(at, end - at), code.substr(from, at - from), next < code.size() ? code[next] : '\n', line});
    }
    at = end;
  }
  return found;
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool fresh = true;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '_') {
      fresh = true;
      continue;
    }
    if (fresh || (is_upper(name[i]) && i > 0 && !is_upper(name[i - 1]))) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
    fresh = false;
  }
  return words;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return text.str();
}

std::vector<Source> sources_below(const std::string& root, const std::vector<std::string>& folders) {
  std::vector<Source> sources;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(fs::path(root) / folder)) continue;
    for (auto entry = fs::recursive_directory_iterator(fs::path(root) / folder);
         entry != fs::recursive_directory_iterator(); ++entry) {
      const std::string name = entry->path().filename().string();
      if (entry->is_directory() && (name == "node_modules" || name == "dist" || name == "build")) {
        entry.disable_recursion_pending();
      } else if (entry->is_regular_file() && is_source(entry->path())) {
        sources.push_back({fs::relative(entry->path(), root).generic_string(), read_text(entry->path().string())});
      }
    }
  }
  std::ranges::sort(sources, {}, &Source::path);
  return sources;
}

}  // namespace sdip::layout
