// A model file as the graphs that evaluations start from.
#pragma once

#include <span>

#include "core/onnx/import.h"

namespace sdip {

/// A network as its file has it, and with its patterns recognised.
struct ReadModel {
  Graph as_written, rewritten;
  RewriteCounts rewrites;
};

/// Throws what importing throws.
ReadModel read_model(std::span<const std::byte> bytes, const ImportOptions& options);

}  // namespace sdip
