// CLIP's text transformer: embeddings, pre-norm layers under a causal mask, a last norm.
#include "core/workload/text_encoder.h"

#include <limits>

#include "core/base/index.h"
#include "core/workload/layers.h"

namespace sdip::workload {
namespace {

/// 0 where a token may look, the lowest float where it would look ahead: a constant, as the length is known.
Value causal_mask(Draft& draft, std::int64_t tokens) {
  List<float> mask(as_size(tokens * tokens), 0.0F);
  for (std::int64_t row = 0; row < tokens; ++row) {
    for (std::int64_t ahead = row + 1; ahead < tokens; ++ahead) {
      mask[row * tokens + ahead] = std::numeric_limits<float>::lowest();
    }
  }
  Shape shape{1, 1, tokens, tokens};
  std::string name = float_constant(draft, shape, mask);
  return {std::move(name), std::move(shape)};
}

Value self_attention(Draft& draft, const Value& x, const Value& mask, std::int64_t heads) {
  const Module within(draft, "self_attn");
  const std::int64_t width = x.shape.back();
  const Value q = linear(draft, "q_proj", x, width);
  const Value k = linear(draft, "k_proj", x, width);
  const Value v = linear(draft, "v_proj", x, width);
  return linear(draft, "out_proj", attention(draft, q, k, v, heads, ScoreScale::multiply, &mask), width);
}

Value mlp(Draft& draft, const Value& x, bool quick) {
  const Module within(draft, "mlp");
  const std::int64_t width = x.shape.back();
  const Value hidden = linear(draft, "fc1", x, 4 * width);
  const auto activated = [&] {
    if (quick) return quick_gelu(draft, "activation_fn", hidden);
    const Module activation(draft, "activation_fn");
    return gelu(draft, hidden);
  }();
  return linear(draft, "fc2", activated, width);
}

Value layer(Draft& draft, std::int64_t number, Value x, const Value& mask, const TextEncoderConfig& config) {
  const Module within(draft, "layers." + std::to_string(number));
  x = add(draft, x, self_attention(draft, layer_norm(draft, "layer_norm1", x, 1e-5F), mask, config.heads));
  return add(draft, x, mlp(draft, layer_norm(draft, "layer_norm2", x, 1e-5F), config.quick_gelu));
}

Value embed(Draft& draft, const Value& ids, const TextEncoderConfig& config) {
  const Module within(draft, "embeddings");
  const Value tokens = embedding(draft, "token_embedding", ids, {config.vocabulary, config.width});
  const auto positions = [&] {
    const Module table(draft, "position_embedding");
    Shape shape{ids.shape[1], config.width};
    std::string name = weight(draft, "weight", shape);
    return Value{std::move(name), std::move(shape)};
  }();
  return add(draft, tokens, positions);
}

/// The end token has the highest number, so its place in each text is found by ArgMax.
Value pooled(Draft& draft, const Value& ids, const Value& states, std::int64_t channels) {
  const std::int64_t batch = ids.shape[0], tokens = ids.shape[1];
  Shape starts;
  for (std::int64_t i = 0; i < batch; ++i) starts.push_back(i * tokens);
  const Value ends =
      node(draft, "ArgMax", {ids.name}, {batch}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  const Value rows = add(draft, ends, {int64_constant(draft, starts), {batch}});
  const Value flat = reshape(draft, states, {batch * tokens, states.shape[2]});
  const Value picked =
      node(draft, "Gather", {flat.name, rows.name}, {batch, states.shape[2]}, {{"axis", std::int64_t{0}}});
  return linear(draft, "text_projection", picked, channels, false);
}

}  // namespace

void write_text_encoder(Draft& draft, const Sizes& sizes, const TextEncoderConfig& config) {
  const Value ids = int64_input(draft, "input_ids", {sizes.batch, sizes.tokens});
  Value x;
  Value hidden;
  {
    const Module within(draft, "text_model");
    x = embed(draft, ids, config);
    const Value mask = causal_mask(draft, sizes.tokens);
    {
      const Module encoder(draft, "encoder");
      for (std::int64_t i = 0; i < config.layers; ++i) {
        x = layer(draft, i, x, mask, config);
        if (i + 1 == config.hidden_output) hidden = x;
      }
    }
    x = layer_norm(draft, "final_layer_norm", x, 1e-5F);
  }
  if (config.pooled_channels > 0) output(draft, "text_embeds", pooled(draft, ids, x, config.pooled_channels));
  output(draft, "last_hidden_state", x);
  if (config.hidden_output > 0) output(draft, "hidden_states." + std::to_string(config.hidden_output), hidden);
}

}  // namespace sdip::workload
