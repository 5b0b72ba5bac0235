// Graphs in the manner of exporters, of networks that people bring: one table.
#pragma once

#include <span>

#include "tests/exports/writer.h"

namespace sdip::exports {

/// A graph: its name, opset and exporter, and what writes it.
struct Export {
  std::string_view name;
  std::int64_t opset = 17;
  Manner manner = Manner::torchscript;
  void (*write)(Writer&) = nullptr;
  bool half = false;  // all floats in 16 bits
};

/// All of them; each file of tests/exports that writes graphs has its part.
const std::vector<Export>& exports();
std::span<const Export> language_exports();
std::span<const Export> decoder_exports();
std::span<const Export> image_exports();
std::span<const Export> window_exports();
std::span<const Export> diffusion_exports();
std::span<const Export> sound_exports();
std::span<const Export> geometry_exports();
std::span<const Export> quantised_exports();
std::span<const Export> optimised_exports();
std::span<const Export> tensorflow_exports();

std::string name_of(const Export& row);

/// The graph, weights and sizes of the seed.
Generated made(const Export& row, std::uint64_t seed);

}  // namespace sdip::exports
