// The layers the built-in models are made of, each as the chain of ONNX nodes that PyTorch's exporter writes for
// it. A `module` is the layer's name inside the module being written. Internal to its room.
#pragma once

#include <concepts>
#include <string>

#include "core/base/error.h"
#include "core/workload/draft.h"

namespace sdip::workload {

/// A module of a list: "resnets.1".
inline std::string numbered(std::string_view name, std::integral auto number) {
  return fmt::format("{}.{}", name, number);
}

/// Elementwise with broadcasting.
Value add(Draft& draft, const Value& a, const Value& b);
Value mul(Draft& draft, const Value& a, const Value& b);

Value reshape(Draft& draft, const Value& x, Shape shape);
Value transpose(Draft& draft, const Value& x, const Shape& order);
Value unsqueeze(Draft& draft, const Value& x, std::int64_t axis);

/// Concatenates along `axis` >= 0.
Value concat(Draft& draft, const Value& a, const Value& b, std::int64_t axis);

/// Equal parts along `axis` >= 0.
std::vector<Value> split(Draft& draft, const Value& x, std::int64_t axis, std::int64_t parts);

struct ConvSizes {
  std::int64_t channels;
  std::int64_t kernel;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t groups = 1;
  bool bias = true;
};

Value conv(Draft& draft, std::string_view module, const Value& x, const ConvSizes& sizes);

/// Gemm (weights [out, in]) for a matrix; otherwise MatMul (weights stored transposed, [in, out]) and Add, bias
/// first.
Value linear(Draft& draft, std::string_view module, const Value& x, std::int64_t features, bool bias = true);

/// Rows of a weight table, one for each index.
Value embedding(Draft& draft, std::string_view module, const Value& indices, const Shape& table);

/// Reshape [B,G,-1], InstanceNormalization, Reshape, Mul, Add. Requires [B,C,H,W], C a multiple of groups.
Value group_norm(Draft& draft, std::string_view module, const Value& x, std::int64_t groups, float epsilon);

/// LayerNormalization over the last axis.
Value layer_norm(Draft& draft, std::string_view module, const Value& x, float epsilon);

Value batch_norm(Draft& draft, std::string_view module, const Value& x);

/// Sigmoid, Mul.
Value silu(Draft& draft, std::string_view module, const Value& x);

/// x * sigmoid(1.702 x): Mul, Sigmoid, Mul.
Value quick_gelu(Draft& draft, std::string_view module, const Value& x);

/// The exact one: Div, Erf, Add, Mul, Mul; in the module being written.
Value gelu(Draft& draft, const Value& x);

/// The approximation by tanh: Mul four times, Add, Mul, Tanh, Add, Mul; in the module being written.
Value gelu_tanh(Draft& draft, const Value& x);

/// How scores become smaller: the exporter writes what the model's source does.
enum class ScoreScale { multiply, divide };

/// softmax(q k' / sqrt(d) + mask) v, each head apart: Reshape and Transpose, MatMul, Mul or Div, [Add,] Softmax,
/// MatMul, Transpose, Reshape. Requires q, k, v [B, N, C]; `mask` nullptr or broadcast to [B, heads, Nq, Nk].
Value attention(Draft& draft, const Value& q, const Value& k, const Value& v, std::int64_t heads, ScoreScale scale,
                const Value* mask);

/// The part of it after the heads are apart. Requires q, v [B, heads, N, d] and k transposed, [B, heads, d, N].
Value attention_by_head(Draft& draft, const Value& q, const Value& k, const Value& v, ScoreScale scale,
                        const Value* mask);

/// Sines and cosines of each of `x` at `half` frequencies from 1 down to nearly 1/10000, cosines first:
/// [1] or [rows, 1] -> [rows, 2 half].
Value sinusoids(Draft& draft, const Value& x, std::int64_t rows, std::int64_t half);

}  // namespace sdip::workload
