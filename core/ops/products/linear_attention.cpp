// LinearAttention of ai.onnx 27 and com.microsoft: a state of key by value that each token updates and is then read
// from, so that its cost grows with the tokens and not with their square. With S the state of a head, g the decay
// and b the rate of a token:
//   linear       S = S + k v^T                         o = scale S^T q
//   gated        S = exp(g) S + k v^T
//   delta        S = S + b k (v - S^T k)^T
//   gated_delta  S = exp(g) S, then as delta
#include <algorithm>
#include <cmath>

#include "core/ops/body.h"
#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

enum LinearPlace : std::size_t { query_in, key_in, value_in, state_in, decay_in, rate_in };

struct LinearAttention {
  std::int64_t batch = 0, tokens = 0, query_heads = 0, heads = 0, depth = 0, value_depth = 0;  // heads: of keys
  bool gated = false, delta = false;
  bool decay_by_depth = false, rate_by_head = false;
  double scale = 1;
  std::int64_t outputs() const { return std::max(query_heads, heads); }  // heads that come out
  Shape state() const { return {batch, heads, depth, value_depth}; }
};

void require_input(const OperatorUse& use, std::size_t i, bool wanted, const char* name) {
  if ((optional_input(use, i) != nullptr) == wanted) return;
  refuse(
      use, "unsupported_attribute",
      std::string(name) + (wanted ? " is missing for this update_rule" : " has no meaning for this update_rule"));
}

std::int64_t divided(const OperatorUse& use, std::size_t i, std::int64_t heads) {
  const Shape& shape = input(use, i).shape;
  if (shape.size() != 3 || heads < 1 || heads > 1 << 20 || shape[2] % heads != 0)
    refuse(use, "shape_mismatch", fmt::format("input {} {} is not batch x tokens x heads", i, shape_text(shape)));
  return shape[2] / heads;
}

LinearAttention attention_of(const OperatorUse& use) {
  LinearAttention a;
  const std::string rule =
      known_attribute(use, "update_rule", "gated_delta", {"linear", "gated", "delta", "gated_delta"});
  if (int_attribute(use, "state_window", 0) != 0)
    refuse(use, "unsupported_attribute", "a window of states is not supported");
  a.gated = rule.starts_with("gated"), a.delta = rule.ends_with("delta");
  a.query_heads = int_attribute(use, "q_num_heads", 0), a.heads = int_attribute(use, "kv_num_heads", 0);
  a.depth = divided(use, query_in, a.query_heads), a.value_depth = divided(use, value_in, a.heads);
  const std::int64_t more = a.outputs(), fewer = std::min(a.query_heads, a.heads);
  const bool shared = more % fewer == 0;  // more keys than queries onnxruntime alone allows
  const Shape& query = input(use, query_in).shape;
  a.batch = query[0], a.tokens = query[1];
  const auto is = [&](std::size_t i, std::int64_t width) {
    return input(use, i).shape == Shape{a.batch, a.tokens, width};
  };
  if (!shared || !is(key_in, element_count({a.heads, a.depth})) ||
      !is(value_in, element_count({a.heads, a.value_depth})))
    refuse(use, "shape_mismatch", "query, key and value do not fit their heads");
  require_shape(use, state_in, a.state());
  require_input(use, decay_in, a.gated, "decay");
  require_input(use, rate_in, a.delta, "beta");
  if (a.gated) {
    a.decay_by_depth = !is(decay_in, a.heads);
    if (a.decay_by_depth && !is(decay_in, element_count({a.heads, a.depth})))
      refuse(use, "shape_mismatch", "decay must be one a head, or one a head and key element");
  }
  if (a.delta) {
    a.rate_by_head = is(rate_in, a.heads);
    if (!a.rate_by_head && !is(rate_in, 1)) refuse(use, "shape_mismatch", "beta must be one a head, or one");
  }
  a.scale = float_attribute(use, "scale", 0);
  if (a.scale == 0) a.scale = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(a.depth, 1)));
  return a;
}

/// With `state` the numbers of the result and behind them those of the last state, as one list: an instruction
/// writes one value.
bool gives_state(const OperatorUse& use) { return int_attribute(use, "state", 0) != 0; }

std::int64_t result_elements(const LinearAttention& a) {
  return element_count({a.batch, a.tokens, a.outputs(), a.value_depth});
}

/// The wider type of tokens and state.
ElementType made_type(const OperatorUse& use) {
  const ElementType type = input(use, query_in).type;
  const Operand* state = optional_input(use, state_in);
  return state != nullptr && bits_of(state->type) > bits_of(type) ? state->type : type;
}

std::vector<Operand> infer_linear_attention(const OperatorUse& use) {
  for (std::size_t i = 0; i < use.inputs.size(); ++i) require_type(use, i, is_floating, "a float");
  const LinearAttention a = attention_of(use);
  const std::int64_t results = result_elements(a), states = element_count(a.state());
  const auto each = static_cast<double>(a.depth) * static_cast<double>(a.value_depth * (3 * a.heads + a.outputs()));
  require_bounded(use, static_cast<double>(a.batch) * static_cast<double>(a.tokens) * each, results + states);
  if (gives_state(use)) return {typed(made_type(use), {element_count({results + states})})};
  return {typed(made_type(use), {a.batch, a.tokens, a.outputs() * a.value_depth})};
}

