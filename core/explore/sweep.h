// Evaluates the points of a space on several threads, a program compiled once for all points that share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "core/explore/program_cache.h"
#include "core/explore/space/points.h"
#include "core/explore/space/space.h"
#include "core/program/program.h"

namespace sdip {

/// Says what machines of an application are worth: as many outcomes as machines. It may keep what it learns; one
/// thread has it.
using Evaluator = std::function<void(std::span<const Machine>, std::span<Outcome>)>;
/// Evaluates them all together; where that throws for one of them, each by itself, with an Error but `cancelled` as
/// the reason of a machine without values. As many outcomes as machines.
void evaluate_each(const Evaluator& evaluator, std::span<const Machine> machines, std::span<Outcome> outcomes);
/// Gives a thread its own for an application, which outlives it. Called from any thread.
using MakeEvaluator = std::function<Evaluator(const Application&)>;
/// An evaluator of all programs of a machine: for a mix what it is worth to all (core/explore/mix.h). They outlive
/// it.
Evaluator evaluator_of(const Programs& programs, const MakeEvaluator& make_evaluator);
/// The product's: a BatchEvaluator.
Evaluator side_by_side(const Application& application);
/// One machine after the other.
using EvaluateFunction = std::function<Outcome(const Application&, const Machine&)>;
MakeEvaluator one_by_one(EvaluateFunction evaluate_point);

/// Takes a batch; called by one thread at a time, in the order in which batches are finished.
using BatchSink = std::function<void(PointBatch&&)>;

/// Says the outcome of each point of a range that is known and need not be evaluated. Called from any thread.
using KnownPoints = std::function<std::vector<std::optional<Outcome>>(const IndexRange&)>;

struct SweepOptions {
  int threads = 1;                            // at least 1
  std::int64_t batch_points = 256;            // a batch lies in [k * batch_points, (k+1) * batch_points)
  std::size_t programs = 64;                  // least recently used applications kept, at least 1
  const std::atomic<bool>* cancel = nullptr;  // polled before each point; what is finished is delivered
  std::function<double()> seconds = nullptr;  // that pass, from any moment on: called from any thread
  double most_seconds = 0.5;                  // with `seconds`: then a batch is delivered as far as it is
  KnownPoints known = nullptr;                // none is when not given
};

struct SweepEnd {
  std::int64_t done = 0, feasible = 0;  // delivered by this call
  std::int64_t compiled = 0;            // calls of the compile function
  bool cancelled = false;
};

/// Evaluates the points of `ranges` (ascending, disjoint, inside the space). Points do not depend on threads, order
/// or batch size; of a machine that is drawn several times it may be evaluated but once. A machine that
/// check_machine refuses, or whose compilation or evaluation throws Error, is an infeasible point with that text as
/// its reason. Any other exception, and any from `sink`, stops the sweep and is thrown again.
SweepEnd sweep(const Space& space, std::span<const IndexRange> ranges, const CompileFunction& compile_machine,
               const MakeEvaluator& make_evaluator, const SweepOptions& options, const BatchSink& sink);

}  // namespace sdip
