// Idioms of attention, written out as exporters do: masks, caches, rotary embeddings, windows, two streams.
#include <algorithm>
#include <cmath>

#include "tests/generate/idioms.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

struct Sizes {
  std::int64_t batch, rows, heads, kv_heads, depth, past;
  std::int64_t width() const { return heads * depth; }
  std::int64_t total() const { return past + rows; }
};

Sizes drawn_sizes(Making& m) {
  Sizes s{m.draw.between(1, 2), m.draw.between(1, 5), 0, m.draw.between(1, 2), 2 * m.draw.between(1, 3), 0};
  s.heads = s.kv_heads * m.draw.between(1, 2);
  if (m.draw.one_in(3)) s.past = m.draw.between(1, 3);
  return s;
}

/// x W (+ b), as MatMul and Add, or as Gemm of the rows.
int projected(Making& m, int x, std::int64_t width) {
  const ElementType type = m.at(x).type;
  const Shape s = m.shape(x);
  const int weights = m.weight(type, {s.back(), width}, {-1, 1});
  if (m.draw.one_in(4) && element_count(s) > 0) {
    const int flat = m.op("Reshape", {x, m.ints({-1, s.back()})});
    const int y = m.op("Gemm", {flat, weights, m.weight(type, {width})});
    return m.op("Reshape", {y, m.ints({s[0], s[1], width})});
  }
  const int y = m.op("MatMul", {x, weights});
  if (m.draw.one_in(3)) return y;
  const int bias = m.weight(type, {width});
  return m.op("Add", m.draw.one_in(2) ? Made{bias, y} : Made{y, bias});
}

/// [batch, rows, heads depth] to [batch, heads, rows, depth], by known sizes, 0 and -1, or sizes gathered.
int by_head(Making& m, int x, const Sizes& s, std::int64_t heads) {
  int shape = absent;
  const std::int64_t kind = m.draw.between(0, 2);
  if (kind == 0) shape = m.ints({s.batch, -1, heads, s.depth});
  if (kind == 1) shape = m.ints({0, 0, heads, s.depth});
  if (kind == 2) shape = listed(m, {size_of(m, x, 0), size_of(m, x, 1), whole(m, heads), whole(m, s.depth)});
  return transposed(m, m.op("Reshape", {x, shape}), {0, 2, 1, 3});
}

int joined_heads(Making& m, int x, const Sizes& s) {
  const int y = transposed(m, x, {0, 2, 1, 3});
  if (m.draw.one_in(3))
    return m.op("Reshape", {y, listed(m, {size_of(m, y, 0), size_of(m, y, 1), whole(m, s.width())})});
  return m.op("Reshape", {y, m.draw.one_in(2) ? m.ints({0, 0, -1}) : m.ints({s.batch, s.rows, s.width()})});
}

/// Keys and values of fewer heads than there are queries: Unsqueeze, Expand, Reshape.
int repeated(Making& m, int x, const Sizes& s) {
  const std::int64_t times = s.heads / s.kv_heads;
  if (times == 1) return x;
  const Shape shape = m.shape(x);
  const int wide = m.op("Expand", {unsqueeze(m, x, {2}), m.ints({shape[0], s.kv_heads, times, shape[2], s.depth})});
  return m.op("Reshape", {wide, m.ints({shape[0], s.heads, shape[2], s.depth})});
}

/// What is added to scores: of later keys, of padding, from outside.
int mask_of(Making& m, const Sizes& s, ElementType type) {
  const double never = type == ElementType::float16 ? -60000 : -1e9;
  switch (m.draw.between(0, 3)) {
    case 0: {  // Trilu of a matrix of such numbers
      const int all = m.op("Expand", {m.scalar(type, never), m.ints({s.rows, s.total()})});
      if (m.opset < 14) return all;
      return m.op("Trilu", {all, whole(m, s.past + 1)}, {{"upper", 1}});
    }
    case 1: {  // places compared
      const int keys = m.op("Range", {whole(m, 0), whole(m, s.total()), whole(m, 1)});
      const int places =
          m.op("Add", {m.op("Range", {whole(m, 0), whole(m, s.rows), whole(m, 1)}), whole(m, s.past)});
      const int later = m.op("Less", {unsqueeze(m, places, {1}), unsqueeze(m, keys, {0})});
      return m.op("Where", {later, m.scalar(type, never), m.scalar(type, 0)});
    }
    case 2: {  // (1 - mask) times such a number
      const int mask = m.input(ElementType::int64, {s.batch, s.total()}, {1, 1});
      const int wide = m.cast(unsqueeze(m, mask, {1, 2}), type);
      return m.op("Mul", {m.op("Sub", {m.scalar(type, 1), wide}), m.scalar(type, never)});
    }
    default:
      return m.like(type, {s.batch, 1, s.rows, s.total()});
  }
}

