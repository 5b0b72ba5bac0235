// The single-head attention of an accelerator on a PYNQ-Z2: every tensor of eight bits without sign ("the range of
// int8 is 0 to 255"), vectors of four, four of them. Source: "Single head attention" on PYNQ-Z2, course report on
// HackMD.
//
// The product circuit takes rows of A and columns of B and leaves its result turned, so that the next one finds
// columns as it reads rows: with everything stored as rows of four bytes, one beat of 32 bit each,
// product(A, B) = (A B^T)^T. Then with X as tokens:
//   Q = product(Wq, X), K = product(Wk, X)    rows of tokens     cut to eight bits: nothing handles overflow
//   V = product(X, Wv)                        rows of dimensions cut likewise
//   S = product(K, Q)                         a row a query      cut likewise, then a bit to the right: 1 / sqrt(4)
//   P = quantised(softmax(S / 64))            a row a query      on the host, and the shift quantiser
//   O = product(V, P) / 256                   a row a token      the quantiser's scale comes off again
#include "core/workload/pynq_attention.h"

#include "core/workload/layers.h"

namespace sdip::workload {
namespace {

constexpr std::int64_t width = 4;  // the vector of one beat, and how many of them the unit holds

Value cast(Draft& draft, const Value& x, onnx::TensorProto::DataType type) {
  return node(draft, "Cast", {x.name}, x.shape, {{"to", static_cast<std::int64_t>(type)}});
}

Value turned(Draft& draft, const Value& x) {
  Shape shape = x.shape, order;
  std::swap(shape[shape.size() - 2], shape.back());
  for (std::size_t i = 0; i < shape.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
  std::swap(order[order.size() - 2], order.back());
  return node(draft, "Transpose", {x.name}, shape, {{"perm", order}});
}

Value shifted(Draft& draft, const Value& x, onnx::TensorProto::DataType type, std::int64_t bits) {
  const Value places = cast(draft, {int64_scalar(draft, bits), {}}, type);
  return node(draft, "BitShift", {x.name, places.name}, x.shape, {{"direction", std::string_view("RIGHT")}});
}

/// A B^T, as int32.
Value sums(Draft& draft, const Value& a, const Value& b) {
  const Value columns = turned(draft, b);
  Shape shape = a.shape.size() > b.shape.size() ? a.shape : b.shape;
  shape[shape.size() - 2] = a.shape[a.shape.size() - 2];
  shape.back() = columns.shape.back();
  return node(draft, "MatMulInteger", {a.name, columns.name}, shape);
}

/// A B^T cut to eight bits and turned.
Value product(Draft& draft, std::string_view module, const Value& a, const Value& b, std::int64_t right_shift = 0) {
  const Module within(draft, module);
  Value y = cast(draft, sums(draft, a, b), onnx::TensorProto::UINT8);
  if (right_shift > 0) y = shifted(draft, y, onnx::TensorProto::UINT8, right_shift);
  return turned(draft, y);
}

/// The same of weights and activations: (W B^T)^T is B W^T, and weights stand second in a program.
Value product_of_weights(Draft& draft, std::string_view module, const Value& weights, const Value& b) {
  const Module within(draft, module);
  return cast(draft, sums(draft, b, weights), onnx::TensorProto::UINT8);
}

/// Random weights lie within 0.03 of 0: codes 0 to 7, small enough that scores of one-hot vectors do not overflow,
/// as the text supposes.
Value codes(Draft& draft, std::string_view module) {
  const Module within(draft, module);
  const std::string floats = weight(draft, "weight", {width, width});
  return node(draft, "QuantizeLinear", {floats, float_scalar(draft, 0.004F)}, {width, width});
}

Value host(Draft& draft, std::string_view op, const Value& x, Attributes attributes) {
  Value y = node(draft, op, {x.name}, x.shape, attributes);
  draft.model.mutable_graph()->mutable_node(draft.model.graph().node_size() - 1)->set_domain("pynq");
  return y;
}

}  // namespace

void write_pynq_attention(Draft& draft, const Sizes& sizes) {
  onnx::OperatorSetIdProto& own = *draft.model.add_opset_import();
  own.set_domain("pynq");
  own.set_version(1);
  const Value given = int32_input(draft, "x", {sizes.batch, sizes.tokens, width});
  const Value x = cast(draft, given, onnx::TensorProto::UINT8);  // the host's integers, written to BRAM as bytes
  const Value q = product_of_weights(draft, "q", codes(draft, "to_q"), x);
  const Value k = product_of_weights(draft, "k", codes(draft, "to_k"), x);
  const Value v = product(draft, "v", x, codes(draft, "to_v"));
  const Value scores = product(draft, "scores", k, q, 1);
  const Value shares = host(draft, "TemperatureSoftmax", scores, {{"temperature", 64.0F}});
  const Value weights = host(draft, "ShiftQuantize", shares, {});
  const Module within(draft, "output");
  const Value sum = cast(draft, sums(draft, v, weights), onnx::TensorProto::UINT32);
  const Value y = cast(draft, shifted(draft, sum, onnx::TensorProto::UINT32, 8), onnx::TensorProto::UINT8);
  output(draft, "output", turned(draft, y), onnx::TensorProto::UINT8);
}

}  // namespace sdip::workload
