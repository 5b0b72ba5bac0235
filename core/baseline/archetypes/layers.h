// A network as any device has to run it: layers, counted, with what each moves at least.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/program/workload.h"

namespace sdip {

/// How a layer stands to the one that makes its largest operand. alone: its operands come from memory and its
/// result goes there. fused: elementwise work on a result that nothing else reads, which a compiler may do before
/// that is written. scores, softmax, mixed: the first product, the softmax and the second product of an attention
/// whose scores nothing else reads.
enum class Joint { alone, fused, scores, softmax, mixed };

/// Operators alike, `times` of them in a pass. Elements are those of one, each counted once; `work` has no
/// read_elements. In a product `a` is the operand of rows; `b` weights, or a second activation.
struct Layer {
  std::string name;  // of the first
  Work work;
  Joint joint = Joint::alone;
  std::int64_t times = 1;
  std::int64_t a_elements = 0, b_elements = 0, other_elements = 0;  // activations read: other is neither a nor b
  std::int64_t weight_elements = 0;  // read from the file's: b of weights, biases, scales
  std::int64_t output_elements = 0;
  bool weighted = false;  // b is weights, which all frames share
  friend auto operator<=>(const Layer&, const Layer&) = default;
};
/// Families conv2d, linear, matmul.
bool is_product(const Layer& layer);
/// Rows, columns and summed terms of its product, `count` of which are independent (heads, groups). In a
/// convolution rows are output pixels of the whole batch and terms channels times kernel positions. Example: 3x3,
/// 320 to 640 channels, 64x64 pixels, batch 2: 8192 x 640 x 2880, once.
struct MatrixProduct {
  std::int64_t count = 1, rows = 1, columns = 1, terms = 1;
};
MatrixProduct product_of(const Layer& layer);
/// Multiply-accumulates of one.
std::int64_t macs_of(const Layer& layer);
/// Lane operations of one that is no product: elements times passes.
std::int64_t operations_of(const Layer& layer);

/// One pass of a stage for one frame; guidance is a batch of two.
struct LayeredStage {
  std::string name;
  Role role = Role::network;
  std::vector<Layer> layers;  // alike ones as one, in order of the first
  std::int64_t passes_per_frame = 1;
  std::int64_t weight_elements = 0;                      // distinct, of all layers
  std::int64_t input_elements = 0, output_elements = 0;  // of the graph, a pass
};
/// Views and constants are no layers. Requires a rewritten graph with inferred shapes.
std::vector<Layer> layers_of(const Graph& rewritten);
LayeredStage layered_stage(const Graph& rewritten, std::string name, Role role, std::int64_t passes_per_frame);
/// The layer for so many frames at once: activations grow with them, weights do not.
Layer with_frames(Layer layer, std::int64_t frames);

}  // namespace sdip
