// The effect of each single parameter on each metric, and the cheapest change of one that moves the bottleneck.
//
// Worked example. cores = 10 of 20 steps, two each, steps to 20 and 7, dram_efficiency = 0.4 to 0.8 and 0.2, a flag
// to its other value. A metric that goes from 4 to 2 while a parameter goes from 8 to 16 has an elasticity of
// ln(2/4) / ln(16/8) = -1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cost/explain/explain.h"
#include "core/explore/sweep.h"

namespace sdip {

/// One parameter of a machine changed, in the coding of its row.
struct Change {
  const ParameterRow* row = nullptr;
  std::int64_t from = 0, to = 0;
  friend bool operator==(const Change&, const Change&) = default;
};

/// Each parameter one natural step down and up: cores to where each takes another number of steps, a clock or rate
/// of transfers a tenth, another count to the next powers of two, a decimal halved and doubled (all within the
/// row's range), a flag or choice to each other value. A count of 0 has no such step. Changes come in the order of
/// the rows.
std::vector<Change> single_changes(const Machine& machine);

/// A parameter that has no step at its value, and why: "0 has no step" or "the row has no other value".
struct Stepless {
  const ParameterRow* row = nullptr;
  std::int64_t value = 0;
  std::string_view reason;
};
/// All that single_changes leaves out, in the order of the rows. Figures of one's own (technology) are none of
/// them.
std::vector<Stepless> stepless(const Machine& machine);

std::string_view change_kind_text(ChangeKind kind);

/// A machine with one parameter changed, and what it is worth. `pace` and `limiter`: its bottleneck.
struct ChangedPoint {
  Change change;
  Outcome outcome;
  std::string pace;
  Needed limiter = Needed::compute;

  /// ln(metric after / before) / ln(parameter after / before); nothing for a flag or choice, where one of them is
  /// not above 0, or where the change is infeasible.
  std::optional<double> elasticity(const Outcome& before, Metric metric) const;
};

struct Sensitivities {
  Outcome outcome;  // of the machine unchanged
  std::string pace;
  Needed limiter = Needed::compute;
  std::vector<ChangedPoint> points;
  std::vector<Stepless> without_step;
  std::int64_t compiled = 0;  // programs made for them
};

/// Evaluates every single change; a capacity that changes neither cycles nor bytes is doubled, or halved, again, up
/// to three steps in all. A program is made again only where compile_key differs. The bottleneck of a mix is that
/// of the workload that has most of the time. Requires a machine that check_machine accepts; one that it refuses
/// when changed, or whose compilation throws Error, is infeasible. Linked rows follow each change, and are not
/// changed themselves.
Sensitivities sensitivities(const Machine& machine, const CompileFunction& compile_machine,
                            std::span<const Link> links = {});

/// Whether a metric differs: one that is no number on both sides does not.
bool differ(const Outcome& a, const Outcome& b);

/// Frames a second more than these, in a share of what they were, are a gain.
inline constexpr double least_gain = 0.001;

/// The purpose of a change: to move the bottleneck, to another stage or another resource, with a gain; or to better
/// a metric by a share of it.
struct Wish {
  std::optional<Metric> metric{};  // nothing: the bottleneck
  double share = 0.1;
};

/// The changes of kinds design and unpriced that fulfil the wish, cheapest first: least added area, of equals least
/// energy a frame; unpriced ones behind all others. Indices into points.
std::vector<std::size_t> cheapest_changes(const Sensitivities& sensitivities, const Wish& wish);
/// The moves of these kinds, in that order, that move the bottleneck without a gain while frames a second do not
/// grow fewer.
std::vector<std::size_t> idle_moves(const Sensitivities& sensitivities);

}  // namespace sdip