/// softmax(q k' / sqrt(depth) + mask) v.
int attended(Making& m, int q, int k, int v, const Sizes& s, int mask) {
  const double root = std::sqrt(static_cast<double>(s.depth));
  int keys = transposed(m, k, {0, 1, 3, 2}), queries = q;
  const std::int64_t scaling = m.draw.between(0, 2);
  if (scaling == 0) {  // both, as scaled_dot_product_attention has it
    queries = with_number(m, "Mul", q, 1 / std::sqrt(root));
    keys = with_number(m, "Mul", keys, 1 / std::sqrt(root));
  }
  int scores = m.op("MatMul", {queries, keys});
  if (scaling == 1) scores = with_number(m, "Div", scores, root);
  if (mask != absent) scores = m.op("Add", {scores, mask});
  const bool wide = m.at(scores).type == ElementType::float16 && m.draw.one_in(3);
  const ElementType type = m.at(scores).type;
  int weights =
      m.op("Softmax", {wide ? m.cast(scores, ElementType::float32) : scores}, {{"axis", m.opset < 13 ? 3 : -1}});
  if (wide) weights = m.cast(weights, type);
  return m.op("MatMul", {weights, v});
}

/// cos and sin of places times frequencies, [1, rows, depth or half].
std::pair<int, int> angles(Making& m, const Sizes& s, ElementType type, bool doubled) {
  const int frequencies = m.constant(ElementType::float32, {1, s.depth / 2, 1}, {0, 1});
  const int places = maybe(m)
                         ? m.input(ElementType::int64, {1, s.rows}, {0, 7})
                         : unsqueeze(m, m.op("Range", {whole(m, s.past), whole(m, s.total()), whole(m, 1)}), {0});
  const int row = m.cast(unsqueeze(m, places, {1}), ElementType::float32);
  int turned = transposed(m, m.op("MatMul", {frequencies, row}), {0, 2, 1});
  if (doubled) turned = joined(m, {turned, turned}, -1);
  const auto of = [&](const char* function) {
    const int y = m.op(function, {turned});
    return type == ElementType::float32 ? y : m.cast(y, type);
  };
  return {of("Cos"), of("Sin")};
}

/// x cos + rotate_half(x) sin, as Llama has it.
int turned_by_halves(Making& m, int x, const Sizes& s, int cos, int sin) {
  const std::int64_t half = s.depth / 2;
  const int front = slice(m, x, m.draw.one_in(2) ? 3 : -1, 0, half), back = slice(m, x, 3, half, furthest);
  const int turned = joined(m, {m.op("Neg", {back}), front}, -1);
  return m.op("Add", {m.op("Mul", {x, unsqueeze(m, cos, {1})}), m.op("Mul", {turned, unsqueeze(m, sin, {1})})});
}

/// Neighbours turned against each other, as Flux and GPT-J have it.
int turned_by_pairs(Making& m, int x, const Sizes& s, int cos, int sin) {
  const Shape shape = m.shape(x);
  const Shape paired{shape[0], shape[1], shape[2], s.depth / 2, 2};
  const int pairs = m.op("Reshape", {x, m.ints(paired)});
  const auto one = [&](std::int64_t i) { return m.op("Gather", {pairs, whole(m, i)}, {{"axis", 4}}); };
  const int a = one(0), b = one(1), c = unsqueeze(m, cos, {1}), d = unsqueeze(m, sin, {1});
  const int even = m.op("Sub", {m.op("Mul", {a, c}), m.op("Mul", {b, d})});
  const int odd = m.op("Add", {m.op("Mul", {b, c}), m.op("Mul", {a, d})});
  const int both = joined(m, {unsqueeze(m, even, {4}), unsqueeze(m, odd, {4})}, 4);
  return m.op("Reshape", {both, m.ints(shape)});
}

