// Published chips, priced by the technology functions that price an SDIP, beside what was published of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/number_format.h"
#include "core/machine/technology.h"

namespace sdip {

/// One figure of a chip: secondary was read in a document that quotes the source, derived follows from others by
/// arithmetic, assumption is ours.
struct ChipFigure {
  std::string_view chip, name;  // names and units as in docs/model/area.md#known-chips
  double value;
  std::string_view tag, source;
};
std::span<const ChipFigure> chip_figures();

/// fit: constants were fitted on it; predict: they were not; check: described in part, or an odd kind.
enum class ChipUse { fit, predict, check };
std::string_view chip_use_text(ChipUse use);
/// chip: with a host interface; die: pads alone; core: neither.
enum class ChipScope { chip, die, core };

struct Chip {
  std::string_view id, name;
  ChipUse use;
  double node_nm;
  NumberFormat weights, activations, sums;
  ChipScope scope;
  std::string_view figures;  // the chip whose figures it has; its own id but for one drawn in two nodes
  std::span<const ChipFigure> described = {};  // of a chip that is not in the table, in place of the table's
};
std::span<const Chip> chips();
/// The figure of that name, or nothing.
std::optional<double> chip_figure(const Chip& chip, std::string_view name);

/// A figure that is predicted of a chip, its range, and the published one. Error: predicted over published.
struct Predicted {
  double value{}, least{}, most{};
  std::optional<double> published;
  std::string_view kind;  // of what was published: "die", "at most", "core", "cells"; "busy", "typical", "TDP", ...
  bool bound = false;     // published as a bound only
  std::optional<double> error() const { return published ? std::optional(value / *published) : std::nullopt; }
};
struct ChipPart {
  std::string_view name;
  double value;
};
struct ChipPrediction {
  const Chip* chip = nullptr;
  Predicted area_mm2, power_w;
  double clock_limit_mhz{};
  std::optional<double> clock_mhz;  // as shipped
  std::vector<ChipPart> area_parts, power_parts;
};

/// Predictions of all of chips(), in that order, and then of `others`. Ranges: the value times and over twice the
/// spread of what is predicted of the fitted chips, at most 2.
std::vector<ChipPrediction> predict_chips(std::span<const Chip> others = {});

/// mm2 of what a chip's lanes and memories take, as docs/model/area.md#known-chips has it: of so many MACs, two
/// stages deep, and MiB of SRAM in macros of so many port bits together. `fixed` is of a chip with a host
/// interface.
struct ChipAreas {
  double lanes{}, sram{}, control{}, other{}, fixed{};
  double logic() const { return lanes + control + other + fixed; }
};
ChipAreas chip_areas(Process process, const MacFormats& formats, double macs, double sram_mib,
                     double sram_port_bits = 0);
/// Joules of one of these MACs.
double chip_mac_joules(Process process, const MacFormats& formats);

/// Predicted over published, less one, of chips that constants were not fitted on and whose figure was published as
/// it is (a TDP, or "at most", bounds it only): how many, the least and the most.
struct ChipErrors {
  std::int64_t chips{};
  double least{}, most{};
};
struct KnownChipErrors {
  ChipErrors area, power;
};
/// The errors over all chips with ChipUse::predict; found once.
const KnownChipErrors& known_chip_errors();

/// The depth of all chips' pipelines, fitted with clock.margin.
inline constexpr std::int64_t chip_pipeline_stages = 2;

}  // namespace sdip
