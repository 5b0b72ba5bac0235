// Many machines of one application: what a parameter does not touch is made once, and what the channel makes of the
// rest is found for several machines side by side.
#pragma once

#include <memory>
#include <span>

#include "core/base/vectors.h"
#include "core/cost/price/estimate.h"

namespace sdip {

/// Knows what it made of an application for machines before. A machine's outcome is evaluate()'s, bit for bit,
/// whatever came before it or stands beside it, and whatever instructions the processor has.
class BatchEvaluator {
 public:
  /// `application` outlives it.
  explicit BatchEvaluator(const Application& application, Vectors vectors = widest_vectors());
  ~BatchEvaluator();
  BatchEvaluator(BatchEvaluator&&) noexcept;
  BatchEvaluator& operator=(BatchEvaluator&&) noexcept;

  /// Requires that the application was compiled with the compile_key of each machine, or one that differs in
  /// psram_bytes alone and lies in the range that the application says; and as many outcomes as machines.
  void evaluate(std::span<const Machine> machines, std::span<Outcome> outcomes);

  /// Counts of its work: machines, how often it made the costs of one and the area and prices, timelines run and
  /// runs of the lanes for them, and machines that went alone, as evaluate() does, or whose program does not fit.
  struct Counts {
    std::int64_t machines = 0, costs = 0, chips = 0, timelines = 0, runs = 0, alone = 0;
  };
  const Counts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The machine with every parameter at its default that changes nothing of what its classes cost: clocks and
/// shares of the channel, the process, how many cores and steps there are.
Machine cost_key(const Machine& machine);

/// The same for what its area and its events' energies depend on.
Machine chip_key(const Machine& machine);

}  // namespace sdip
