// A file of exported points beside the same points computed again.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/sha256.h"
#include "db/export.h"

namespace sdip {

/// Lines of a file, one after the other. Throws Error file_not_found, file_unreadable.
class LineFile {
 public:
  explicit LineFile(const std::string& file);
  /// The next line with the line feed that ends it, in pieces of 16 MiB where it is longer; "" behind the last.
  std::string next();

 private:
  std::string path_;
  std::ifstream file_;
};

/// Points that stand in a file, by its lines: CSV, NDJSON or JSON as `sdip export` writes them. Throws as LineFile.
std::int64_t points_in_file(const std::string& file, ExportFormat format);

/// The first place where a file is not what is computed.
struct PointsDifference {
  std::int64_t line = 0;   // of the file, from 1
  bool in_header = false;  // of CSV or JSON, not in a point
  std::string column{};    // the first that differs; "": the line as a whole
};

/// Compares a file line by line with what is computed, of which little is held. JSON's first line, the manifest, is
/// not compared. Throws as LineFile.
class PointsComparison {
 public:
  PointsComparison(const std::string& file, ExportFormat format);
  /// The next piece of what is computed; false: a difference other than in accuracy is found.
  bool take(std::string_view piece);
  /// Behind the last piece: what of it is in no line, and whether the file ends, too.
  void end();

  const std::optional<PointsDifference>& difference() const { return difference_; }
  /// The first line that differs in nothing but what was measured of accuracy.
  const std::optional<PointsDifference>& in_accuracy() const { return in_accuracy_; }
  std::int64_t bytes() const { return bytes_; }  // compared
  std::string sha256() { return hash_.hex(); }   // of them; once

 private:
  void compare(std::string_view line);

  ExportFormat format_;
  LineFile file_;
  std::string header_, rest_;
  std::int64_t line_ = 0, bytes_ = 0;
  Sha256 hash_;
  std::optional<PointsDifference> difference_, in_accuracy_;
};

}  // namespace sdip