/// Llama's, GPT-2's, BERT's: with or without rotary embedding, a cache, shared heads, a mask.
Made attention(Making& m, const Row&, ElementType type) {
  const Sizes s = drawn_sizes(m);
  const int x = m.like(type, {s.batch, s.rows, m.draw.between(2, 8)});
  int q, k, v;
  if (s.heads == s.kv_heads && maybe(m)) {
    const Made parts = split(m, projected(m, x, 3 * s.width()), {s.width(), s.width(), s.width()}, 2);
    q = by_head(m, parts[0], s, s.heads), k = by_head(m, parts[1], s, s.heads),
    v = by_head(m, parts[2], s, s.heads);
  } else {
    q = by_head(m, projected(m, x, s.width()), s, s.heads);
    k = by_head(m, projected(m, x, s.kv_heads * s.depth), s, s.kv_heads);
    v = by_head(m, projected(m, x, s.kv_heads * s.depth), s, s.kv_heads);
  }
  if (maybe(m)) {
    const bool halves = maybe(m);
    const auto [cos, sin] = angles(m, s, type, halves);
    const auto turned = [&, c = cos, d = sin](int one) {
      return halves ? turned_by_halves(m, one, s, c, d) : turned_by_pairs(m, one, s, c, d);
    };
    q = turned(q), k = turned(k);
  }
  if (s.past > 0) {
    const Shape cache{s.batch, s.kv_heads, s.past, s.depth};
    k = joined(m, {m.input(type, cache), k}, maybe(m) ? 2 : -2);
    v = joined(m, {m.input(type, cache), v}, 2);
  }
  const int mask = maybe(m) ? mask_of(m, s, type) : absent;
  const int y = joined_heads(m, attended(m, q, repeated(m, k, s), repeated(m, v, s), s, mask), s);
  return {m.op("Add", {x, projected(m, y, m.shape(x)[2])})};
}

/// Swin's: windows by Reshape and Transpose, maybe shifted, each attending within with a bias by place.
Made windows(Making& m, const Row&, ElementType type) {
  const std::int64_t batch = m.draw.between(1, 2), side = 2, across = m.draw.between(1, 2),
                     down = m.draw.between(1, 2), heads = m.draw.between(1, 2), depth = m.draw.between(1, 3),
                     width = heads * depth;
  const std::int64_t height = down * side, length = across * side, count = side * side;
  int x = m.like(type, {batch, height, length, width});
  const bool shifted = maybe(m);
  const auto shift = [&](std::int64_t by) {
    for (const std::int64_t axis : {1, 2})
      x = joined(m, {slice(m, x, axis, by, furthest), slice(m, x, axis, 0, by)}, axis);
  };
  if (shifted) shift(1);
  x = transposed(m, m.op("Reshape", {x, m.ints({batch, down, side, across, side, width})}), {0, 1, 3, 2, 4, 5});
  x = m.op("Reshape", {x, m.ints({-1, count, width})});
  const std::int64_t all = batch * down * across;
  const int qkv = m.op("Reshape", {projected(m, x, 3 * width), m.ints({all, count, 3, heads, depth})});
  const int parts = transposed(m, qkv, {2, 0, 3, 1, 4});
  const auto part = [&](std::int64_t i) { return m.op("Gather", {parts, whole(m, i)}, {{"axis", 0}}); };
  const int table = m.weight(type, {9, heads});
  const int places = m.constant(ElementType::int64, {count * count}, {0, 8});
  const int bias = m.op("Reshape", {m.op("Gather", {table, places}), m.ints({count, count, heads})});
  int scores = m.op("MatMul", {with_number(m, "Mul", part(0), 0.5), transposed(m, part(1), {0, 1, 3, 2})});
  scores = m.op("Add", {scores, unsqueeze(m, transposed(m, bias, {2, 0, 1}), {0})});
  if (shifted) {
    const int mask = m.constant(type, {down * across, count, count}, {-4, 0});
    const int apart = m.op("Reshape", {scores, m.ints({batch, down * across, heads, count, count})});
    const int masked = m.op("Add", {apart, unsqueeze(m, unsqueeze(m, mask, {1}), {0})});
    scores = m.op("Reshape", {masked, m.ints({-1, heads, count, count})});
  }
  int y = m.op("MatMul", {m.op("Softmax", {scores}, {{"axis", m.opset < 13 ? 3 : -1}}), part(2)});
  y = m.op("Reshape", {transposed(m, y, {0, 2, 1, 3}), m.ints({all, count, width})});
  y = m.op("Reshape", {y, m.ints({batch, down, across, side, side, width})});
  x = m.op("Reshape", {transposed(m, y, {0, 1, 3, 2, 4, 5}), m.ints({batch, height, length, -1})});
  if (shifted) shift(-1);
  return {x};
}

