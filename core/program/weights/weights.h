// The `.weight` file of a program: every parameter in its layer's number format (docs/formats.md).
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/encode.h"
#include "core/base/tensor.h"
#include "core/program/program.h"
#include "core/program/weights/coded_weight.h"

namespace sdip {

/// The elements of a weight whose bytes stand in a file, in the model's order. May throw Error("weights_absent",
/// ...).
using WeightSource = std::function<std::vector<float>(const Value&)>;

/// The ratio that the compressor reached on the units that are compressed.
struct ReachedRatio {
  std::int64_t bytes = 0, packed_bytes = 0;  // of all
  double least = 0;                          // bytes over packed bytes of the unit that shrinks least; 0: no unit
  std::string least_name;                    // its weight
};

struct WrittenWeights {
  WeightScales scales;  // for `graph_text`
  ReachedRatio ratio;
};

/// Writes the regions of the program's instructions in order, then the rest of lookup tables: stored_weight_bytes
/// in all. A stage whose weights are hard-coded has what its ROM holds. Requires the machine of the compilation.
/// Throws Error("not_compressible", weight, ...) when a unit does not shrink by weight_compression, after all were
/// tried; "not_modelled" for weights without values, integers that their format does not hold, and where no rule
/// says which elements belong to a channel; "value_invalid" for infinities and NaN in a format without them;
/// "weights_absent" when the source has not as many elements as the shape says.
WrittenWeights write_weight_file(const CompiledStage& stage, const Machine& machine, const WeightSource& source,
                                 const ByteSink& sink);

/// A `.weight` file with its program. The stage and the bytes must outlive it.
struct WeightFile {
  const CompiledStage& stage;
  Machine machine;
  std::span<const std::byte> bytes;
  struct Rest {
    std::int64_t first_bit = 0, elements = 0;
  };
  std::map<ValueId, Rest> rests{};      // of lookup tables, behind the regions
  std::vector<std::byte> rest_bytes{};  // their codes
};

/// Opens the bytes as the `.weight` of a program with its scales. Trusts nothing. Throws
/// Error("weight_file_invalid", instruction or "", ...) when they are not as many as the program says, a stream
/// does not unpack or a scale is not one; "weights_absent" for a program that was written without weights.
WeightFile read_weight_file(const CompiledStage& stage, const Machine& machine, std::span<const std::byte> bytes);

/// The weights of an instruction, in their order, dequantised: of the type that the graph says. Throws
/// Error("weight_file_invalid", instruction, ...) where its region does not unpack, keeps more elements than it has
/// slots, or has a channel's scale that is none.
std::vector<CircuitWeight> weights_of(const WeightFile& file, std::size_t instruction);

}  // namespace sdip
