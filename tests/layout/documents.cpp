// The checks of documents themselves; documents_test.cpp shows for each what it lets pass and what it does not.
#include "tests/layout/documents.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace sdip::layout {
namespace {

constexpr std::size_t widest_prose = 120;

bool is_of_path(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("/._-").find(c) != std::string_view::npos;
}

bool is_of_anchor(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; }

std::string line_at(const Source& source, std::size_t at, const std::string& what) {
  const auto line =
      1 + std::count(source.text.begin(), source.text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return source.path + ":" + std::to_string(line) + ": " + what;
}

/// The characters from `from` on that `belongs` takes.
template <class Belongs>
std::string run_at(std::string_view text, std::size_t from, Belongs belongs) {
  const std::string_view rest = text.substr(std::min(from, text.size()));
  return {rest.begin(), std::find_if_not(rest.begin(), rest.end(), belongs)};
}

/// What is wrong with a page and a section of it; empty if both are there.
std::string missing(const Pages& pages, const std::string& page, const std::string& anchor) {
  const auto found = pages.find(page);
  if (found == pages.end()) return "there is no page " + page;
  if (!anchor.empty() && !found->second.contains(anchor)) return page + " has no section #" + anchor;
  return "";
}

void check_mentions(const Source& source, const Pages& pages, Complaints& complaints) {
  const std::string_view text = source.text;
  for (std::size_t at = text.find("docs/"); at != std::string_view::npos; at = text.find("docs/", at + 1)) {
    if (at > 0 && is_of_path(text[at - 1])) continue;
    std::string page = run_at(text, at, is_of_path);
    const std::size_t end = at + page.size();
    while (page.ends_with('.')) page.pop_back();
    const std::string name = std::filesystem::path(page).filename();
    const bool foreign =
        name != "README.md" && std::ranges::any_of(page, [](unsigned char c) { return std::isupper(c); });
    if (!page.ends_with(".md") || foreign) continue;
    const std::string anchor = text.substr(end, 1) == "#" ? run_at(text, end + 1, is_of_anchor) : "";
    if (const std::string what = missing(pages, page, anchor); !what.empty())
      complaints.push_back(line_at(source, at, what));
  }
}

void check_links(const Source& source, const Pages& pages, Complaints& complaints) {
  const std::string_view text = source.text;
  for (std::size_t at = text.find("]("); at != std::string_view::npos; at = text.find("](", at + 1)) {
    const std::string target = run_at(text, at + 2, [](char c) { return c != ')' && c != ' ' && c != '\n'; });
    const std::size_t hash = std::min(target.find('#'), target.size());
    const std::string page = target.substr(0, hash);
    if (target.find(':') != std::string::npos || (!page.empty() && !page.ends_with(".md"))) continue;
    const std::filesystem::path folder = std::filesystem::path(source.path).parent_path();
    const std::string path = page.empty() ? source.path : (folder / page).lexically_normal().string();
    const std::string what = missing(pages, path, hash < target.size() ? target.substr(hash + 1) : "");
    if (!what.empty()) complaints.push_back(line_at(source, at, what));
  }
}

/// Headings of a page: those of its sections, or all.
std::vector<std::string> headings_of(std::string_view text, bool sections_only) {
  std::vector<std::string> headings;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t depth = std::min(line.find_first_not_of('#'), line.size());
    if (depth == 0 || depth == line.size() || line[depth] != ' ' || (sections_only && depth != 2)) continue;
    headings.emplace_back(line.substr(depth + 1));
  }
  return headings;
}

}  // namespace

std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') anchor += '-';
    if (is_of_anchor(c) || byte >= 0x80) anchor += static_cast<char>(std::tolower(byte));
  }
  return anchor;
}

Pages pages_of(const std::vector<Source>& documents) {
  Pages pages;
  for (const Source& document : documents) {
    std::set<std::string>& anchors = pages[document.path];
    for (const std::string& heading : headings_of(document.text, false)) anchors.insert(anchor_of(heading));
  }
  return pages;
}

Complaints against_missing_sections(const Source& source, const Pages& pages) {
  Complaints complaints;
  check_mentions(source, pages, complaints);
  if (pages.contains(source.path)) check_links(source, pages, complaints);
  return complaints;
}

Complaints against_wide_prose(const Source& page, bool of_examples) {
  Complaints complaints;
  bool made = false;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(page.text)) {
    ++number;
    if (line.starts_with("<!--")) made = line.find(": made from ") != std::string_view::npos;
    if (made || line.starts_with("<!--") || line.starts_with("#") || line.starts_with("|")) continue;
    if (!of_examples && line.starts_with("    ")) continue;
    const auto columns =
        std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    if (columns > static_cast<std::ptrdiff_t>(widest_prose))
      complaints.push_back(page.path + ":" + std::to_string(number) + ": prose of " + std::to_string(columns) +
                           " columns");
  }
  return complaints;
}

Complaints against_long_sections(const Source& page, std::size_t most) {
  Complaints complaints;
  std::string heading;
  std::size_t lines = 0;
  const std::string text = page.text + "\n## ";
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("## ")) {
      if (!heading.empty() && lines > most)
        complaints.push_back(page.path + ": " + std::to_string(lines) + " lines in " + heading);
      heading = line.substr(3);
      lines = 0;
    } else if (!line.empty()) {
      ++lines;
    }
  }
  return complaints;
}

Complaints against_bare_chapters(const Source& page) {
  const std::size_t section = std::min(page.text.find("\n## "), page.text.size());
  const std::string_view head = std::string_view(page.text).substr(0, section);
  const std::size_t question = head.find("\n\n*");
  Complaints complaints;
  if (!head.starts_with("# ") || question == std::string_view::npos || question != head.find('\n'))
    complaints.push_back(page.path + ":1: no question follows the title");
  if (head.find("\n    ") == std::string_view::npos)
    complaints.push_back(page.path + ":1: no figure stands before the first section");
  return complaints;
}

Complaints against_unlisted_sections(const Source& page, std::string_view contents) {
  Complaints complaints;
  const std::string name = std::filesystem::path(page.path).filename();
  if (contents.find("](" + name + ")") == std::string_view::npos)
    complaints.push_back(page.path + ":1: the contents do not name this chapter");
  for (const std::string& heading : headings_of(page.text, true))
    if (contents.find("](" + name + "#" + anchor_of(heading) + ")") == std::string_view::npos)
      complaints.push_back(page.path + ":1: the contents do not name the section " + heading);
  return complaints;
}

}  // namespace sdip::layout
