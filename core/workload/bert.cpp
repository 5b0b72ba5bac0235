// BERT-base: 12 post-norm layers, width 768, 12 heads (Devlin et al., arXiv:1810.04805).
#include "core/workload/bert.h"

#include <numeric>

#include "core/base/index.h"
#include "core/workload/layers.h"

namespace sdip::workload {
namespace {

constexpr std::int64_t width = 768, layers = 12, heads = 12, vocabulary = 30522, positions = 512;
constexpr float norm_epsilon = 1e-12F;

/// 0 for a token, -10000 for padding: (1 - mask) * -10000, shaped to add to the scores of every head.
Value padding_mask(Draft& draft, const Value& mask) {
  const Value spread = unsqueeze(draft, unsqueeze(draft, mask, 1), 2);
  const Value as_float =
      node(draft, "Cast", {spread.name}, spread.shape, {{"to", std::int64_t{onnx::TensorProto::FLOAT}}});
  const Value padding = node(draft, "Sub", {float_scalar(draft, 1.0F), as_float.name}, spread.shape);
  return node(draft, "Mul", {padding.name, float_scalar(draft, -10000.0F)}, spread.shape);
}

Value embed(Draft& draft, const Value& ids, const Value& types) {
  const Module within(draft, "embeddings");
  const Value words = embedding(draft, "word_embeddings", ids, {vocabulary, width});
  const Value sum = add(draft, words, embedding(draft, "token_type_embeddings", types, {2, width}));
  Shape numbers(as_size(ids.shape[1]));
  std::iota(numbers.begin(), numbers.end(), 0);
  const Value places{int64_constant(draft, numbers), {ids.shape[1]}};
  const Value placed = embedding(draft, "position_embeddings", places, {positions, width});
  return layer_norm(draft, "LayerNorm", add(draft, sum, placed), norm_epsilon);
}

/// The closing half of both parts of a layer: a linear layer, the residual, the norm.
Value project(Draft& draft, const Value& x, const Value& residual) {
  const Module within(draft, "output");
  return layer_norm(draft, "LayerNorm", add(draft, linear(draft, "dense", x, width), residual), norm_epsilon);
}

Value attend(Draft& draft, const Value& x, const Value& mask) {
  const Module within(draft, "attention");
  const auto mixed = [&] {
    const Module self(draft, "self");
    const Value q = linear(draft, "query", x, width);
    const Value k = linear(draft, "key", x, width);
    const Value v = linear(draft, "value", x, width);
    return attention(draft, q, k, v, heads, ScoreScale::divide, &mask);
  }();
  return project(draft, mixed, x);
}

Value layer(Draft& draft, std::int64_t number, const Value& x, const Value& mask) {
  const Module within(draft, "encoder/layer." + std::to_string(number));
  const Value attended = attend(draft, x, mask);
  const auto hidden = [&] {
    const Module intermediate(draft, "intermediate");
    const Value wide = linear(draft, "dense", attended, 4 * width);
    const Module activation(draft, "intermediate_act_fn");
    return gelu(draft, wide);
  }();
  return project(draft, hidden, attended);
}

Value pool(Draft& draft, const Value& x) {
  const Module within(draft, "pooler");
  const Value first =
      node(draft, "Gather", {x.name, int64_scalar(draft, 0)}, {x.shape[0], width}, {{"axis", std::int64_t{1}}});
  const Value dense = linear(draft, "dense", first, width);
  const Module activation(draft, "activation");
  return node(draft, "Tanh", {dense.name}, dense.shape);
}

}  // namespace

void write_bert_base(Draft& draft, const Sizes& sizes) {
  const Shape shape{sizes.batch, sizes.tokens};
  const Value ids = int64_input(draft, "input_ids", shape);
  const Value given = int64_input(draft, "attention_mask", shape);
  const Value types = int64_input(draft, "token_type_ids", shape);
  const Value mask = padding_mask(draft, given);
  Value x = embed(draft, ids, types);
  for (std::int64_t i = 0; i < layers; ++i) x = layer(draft, i, x, mask);
  output(draft, "pooler_output", pool(draft, x));
  output(draft, "last_hidden_state", x);
}

}  // namespace sdip::workload
