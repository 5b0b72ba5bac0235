// Layers of networks as exporters take them apart.
#pragma once

#include "tests/exports/writer.h"

namespace sdip::exports {

/// x W + b of three dimensions and more: MatMul and Add, the bias first; torchscript of two: Gemm.
Name linear(Writer& t, const Name& x, std::int64_t in, std::int64_t out, bool bias = true);
Name gemm(Writer& t, const Name& x, std::int64_t in, std::int64_t out);
/// LayerNormalization, or before opset 17 its parts.
Name layer_norm(Writer& t, const Name& x, std::int64_t channels, bool affine = true, double epsilon = 1e-5);
/// As Llama has it, computed in fp32; `plus_one`: Gemma's weight.
Name rms_norm(Writer& t, const Name& x, std::int64_t channels, bool plus_one = false);
Name gelu(Writer& t, const Name& x);       // by Erf, or Gelu from opset 20 on
Name gelu_tanh(Writer& t, const Name& x);  // by Tanh
Name silu(Writer& t, const Name& x);
Name hard_swish(Writer& t, const Name& x);  // one node from opset 14 on
Name group_norm(Writer& t, const Name& x, std::int64_t groups, std::int64_t channels);
Name batch_norm(Writer& t, const Name& x, std::int64_t channels);

struct Window {
  std::int64_t kernel = 3, stride = 1, pad = 1, groups = 1, dilation = 1;
  bool bias = true;
};
Name conv(Writer& t, const Name& x, std::int64_t in, std::int64_t out, const Window& window = {});
Name conv1d(Writer& t, const Name& x, std::int64_t in, std::int64_t out, const Window& window = {});

/// [batch, tokens, heads * width] as [batch, heads, tokens, width], batch and tokens known at run time.
Name split_heads(Writer& t, const Name& x, const Part& batch, const Part& tokens, std::int64_t heads,
                 std::int64_t width);
Name join_heads(Writer& t, const Name& x, const Part& batch, const Part& tokens, std::int64_t channels);
/// softmax(q k' / sqrt(width) + mask) v as PyTorch 2 exports it; without a mask where that is empty.
Name attention(Writer& t, const Name& q, const Name& k, const Name& v, std::int64_t width, const Name& mask = "");
/// Self-attention with linear layers around it, tokens known at run time.
Name self_attention(Writer& t, const Name& x, std::int64_t channels, std::int64_t heads, const Name& mask = "");
/// Linear, gelu, linear.
Name mlp(Writer& t, const Name& x, std::int64_t channels, std::int64_t hidden);
/// cos and sin of positions [batch, tokens] (int64), as Llama exports compute them.
std::pair<Name, Name> rotary(Writer& t, const Name& positions, std::int64_t width);
/// x cos + rotate_half(x) sin
Name rotated(Writer& t, const Name& x, const std::pair<Name, Name>& rotary, std::int64_t width);
/// -inf above the diagonal, [1, 1, tokens, keys] of sizes known at run time.
Name causal_mask(Writer& t, const Name& tokens, const Name& keys, ElementType type = ElementType::float32);

}  // namespace sdip::exports
