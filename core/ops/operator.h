// The row of an operator: ONNX type, shape rule, and the work it stands for. One row each in operators().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/stop.h"
#include "core/base/tensor.h"

namespace sdip {

/// The circuit of SDIP_ALU that runs an operator. `view` costs nothing (the same bytes under another shape);
/// `constant` never reaches the program.
enum class Family { conv2d, linear, matmul, vector, softmax, norm, transpose, view, constant };
std::string_view family_text(Family family);

using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                               std::vector<std::string>, Tensor>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

/// Constants above this size are not computed with at import. Shape chains of 96 real exports need at most 8
/// elements; 1024 also covers scales and biases that rewrites look at.
inline constexpr std::int64_t most_folded_elements = 1024;

/// All that is known of an operand when shapes are inferred.
struct Operand {
  ElementType type = ElementType::float32;
  Shape shape;
  std::optional<Tensor> value;  // known when small and constant
  std::optional<double> fill;   // every element is this; known for constants of any size
  bool weight = false;          // an initializer, or made from weights and constants alone
};

struct CustomOperator;  // an operator that a file defines: core/ops/custom.h
struct Operator;

/// One use of an operator: what a shape rule and a work rule may look at.
struct OperatorUse {
  std::string_view node;    // for errors
  std::string_view type;    // ONNX type
  std::int64_t opset = 17;  // of the operator's domain
  const Attributes* attributes = nullptr;
  std::span<const Operand* const> inputs;  // nullptr where an optional input is absent
  std::size_t output_count = 1;
  const Operator* row = nullptr;  // set by infer_use and use_of
  const Stop* stop = nullptr;     // asked by arithmetic that may take long
};

/// The loop nest of conv2d, linear and matmul, in one canonical form: a convolution over
///   groups x batch x out_channels x out_h x out_w (parallel) and in_channels x kernel_h x kernel_w (reduction),
/// channels counted within a group. Input row of output row p at kernel row r: p*stride_h - pad_top + r*dilation_h.
/// A linear or matmul of M x K by K x N is out_h = M, out_channels = N, in_channels = K; independent products
/// (attention heads, batches of both operands) are `groups`.
struct LoopNest {
  std::int64_t groups = 1, batch = 1, out_channels = 1, in_channels = 1;
  std::int64_t out_h = 1, out_w = 1, in_h = 1, in_w = 1, kernel_h = 1, kernel_w = 1;
  std::int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  std::int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  friend auto operator<=>(const LoopNest&, const LoopNest&) = default;
};
/// Multiply-accumulates of the nest, padding included as the circuit spends them.
std::int64_t mac_count(const LoopNest& nest);

/// The work of one operator. Families conv2d, linear and matmul: `nest`; the others: `rows` x `row_length`
/// elements, processed `passes` times. `read_elements[i]` is how often elements of input i are fetched in all,
/// `write_elements` how many are written (conv2d, linear, matmul leave both empty: they follow from nest and
/// mapping). `element_cycles` is how long a lane is busy with one element of a pass, or one multiply-accumulate.
struct Work {
  Family family = Family::vector;
  LoopNest nest = {};
  std::int64_t rows = 1, row_length = 1, passes = 1;
  std::vector<std::int64_t> read_elements = {};
  std::int64_t write_elements = 0;
  std::int64_t element_cycles = 1;
  friend auto operator<=>(const Work&, const Work&) = default;
};

/// A node in the body of a composite operator, which is nodes of simpler operators in order, as a function's body
/// is. Values are numbered: the use's inputs first (0, 1, ...), then `constants`, then the outputs of each node in
/// turn; -1 is an absent input. Nodes are of ai.onnx (opset replacement_opset) or "sdip"; they may be composites,
/// too.
struct BodyNode {
  std::string_view domain, type;
  std::vector<int> inputs;
  Attributes attributes;
  int outputs = 1;
};
struct Body {
  std::vector<Tensor> constants;
  std::vector<BodyNode> nodes;
  std::vector<int> results;  // the value of each output of the composite; -1 where it makes none
};

/// The opset whose meaning the nodes of bodies and rewrites have.
inline constexpr std::int64_t replacement_opset = 17;

struct Operator {
  std::string_view domain;  // "" is ai.onnx; "sdip" holds what rewrites make (see core/graph)
  std::string_view type;
  std::string_view mnemonic;  // in a .graph line: conv2d, linear, matmul, add, silu, groupnorm, ...
  std::size_t least_inputs, most_inputs;
  std::string_view attributes;  // names it knows, separated by spaces; any other is refused
  /// Types and shapes of the outputs; values only of what follows from shapes and attributes alone (Shape, Size,
  /// Constant): the others come from `compute`. Throws Error("shape_mismatch" | "unsupported_attribute" |
  /// "shape_unknown", node, ...).
  std::vector<Operand> (*infer)(const OperatorUse&) = nullptr;
  /// Requires that infer accepted the use. `outputs` are infer's.
  Work (*work)(const OperatorUse&, std::span<const Operand> outputs) = nullptr;
  /// The arithmetic: fills `value` of every output. Requires that infer accepted the use, that `outputs` are
  /// infer's and that every present input has its value. Floats are computed in double and rounded to the output's
  /// type at the end; integers wrap.
  void (*compute)(const OperatorUse&, std::span<Operand> outputs) = nullptr;
  std::string_view since =
      {};               // opsets of its domain in which its definition changed, ascending: "7 13 14"; from 7 on
  bool random = false;  // never a constant, though no input changes
  /// The body of a composite operator, given its inputs' shapes; it has none of the three functions above.
  Body (*expand)(const OperatorUse&) = nullptr;
  const CustomOperator* custom = nullptr;  // where a file defines it
};

/// Checks the number of inputs and the names of attributes. Throws Error("invalid_graph" | "unsupported_attribute",
/// node, ...).
void check_use(const Operator& op, const OperatorUse& use);

/// The outputs of a use of `op`, one for each of the node's outputs, after check_use. Where the values of all
/// inputs are known, so are those of outputs that have at most `most_elements`. Throws what check_use and the rule
/// throw. Requires that `op` is no composite.
std::vector<Operand> infer_use(const Operator& op, const OperatorUse& use,
                               std::int64_t most_elements = most_folded_elements);

/// All rows; sorted by domain and type.
std::span<const Operator> operators();

/// The row, or nullptr when the operator is unknown. "ai.onnx" is "".
const Operator* find_operator(std::string_view domain, std::string_view type);

}  // namespace sdip