/// A token passes over the state of a head once to put k v^T in, once more each to let it decay and to read S^T k,
/// and once for each query that reads it. Tokens come one after the other, which leaves the array of products
/// nothing to do at once: the vector lanes do it. 2 heads of 64 x 64, 10 tokens, gated_delta, 2 queries a head:
/// 2 x 64 x 64 x 10 x (3 + 2) elements.
Work linear_attention_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const LinearAttention a = attention_of(use);
  const std::int64_t updates = 1 + (a.gated ? 1 : 0) + (a.delta ? 1 : 0);
  Work work = copy_work(use, outputs);
  work.row_length = element_count({a.batch, a.tokens, a.depth, a.value_depth, a.heads * updates + a.outputs()});
  return work;
}

struct Tokens {
  std::vector<double> query, key, value, decay, rate;
};

/// One token into the state of head `h`; `row` is the token's place among all, batch by batch.
void update(const LinearAttention& a, const Tokens& in, std::size_t row, std::size_t h, std::span<double> state) {
  const auto depth = as_size(a.depth), width = as_size(a.value_depth), heads = as_size(a.heads);
  const double* k = in.key.data() + (row * heads + h) * depth;
  if (a.gated) {
    for (std::size_t i = 0; i < depth; ++i) {
      const double decay = std::exp(in.decay[a.decay_by_depth ? (row * heads + h) * depth + i : row * heads + h]);
      for (std::size_t j = 0; j < width; ++j) state[i * width + j] *= decay;
    }
  }
  const double rate = a.delta ? in.rate[a.rate_by_head ? row * heads + h : row] : 1;
  for (std::size_t j = 0; j < width; ++j) {
    double known = 0;  // what the state has for this key
    for (std::size_t i = 0; a.delta && i < depth; ++i) known += state[i * width + j] * k[i];
    const double added = rate * (in.value[(row * heads + h) * width + j] - known);
    for (std::size_t i = 0; i < depth; ++i) state[i * width + j] += k[i] * added;
  }
}

void compute_linear_attention(const OperatorUse& use, std::span<Operand> outputs) {
  const LinearAttention a = attention_of(use);
  const Tokens in{doubles_of(use, query_in), doubles_of(use, key_in), doubles_of(use, value_in),
                  doubles_of(use, decay_in), doubles_of(use, rate_in)};
  const auto depth = as_size(a.depth), width = as_size(a.value_depth), heads = as_size(a.heads),
             queries = as_size(a.query_heads), made = as_size(a.outputs());
  std::vector<double> state = doubles_of(use, state_in);
  if (state.empty()) state.assign(as_size(element_count(a.state())), 0.0);
  std::vector<double> y(as_size(a.batch * a.tokens) * made * width, 0.0);
  for (std::size_t row = 0; row < as_size(a.batch * a.tokens); ++row) {
    const std::size_t text = row / as_size(a.tokens);
    const auto of_head = [&](std::size_t h) {
      return std::span(state).subspan((text * heads + h) * depth * width, depth * width);
    };
    for (std::size_t h = 0; h < heads; ++h) update(a, in, row, h, of_head(h));
    for (std::size_t o = 0; o < made; ++o) {
      const auto known = of_head(o * heads / made);
      const double* q = in.query.data() + (row * queries + o * queries / made) * depth;
      for (std::size_t i = 0; i < depth; ++i) {
        for (std::size_t j = 0; j < width; ++j)
          y[(row * made + o) * width + j] += a.scale * q[i] * known[i * width + j];
      }
    }
  }
  if (gives_state(use)) y.insert(y.end(), state.begin(), state.end());
  set_doubles(outputs[0], y);
}

/// query, key, value, state?, decay?, beta? -> result, last state.
std::vector<int> expand_linear_attention(BodyWriter& w, const OperatorUse& use) {
  const LinearAttention a = attention_of(use);
  std::vector<int> inputs;
  for (std::size_t i = 0; i < use.inputs.size(); ++i) inputs.push_back(w.given(i));
  Attributes attributes = use.attributes == nullptr ? Attributes{} : *use.attributes;
  attributes.erase("chunk_size"), attributes.erase("state_window");
  const ElementType type = input(use, query_in).type, made = made_type(use);
  const Operand* given = optional_input(use, state_in);
  const ElementType state_type = given == nullptr ? type : given->type;
  const auto as = [&](int x, ElementType wanted) { return wanted == made ? x : w.cast(x, wanted); };
  if (use.output_count < 2) return {as(w.node("sdip.LinearAttention", inputs, attributes), type)};
  attributes.emplace("state", std::int64_t{1});
  const std::int64_t results = result_elements(a), states = element_count(a.state());
  const int all = w.node("sdip.LinearAttention", inputs, attributes);
  const int y = w.reshape(w.slice(all, 0, 0, results), {a.batch, a.tokens, a.outputs() * a.value_depth});
  const int state = w.reshape(w.slice(all, 0, results, results + states), a.state());
  return {as(y, type), as(state, state_type)};
}

constexpr Operator linear_attention_operators[] = {
    {"sdip", "LinearAttention", "linear_attention", 3, 6, "kv_num_heads q_num_heads scale state update_rule",
     infer_linear_attention, linear_attention_work, compute_linear_attention, "1"},
    composite<expand_linear_attention>("", "LinearAttention", "linear_attention", 3, 6,
                                       "chunk_size kv_num_heads q_num_heads scale update_rule", "27"),
    composite<expand_linear_attention>("com.microsoft", "LinearAttention", "linear_attention", 3, 6,
                                       "chunk_size kv_num_heads q_num_heads scale state_window update_rule"),
};

}  // namespace

std::span<const Operator> linear_attention_rows() { return linear_attention_operators; }

}  // namespace sdip
