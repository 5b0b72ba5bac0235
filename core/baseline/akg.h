// Operators and subgraphs that AKG was evaluated on (Zhao et al., PLDI 2021), as layers for DaVinci cores.
// Internal to its room.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/baseline/archetypes/cube.h"

namespace sdip {

/// One of them. The paper names ten operators (section 6.1), whose shapes it does not list, and five subgraphs of
/// ResNet-50, BERT and MobileNets with shape, precision and number of operators (table 1). Other shapes are those
/// that AKG's own repository tests on the Ascend 910; `ours` says what is from neither.
struct AkgCase {
  std::string_view part;  // operator; table 1; or the network
  std::string_view name, shape, source, ours;
  bool single = false;        // FP32: four bytes, half the lanes
  std::vector<Layer> layers;  // of one kernel: the first, and what joins it
  std::vector<Layer> apart;   // the same work, a kernel each; empty: there is but one
};
std::span<const AkgCase> akg_cases();

/// A case as AKG compiles it, beside other ways. Seconds.
struct AkgRow {
  const AkgCase* of = nullptr;
  double fused_s = 0;                         // one kernel
  CubeBound bound = CubeBound::dram;          // what that waits for
  std::optional<double> apart_s = {};         // a kernel for each operator
  std::optional<double> im2col_apart_s = {};  // im2col by a kernel before, where there is something to expand
};
/// Every case, in order, on a machine of 16-bit elements.
std::vector<AkgRow> akg_rows(const CubeMachine& machine);

/// AKG's mean speedup over hand-optimised code on the five subgraphs (Zhao et al., section 6.2). That code works
/// operator by operator: adapted TVM gains 4.4 on it "by exploiting the optimizations across operators".
inline constexpr double akg_published_speedup = 5.6;

}  // namespace sdip
