// The `.weight` file of a program: every parameter in the machine's number format (docs/formats.md).
#pragma once

#include <functional>
#include <vector>

#include "core/base/encode.h"
#include "core/program/program.h"

namespace sdip {

/// The elements of a weight whose bytes stand in a file, in the model's order. May throw Error("weights_absent",
/// ...).
using WeightSource = std::function<std::vector<float>(const Value&)>;

/// Writes the regions of the program's instructions in order, then the rest of lookup tables: stored_weight_bytes
/// in all. Returns the scales for `graph_text`. Requires the machine of the compilation. Throws
/// Error("not_modelled", ...) for sparsity=skipping, weight_compression above 1, hard-coded weights, weights
/// without values and negative weights in an unsigned format; "value_invalid"
/// for infinities and NaN in a format without them; "weights_absent" when the source has not as many elements as
/// the shape says.
WeightScales write_weight_file(const CompiledStage& stage, const Machine& machine, const WeightSource& source,
                               const ByteSink& sink);

}  // namespace sdip
