// Several workloads of one machine: their shares of the images, and what the machine is worth to all of them.
//
// A mix is a text: sd15:3+sdxl is three images of sd15 for each of sdxl. The machine makes them in long runs of one
// workload; what it takes to change from one to another is left out. Its time is shared out as the images take it.
//
// Worked example. 10 frames/s and 2 J an image of the first, 1 frame/s and 30 J of the second, of weights 3 and 1:
// an image takes 0.75 / 10 + 0.25 / 1 = 0.325 s, so that there are 3.08 frames/s, and 0.75 * 2 + 0.25 * 30 = 9 J,
// so that it takes 27.7 W. The first has 0.075 / 0.325 = 23 % of the time, and so much of the mean utilization is
// its.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/price/estimate.h"
#include "core/program/program.h"

namespace sdip {

/// A workload of a mix, and how many images are its own, in proportion to the others' weights.
struct MixPart {
  std::string model;
  double weight = 1;
  friend bool operator==(const MixPart&, const MixPart&) = default;
};
using Mix = std::vector<MixPart>;
inline constexpr std::size_t most_workloads = 8;
inline constexpr double most_weight = 1e6;

/// Reads NAME[:WEIGHT]{+NAME[:WEIGHT]}, a weight being above 0 and 1 where none is said. Throws
/// Error("value_invalid" | "limit_exceeded", where, ...), for a name that stands twice, too.
Mix mix_of_text(std::string_view text, const std::string& where);
/// The same text again, without weights that are 1.
std::string mix_text(const Mix& mix);

/// How a metric of a mix follows from its workloads': a mean by images or by the time that they take, or of what is
/// one over another over all of both; the greatest of a property of the chip; or a function of metrics of the mix.
/// `bytes` is of DRAM's bytes over another, `per_byte` of another over them.
enum class MixedBy { images, time, rate, cycles, bytes, per_byte, greatest, derived };
MixedBy mixed_by(Metric metric);

/// The programs of a machine: of each workload of a mix, or of one that need not be named.
struct Programs {
  Mix mix;
  std::vector<std::shared_ptr<const Application>> of;  // each workload
  Programs() = default;
  template <class A>
  Programs(std::shared_ptr<A> one) : mix(1), of{std::move(one)} {}  // NOLINT: one workload is the usual mix
  /// Capacities of PSRAM for which all are the same; none where one does not say it.
  CapacityRange psram_bytes() const;
};

/// Compiles each of them in turn, up to one that does not fit; each for the chip that serves all (common_chip of
/// core/cost/price/area.h). Throws Error("value_conflict", "weight_storage", ...) for a machine whose weights are
/// wired in, which has room for one workload's.
Programs compile_mix(
    const Mix& mix, const Machine& machine,
    const std::function<std::shared_ptr<const Application>(const std::string& model)>& compile_one);

/// The outcome of a machine for all, from its outcome for each, in the order of the mix. It is feasible where all
/// are; else the reason is the first that is none, with its workload. Without values where one has none.
Outcome mixed(const Mix& mix, std::span<const Outcome> outcomes);

}  // namespace sdip
