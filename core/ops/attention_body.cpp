// Attention as nodes. 8 heads that share 2 k and v: q [1,8,64,40] is looked at as [1,2,256,40], 4 heads' rows one
// after the other, so that no k or v is repeated; scores [1,2,256,77] are [1,8,64,77] in the same order.
#include "core/ops/attention_body.h"

#include <cmath>
#include <limits>

namespace sdip {
namespace {

constexpr double hidden_bias = -std::numeric_limits<double>::infinity();

/// [rows, columns] with -inf above the diagonal that ends at column `past`, and below the window, and 0 between.
/// Made at compile time, of any size. 3 rows, 4 columns, past 1, window 2: row 0 sees columns 0 and 1, row 2
/// columns 2 and 3.
int causal_bias(BodyWriter& w, ElementType type, const AttentionShape& shape, const AttentionOptions& options) {
  const int hidden = w.node("Expand", {w.number(type, hidden_bias), w.ints({shape.rows, shape.columns})});
  const auto part = [&](std::int64_t diagonal, bool upper) {
    return w.node("Trilu", {hidden, w.ints({diagonal}, ElementType::int64, true)},
                  {{"upper", std::int64_t{upper ? 1 : 0}}});
  };
  const int later = part(options.causal_past + 1, true);
  return options.window > 0 ? w.node("Add", {later, part(options.causal_past - options.window, false)}) : later;
}

}  // namespace

std::int64_t heads_of(const OperatorUse& use, const char* name) {
  const std::int64_t heads = int_attribute(use, name, 0);
  require(use, heads > 0 && heads <= 1 << 20, "the number of heads is missing or out of range");
  return heads;
}

std::int64_t depth_of(const OperatorUse& use, std::int64_t width, std::int64_t heads) {
  if (width % heads != 0) {
    refuse(use, "shape_mismatch", fmt::format("a width of {} is not {} heads", width, heads));
  }
  return width / heads;
}

std::int64_t put_behind_past(BodyWriter& w, std::size_t past_key, AttentionShape& shape, int& k, int& v) {
  const int key = w.given(past_key), value = w.given(past_key + 1);
  require(w.use, (key < 0) == (value < 0), "past_key and past_value go together");
  if (key < 0) return 0;
  const std::int64_t past = shape_of_rank(w.use, past_key, 4)[2];
  k = w.concat({key, k}, 2);
  v = w.concat({value, v}, 2);
  shape.columns += past;
  return past;
}

AttentionBody write_attention(BodyWriter& w, int q, int k, int v, const AttentionShape& shape,
                              const AttentionOptions& options) {
  const OperatorUse& use = w.use;
  const ElementType type = options.type.value_or(input(use, 0).type);
  if (shape.kv_heads < 1 || shape.heads < 1 || shape.heads % shape.kv_heads != 0) {
    refuse(use, "shape_mismatch", fmt::format("{} heads do not share {} keys evenly", shape.heads, shape.kv_heads));
  }
  const Shape whole = {shape.batch, shape.heads, shape.rows, shape.columns};
  const bool shared = shape.heads != shape.kv_heads;
  const std::int64_t stacked = product({shape.heads / shape.kv_heads, shape.rows});
  if (shared) q = w.reshape(q, {shape.batch, shape.kv_heads, stacked, shape.depth});
  const double scale = options.scale != 0
                           ? options.scale
                           : 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(shape.depth, 1)));
  AttentionBody made;
  made.scores = w.node("sdip.Scores", {q, k}, {{"scale", scale}, {"trans_b", std::int64_t{1}}});
  if (shared) made.scores = w.reshape(made.scores, whole);
  made.capped = made.scores;
  if (options.softcap != 0) {
    const int cap = w.number(type, options.softcap);
    made.capped = w.node("Mul", {w.node("Tanh", {w.node("Div", {made.scores, cap})}), cap});
  }
  made.biased = made.capped;
  const bool may_hide_rows = options.hidden_rows_are_zero && !options.biases.empty();
  std::vector<int> biases = options.biases;
  if (options.causal_past >= 0) biases.push_back(causal_bias(w, type, shape, options));
  while (may_hide_rows && biases.size() > 1) {  // as one: together they may hide what neither hides
    const int last = biases.back();
    biases.pop_back();
    biases.back() = w.node("Add", {biases.back(), last});
  }
  for (int bias : biases) made.biased = w.node("Add", {made.biased, bias});
  int softmax = made.biased;
  if (options.sink >= 0) {
    const int sink = w.node("Expand", {options.sink, w.ints({shape.batch, shape.heads, shape.rows, 1})});
    softmax = w.concat({softmax, sink}, 3);
  }
  const bool cast = options.single_precision && type != ElementType::float32;
  if (cast) softmax = w.node("Cast", {softmax}, {{"to", std::int64_t{1}}});
  softmax = w.node("Softmax", {softmax}, {{"axis", std::int64_t{-1}}});
  made.weights = cast ? w.node("CastLike", {softmax, 0}) : softmax;
  if (options.sink >= 0) made.weights = w.slice(made.weights, 3, 0, shape.columns);
  int weights = made.weights;
  if (shared) weights = w.reshape(weights, {shape.batch, shape.kv_heads, stacked, shape.columns});
  made.result = w.node("MatMul", {weights, v});
  if (shared) made.result = w.reshape(made.result, {shape.batch, shape.heads, shape.rows, shape.value_depth});
  if (!may_hide_rows) return made;
  const int most = w.node("ReduceMax", {biases[0], w.ints({-1})});
  const int visible = w.node("Less", {w.number(type, hidden_bias), most});
  for (int* rows : {&made.result, &made.weights}) *rows = w.node("Where", {visible, *rows, w.number(type, 0)});
  return made;
}

