// Inputs and outputs of `sdip run`: tensors as files and as text. Internal to its room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// NAME=FILE or NAME=VALUE for inputs, NAME=FILE for outputs; inputs that are not given are random, of `seed`.
struct RunTensors {
  std::vector<std::string> inputs, outputs;
  std::uint64_t seed = 0;
};

/// Throws Error value_invalid where an input or output is of no graph, an output is of several of them, or its file
/// is neither .npy nor .pb.
void require_known_tensors(const std::vector<const Graph*>& graphs, const RunTensors& tensors);

/// A tensor for each input of the graph, in order. A file is .npy, .pb (one TensorProto) or, of any other name, the
/// elements raw and little-endian. Throws Error shape_mismatch for another type or shape than the input's,
/// tensor_file_invalid, and what reading a file and tensor_of_text throw, naming input and file.
std::vector<Tensor> inputs_of(const Graph& graph, const RunTensors& tensors);

/// Writes those outputs of the graph that are asked for. Throws what NewFile and writing a tensor throw.
void write_outputs(const Graph& graph, const std::vector<Tensor>& results, const RunTensors& tensors);

}  // namespace sdip
