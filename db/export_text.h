// Tables of points as text. Internal to its room.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "db/export.h"

namespace sdip {

/// A cell, before a format writes it. `number`: its shortest decimal form; `raw`: what JSON writes without quotes,
/// such as `true`.
struct ExportCell {
  enum class Kind { nothing, number, raw, flag, text };
  Kind kind = Kind::nothing;
  std::string text{};  // of a flag "0" or "1"
};

/// Pieces of a text around its lines, a line a point.
struct TextFormat {
  ExportFormat format{};
  std::string (*head)(std::span<const ExportColumn> columns, const std::string& manifest_json) = nullptr;
  void (*line)(std::span<const ExportColumn> columns, std::span<const ExportCell> cells, bool first,
               std::string& text) = nullptr;
  std::string (*tail)(const std::string& manifest_json) = nullptr;
};
/// Requires a format that is text.
const TextFormat& text_format(ExportFormat format);

}  // namespace sdip