int split_heads(BodyWriter& w, int x, std::int64_t batch, std::int64_t rows, std::int64_t heads,
                std::int64_t depth) {
  return w.transpose(w.reshape(x, {batch, rows, heads, depth}), {0, 2, 1, 3});
}

int join_heads(BodyWriter& w, int x, std::int64_t batch, std::int64_t rows, std::int64_t width) {
  return w.reshape(w.transpose(x, {0, 2, 1, 3}), {batch, rows, width});
}

int bias_of_mask(BodyWriter& w, int kept, ElementType type, double hidden) {
  const int condition = w.node("Cast", {kept}, {{"to", std::int64_t{9}}});  // 9: boolean
  return w.node("Where", {condition, w.number(type, 0), w.number(type, hidden)});
}

int write_rotary(BodyWriter& w, int x, int cos, int sin, const Shape& shape, std::int64_t turned,
                 bool interleaved) {
  const std::int64_t half = turned / 2, depth = shape[3];
  const int part = turned == depth ? x : w.slice(x, 3, 0, turned);
  int a = -1, b = -1;
  if (interleaved) {
    const int pairs = w.reshape(part, {shape[0], shape[1], shape[2], half, 2});
    a = w.reshape(w.slice(pairs, 4, 0, 1), {shape[0], shape[1], shape[2], half});
    b = w.reshape(w.slice(pairs, 4, 1, 2), {shape[0], shape[1], shape[2], half});
  } else {
    a = w.slice(part, 3, 0, half);
    b = w.slice(part, 3, half, turned);
  }
  const int real = w.node("Sub", {w.node("Mul", {a, cos}), w.node("Mul", {b, sin})});
  const int imaginary = w.node("Add", {w.node("Mul", {b, cos}), w.node("Mul", {a, sin})});
  int y = -1;
  if (interleaved) {
    const auto apart = [&](int value) { return w.reshape(value, {shape[0], shape[1], shape[2], half, 1}); };
    const int pairs = w.concat({apart(real), apart(imaginary)}, 4);
    y = w.reshape(pairs, {shape[0], shape[1], shape[2], turned});
  } else {
    y = w.concat({real, imaginary}, 3);
  }
  if (turned == depth) return y;
  return w.concat({y, w.slice(x, 3, turned, depth)}, 3);
}

}  // namespace sdip
