// Tensors of a validation: instructions executed alone on seeded inputs and weights, beside what their nodes of the
// graph compute of the same numbers as the machine holds them.
//
// The rule of what passes. Operands are rounded to the formats that they are kept in, weights are those of a
// `.weight` file, and the graph's result is rounded once more, so that only the order of sums and what accumulators
// round is left (docs/model/counting.md#validation):
//   integers                          equal
//   floats, exact accumulators        within one step of the format that holds the result: a sum in another order
//                                     may fall on the other side of a rounding; multiples of a scale are each
//                                     rounded to fp32, so two ulp of that besides
//   floats, rounding accumulators     and within 64 + S / 2 ulp of the accumulator, S tiles of a sum
// A layer whose integer accumulators wrap on these inputs is no difference of ours: it is said apart, as overflow,
// where so many products can leave the accumulator and the layer passes in one that does not wrap. One of which all
// results are NaN is left out.
// A result of several nodes is compared where arithmetic settles it: an element that moves when what the nodes make
// between is rounded otherwise, by as much as is allowed there, or its inputs in their last places, may be four
// times as far away (a comparison of equals, a cast of a whole number and a half, a quotient near a pole, sums that
// cancel). Such elements are counted. Steps and ulp at the result's largest magnitude. What a format costs against
// fp32 is another question (`sdip accuracy`): a layer in int4 passes when the machine computes what int4 says.
//
// Worked example: fp16 results up to 3.5 have steps of 2^-9 there; with fp32 accumulators and one tile 64.5 x 2^-22
// more are allowed: 0.0019684.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/exec/chip/execute.h"
#include "core/program/program.h"

namespace sdip {

/// The first element outside of what is allowed.
struct TensorDifference {
  std::int64_t element = 0;
  double executed = 0, expected = 0;
};

struct ComparedTensor {
  std::int64_t elements = 0, differing = 0;  // outside of what is allowed
  std::int64_t unsettled = 0;                // inside, since roundings between nodes move them as far
  double allowed = 0, largest_error = 0;
  std::optional<TensorDifference> first{};
};

/// A layer that was executed, one for each class of instructions, or why it was not.
struct LayerTensors {
  std::int32_t instruction = 0;
  std::string layer, mnemonic, left_out;
  std::string failure;  // of the execution: it read what was never written, was overwritten or lies outside
  double operations = 0;
  bool overflows = false;  // it differs, and passes with accumulators that do not wrap
  ComparedTensor result;
};

struct StageTensors {
  std::string stage;
  std::int64_t classes = 0;                    // of the instructions chosen
  std::vector<LayerTensors> layers;            // an instruction of each class, by operations and bytes
  std::int64_t compared = 0, differences = 0;  // of `layers`; those that overflow apart
  std::int64_t overflows = 0;
};

struct TensorOptions {
  std::vector<std::string> layers{};  // as ValidateOptions::layers
  std::uint64_t seed = 0;
  /// Asked before a layer is executed, with its multiply-accumulates and elements and the bytes kept meanwhile;
  /// false leaves it out. Nothing: all are.
  std::function<bool(double operations, double bytes)> affordable{};
  /// Asked while a layer is executed and computed; true leaves it out: its time is over.
  Stop stop{};
};

/// Floats from -1 to 1, integers 0 or 1 (tokens that every vocabulary has), from the seed and the input's place.
Tensor seeded_tensor(const Operand& operand, std::uint64_t seed, std::size_t place);

/// How far a result may be from the graph's, as said above. `sums`: tiles of a sum.
double allowed_difference(const Tensor& expected, NumberFormat kept, NumberFormat accumulator, std::int64_t sums,
                          float scale);

/// Element by element; NaN equals NaN. `moved`, of each element or of none: four times that is allowed besides.
ComparedTensor compare_tensors(const Tensor& executed, const Tensor& expected, double allowed,
                               std::span<const double> moved = {});

/// Requires a feasible stage whose graph has bytes for every weight (asking_for_weights). `stored`: their values.
StageTensors validate_tensors(const CompiledStage& stage, const Machine& machine, const StoredTensors& stored,
                              const TensorOptions& options = {});

}  // namespace sdip