/// (1 + scale) norm(x) + shift, a block, gate times its result added: DiT and Flux. Shift, scale and gate are parts
/// of one projection of silu(c).
Made modulated(Making& m, const Row&, ElementType type) {
  const std::int64_t batch = m.draw.between(1, 2), rows = m.draw.between(1, 4), width = m.draw.between(2, 6);
  const int x = m.like(type, {batch, rows, width}), c = m.like(type, {batch, m.draw.between(2, 6)});
  const int silu = m.op("Mul", {c, m.op("Sigmoid", {c})});
  const int all = m.op("Gemm", {silu, m.weight(type, {m.shape(c)[1], 3 * width}), m.weight(type, {3 * width})});
  const Made parts = split(m, maybe(m) ? all : unsqueeze(m, all, {1}), {width, width, width}, -1);
  const auto wide = [&](int part) { return m.shape(part).size() == 3 ? part : unsqueeze(m, part, {1}); };
  const int centred = m.op("Sub", {x, reduced(m, "ReduceMean", x, {-1})});
  const int variance = reduced(m, "ReduceMean", m.op("Mul", {centred, centred}), {-1});
  const int norm = m.op("Div", {centred, m.op("Sqrt", {with_number(m, "Add", variance, 0.01)})});
  const int scale = with_number(m, "Add", wide(parts[1]), 1);
  int y = m.op("Add", {m.op("Mul", {norm, scale}), wide(parts[0])});
  y = projected(m, y, width);
  return {m.op("Add", {x, m.op("Mul", {wide(parts[2]), y})})};
}

/// Two streams attend together and part again: Flux and SD3.
Made two_streams(Making& m, const Row&, ElementType type) {
  Sizes s{m.draw.between(1, 2), 0, m.draw.between(1, 2), 0, 2 * m.draw.between(1, 2), 0};
  const std::int64_t text = m.draw.between(1, 3), image = m.draw.between(1, 4);
  s.rows = text + image, s.kv_heads = s.heads;
  const int a = m.like(type, {s.batch, text, s.width()}), b = m.like(type, {s.batch, image, s.width()});
  const auto both = [&] {
    return by_head(m, joined(m, {projected(m, a, s.width()), projected(m, b, s.width())}, 1), s, s.heads);
  };
  const int q = both(), k = both(), v = both();
  const int y = joined_heads(m, attended(m, q, k, v, s, absent), s);
  if (maybe(m)) {
    const Made parts = split(m, y, {text, image}, 1);
    return {m.op("Add", {a, parts[0]}), m.op("Add", {b, parts[1]})};
  }
  return {m.op("Add", {a, slice(m, y, 1, 0, text)}), m.op("Add", {b, slice(m, y, 1, text, furthest)})};
}

constexpr Row attention_idioms_table[] = {
    {"idiom", "attention", half_floats, attention, -1, 99, idioms_from},
    {"idiom", "modulated", half_floats, modulated, -1, 99, idioms_from},
    {"idiom", "two_streams", half_floats, two_streams, -1, 99, idioms_from},
    {"idiom", "windows", half_floats, windows, -1, 99, idioms_from},
};

}  // namespace

std::span<const Row> attention_idioms() { return attention_idioms_table; }

}  // namespace sdip::generate
