// A file of exported points beside the same points computed again.
#include "server/io/points_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "server/io/json_in.h"

namespace sdip {
namespace {

/// Lines of a file around those of its points.
std::int64_t head_lines(ExportFormat format) {
  return format == ExportFormat::json ? 3 : format == ExportFormat::csv ? 1 : 0;
}
std::int64_t tail_lines(ExportFormat format) { return format == ExportFormat::json ? 1 : 0; }

/// A column's name and text, in a line's order.
using NamedCells = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

NamedCells csv_named(std::string_view header, std::string_view line) {
  NamedCells named;
  const std::vector<std::string> titles = csv_cells(header), cells = csv_cells(line);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::string title = c < titles.size() ? titles[c] : std::string();
    named.emplace_back(title.substr(0, title.find(" [")), cells[c]);
  }
  return named;
}

/// Nothing where the line is no point.
NamedCells json_named(std::string_view line) {
  if (line.ends_with(',')) line.remove_suffix(1);
  NamedCells named;
  try {
    const OrderedJson point = OrderedJson::parse(line);
    if (!point.is_object()) return {};
    for (const auto& [name, value] : point.items()) named.emplace_back(name, value.dump());
  } catch (const OrderedJson::exception&) {
    return {};
  }
  return named;
}

bool is_accuracy(const std::string& column) {
  return std::ranges::find(accuracy_fields, column) != std::end(accuracy_fields);
}

/// The first column that differs, one that is no accuracy before those that are; "" where the lines differ
/// otherwise.
std::string differing_column(const NamedCells& a, const NamedCells& b) {
  std::string accuracy;
  if (a.size() != b.size()) return "";
  for (std::size_t c = 0; c < a.size(); ++c) {
    if (a[c].first != b[c].first) return "";
    if (a[c].second == b[c].second) continue;
    if (!is_accuracy(a[c].first)) return a[c].first;
    accuracy = a[c].first;
  }
  return accuracy;
}

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

}  // namespace

LineFile::LineFile(const std::string& file) : path_(file), file_(file, std::ios::binary) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) throw Error("file_not_found", file, "no such file");
  if (!file_ || std::filesystem::is_directory(file, ignored))
    throw Error("file_unreadable", file, "cannot be read");
}

std::string LineFile::next() {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  std::string line;
  std::streambuf& bytes = *file_.rdbuf();
  while (line.size() < most_bytes) {
    const int byte = bytes.sbumpc();
    if (byte == std::streambuf::traits_type::eof()) break;
    line += static_cast<char>(byte);
    if (byte == '\n') break;
  }
  return line;
}

std::int64_t points_in_file(const std::string& file, ExportFormat format) {
  LineFile lines(file);
  std::int64_t count = 0;
  bool ended = true;
  for (std::string line = lines.next(); !line.empty(); line = lines.next()) {
    ended = line.back() == '\n';
    if (ended) ++count;
  }
  return std::max<std::int64_t>(0, count + (ended ? 0 : 1) - head_lines(format) - tail_lines(format));
}

PointsComparison::PointsComparison(const std::string& file, ExportFormat format) : format_(format), file_(file) {}

bool PointsComparison::take(std::string_view piece) {
  rest_ += piece;
  std::size_t done = 0;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos && !difference_; end = rest_.find('\n', done)) {
    compare(std::string_view(rest_).substr(done, end + 1 - done));
    done = end + 1;
  }
  rest_.erase(0, done);
  return !difference_;
}

void PointsComparison::end() {
  if (!difference_ && !rest_.empty()) compare(std::exchange(rest_, ""));
  if (!difference_ && !file_.next().empty()) difference_ = PointsDifference{line_ + 1};
}

void PointsComparison::compare(std::string_view line) {
  const std::string theirs = file_.next();
  const bool in_header = ++line_ <= head_lines(format_);
  if (line_ == 1) header_ = line;
  if (in_header && line_ == 1 && format_ == ExportFormat::json) return;
  hash_.add(line);
  bytes_ += static_cast<std::int64_t>(line.size());
  if (theirs == line) return;
  PointsDifference found{line_, in_header};
  if (!in_header && theirs.ends_with('\n') == line.ends_with('\n')) {
    const auto named = [&](std::string_view one) {
      return format_ == ExportFormat::csv ? csv_named(without_end(header_), without_end(one))
                                          : json_named(without_end(one));
    };
    found.column = differing_column(named(line), named(theirs));
  }
  if (!is_accuracy(found.column))
    difference_ = found;
  else if (!in_accuracy_)
    in_accuracy_ = found;
}

}  // namespace sdip
