// Attention operators compute what the formula says, written out as loops.
#include <cmath>
#include <functional>

#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

/// One problem: sizes, and how to look up q, k and v.
struct Problem {
  std::size_t batch = 1, heads = 1, kv_heads = 1, rows = 1, columns = 1, depth = 1;
  std::function<double(std::size_t b, std::size_t h, std::size_t row, std::size_t d)> q, k, v;
  double scale = 0, softcap = 0;
  std::function<double(std::size_t b, std::size_t h, std::size_t row, std::size_t column)> bias =
      [](std::size_t, std::size_t, std::size_t, std::size_t) { return 0.0; };
};

/// [batch, heads, rows, depth]
std::vector<double> attended(const Problem& p) {
  std::vector<double> out;
  for (std::size_t i = 0; i < p.batch * p.heads * p.rows; ++i) {
    const std::size_t row = i % p.rows, h = i / p.rows % p.heads, b = i / p.rows / p.heads;
    const std::size_t shared = h / (p.heads / p.kv_heads);
    std::vector<double> weights(p.columns);
    double total = 0;
    for (std::size_t j = 0; j < p.columns; ++j) {
      double sum = 0;
      for (std::size_t d = 0; d < p.depth; ++d) sum += p.q(b, h, row, d) * p.k(b, shared, j, d);
      sum *= p.scale != 0 ? p.scale : 1 / std::sqrt(static_cast<double>(p.depth));
      if (p.softcap != 0) sum = p.softcap * std::tanh(sum / p.softcap);
      weights[j] = std::exp(sum + p.bias(b, h, row, j));
      total += weights[j];
    }
    for (std::size_t d = 0; d < p.depth; ++d) {
      double sum = 0;
      for (std::size_t j = 0; j < p.columns; ++j) sum += weights[j] / total * p.v(b, shared, j, d);
      out.push_back(sum);
    }
  }
  return out;
}

struct AttentionRun {
  std::vector<Tensor> inputs;
  Tensor y;
};

AttentionRun attention_run(const std::string& values, const std::string& body, std::int64_t opset = 23) {
  const Graph graph = import_model(model_of(values, body, opset));
  AttentionRun result{random_inputs(graph), {}};
  result.y = values_of(graph, result.inputs).at(0);
  return result;
}

/// `by_head`: y is [batch, heads, rows, depth]; else [batch, rows, heads * depth].
void expect_attended(const AttentionRun& got, const Problem& p, bool by_head) {
  const std::vector<double> want = attended(p);
  ASSERT_EQ(got.y.floats.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const std::size_t d = i % p.depth, row = i / p.depth % p.rows, h = i / p.depth / p.rows % p.heads,
                      b = i / p.depth / p.rows / p.heads;
    const std::size_t at = by_head ? i : ((b * p.rows + row) * p.heads + h) * p.depth + d;
    ASSERT_NEAR(got.y.floats[at], want[i], 2e-5) << i;
  }
}

/// Looks up [batch, heads, rows, depth], or [batch, rows, heads * depth].
auto by_head(const Tensor& t) {
  return [t](std::size_t b, std::size_t h, std::size_t row, std::size_t d) {
    const auto size = [&](std::size_t i) { return static_cast<std::size_t>(t.shape[i]); };
    return t.floats[((b * size(1) + h) * size(2) + row) * size(3) + d];
  };
}
auto flat(const Tensor& t, std::size_t depth, std::size_t offset = 0) {
  return [t, depth, offset](std::size_t b, std::size_t h, std::size_t row, std::size_t d) {
    const auto size = [&](std::size_t i) { return static_cast<std::size_t>(t.shape[i]); };
    return t.floats[(b * size(1) + row) * size(2) + offset + h * depth + d];
  };
}

constexpr double inf = HUGE_VAL;
double causal(std::size_t, std::size_t, std::size_t row, std::size_t column) { return column > row ? -inf : 0.0; }

TEST(attention_23, of_rank_4_with_shared_keys_causal_and_softcap) {
  const std::string values = "q 2,4,3,2; k 2,2,3,2; v 2,2,3,2";
  AttentionRun c = attention_run(values, "y = Attention(q, k, v)");
  Problem p{2, 4, 2, 3, 3, 2, by_head(c.inputs[0]), by_head(c.inputs[1]), by_head(c.inputs[2])};
  expect_attended(c, p, true);
  c = attention_run(values, "y = Attention{is_causal=1, softcap=1.5, scale=0.7}(q, k, v)");
  p.scale = 0.7, p.softcap = 1.5, p.bias = causal;
  expect_attended(c, p, true);
}

TEST(attention_23, of_rank_3_with_masks) {
  const std::string values = "q 2,3,8; k 2,4,4; v 2,4,4; f 3,4; m 2,1,3,4 bool";
  const std::string heads = "{q_num_heads=4, kv_num_heads=2}";
  AttentionRun c = attention_run(values, "y = Attention" + heads + "(q, k, v, f)");
  Problem p{2, 4, 2, 3, 4, 2, flat(c.inputs[0], 2), flat(c.inputs[1], 2), flat(c.inputs[2], 2)};
  p.bias = [&](std::size_t, std::size_t, std::size_t row, std::size_t column) {
    return c.inputs[3].floats[row * 4 + column];
  };
  expect_attended(c, p, false);
  c = attention_run(values,
                    "n = Or(m, Cast{to=9}(Expand(1.0, [2,1,3,1]))); y = Attention" + heads + "(q, k, v, n)");
  p.bias = [](std::size_t, std::size_t, std::size_t, std::size_t) { return 0.0; };
  expect_attended(c, p, false);
  c = attention_run(values, "y = Attention" + heads + "(q, k, v, Less([0,1,2,3], [3,3,3,3]))");
  p.bias = [](std::size_t, std::size_t, std::size_t, std::size_t column) { return column < 3 ? 0.0 : -inf; };
  expect_attended(c, p, false);
  c = attention_run(values, "y = Attention" + heads + "(q, k, v, Less([0,1], [1,9]))");
  p.bias = [](std::size_t, std::size_t, std::size_t, std::size_t column) { return column < 2 ? 0.0 : -inf; };
  expect_attended(c, p, false);
}

TEST(attention_23, with_a_cache_sees_what_came_before) {
  const std::string values = "q 1,2,2,3; k 1,2,2,3; v 1,2,2,3; a 1,2,3,3; b 1,2,3,3";
  AttentionRun c = attention_run(values, "y, n, o = Attention{is_causal=1}(q, k, v, -, a, b)");
  Problem p{1, 2, 2, 2, 5, 3, by_head(c.inputs[0]), nullptr, nullptr};
  const auto joined = [&](std::size_t past, std::size_t now) {
    return [&c, past, now](std::size_t b, std::size_t h, std::size_t row, std::size_t d) {
      return row < 3 ? by_head(c.inputs[past])(b, h, row, d) : by_head(c.inputs[now])(b, h, row - 3, d);
    };
  };
  p.k = joined(3, 1), p.v = joined(4, 2);
  p.bias = [](std::size_t, std::size_t, std::size_t row, std::size_t column) {
    return column > row + 3 ? -inf : 0.0;
  };
  expect_attended(c, p, true);
}

TEST(attention_24, hides_what_is_beyond_each_length) {
  AttentionRun c = attention_run("q 2,2,2,3; k 2,2,4,3; v 2,2,4,3; n 2 int64",
                                 "y = Attention(q, k, v, -, -, -, Add(Min(n, [2]), [1]))", 24);
  Problem p{2, 2, 2, 2, 4, 3, by_head(c.inputs[0]), by_head(c.inputs[1]), by_head(c.inputs[2])};
  p.bias = [&](std::size_t b, std::size_t, std::size_t, std::size_t column) {
    return static_cast<std::int64_t>(column) < std::min<std::int64_t>(c.inputs[3].ints[b], 2) + 1 ? 0.0 : -inf;
  };
  expect_attended(c, p, true);
}

TEST(attention_23, shows_scores_in_the_mode_asked_for_and_refuses_a_past_half_given) {
  const std::string values = "q 1,1,1,2; k 1,1,1,2; v 1,1,1,2; m 1,1";
  AttentionRun c = attention_run(values, "a, n, o, y = Attention{qk_matmul_output_mode=2, scale=1.0}(q, k, v, m)");
  const auto& in = c.inputs;
  const double score = in[0].floats[0] * in[1].floats[0] + in[0].floats[1] * in[1].floats[1];
  EXPECT_NEAR(c.y.floats.at(0), score + in[3].floats[0], 1e-5);
  c = attention_run(values, "a, n, o, y = Attention{scale=1.0, softcap=0.5}(q, k, v, m)");
  EXPECT_NEAR(c.y.floats.at(0), score, 1e-5);
  c = attention_run(values, "a, n, o, y = Attention{qk_matmul_output_mode=2, scale=1.0, softcap=0.5}(q, k, v, m)");
  EXPECT_NEAR(c.y.floats.at(0), 0.5 * std::tanh(score / 0.5) + in[3].floats[0], 1e-5) << "capped, then masked";
  c = attention_run(values, "a, n, o, y = Attention{qk_matmul_output_mode=3}(q, k, v, m)");
  EXPECT_NEAR(c.y.floats.at(0), 1.0, 1e-6);
  const auto code = [&](const std::string& body) {
    return error_of(model_of(values, body, 23).SerializeAsString()).code;
  };
  EXPECT_EQ(code("y = Attention(q, k, v, -, k)"), "unsupported_attribute");
}

TEST(contrib_attention, projects_masks_and_keeps_what_it_saw) {
  const std::string values = "x 2,3,4; w 4,12; b 12; m 2,3 int32; n 2 int32";
  const auto projected = [](const AttentionRun& c, std::size_t part) {
    return [&c, part](std::size_t b, std::size_t h, std::size_t row, std::size_t d) {
      const std::size_t column = part * 4 + h * 2 + d;
      double sum = c.inputs[2].floats[column];
      for (std::size_t i = 0; i < 4; ++i)
        sum += c.inputs[0].floats[(b * 3 + row) * 4 + i] * c.inputs[1].floats[i * 12 + column];
      return sum;
    };
  };
  AttentionRun c = attention_run(values, "y = com.microsoft.Attention{num_heads=2, unidirectional=1}(x, w, b)");
  Problem p{2, 2, 2, 3, 3, 2, projected(c, 0), projected(c, 1), projected(c, 2)};
  p.bias = causal;
  expect_attended(c, p, false);
  c = attention_run(values, "y = com.microsoft.Attention{num_heads=2, mask_filter_value=-5.0}(x, w, b, m)");
  p.bias = [&](std::size_t b, std::size_t, std::size_t, std::size_t column) {
    return c.inputs[3].ints[b * 3 + column] == 0 ? -5.0 : 0.0;
  };
  expect_attended(c, p, false);
  c = attention_run(values, "y = com.microsoft.Attention{num_heads=2, mask_filter_value=-5.0}(x, w, b, n)");
  p.bias = [&](std::size_t b, std::size_t, std::size_t, std::size_t column) {
    return static_cast<std::int64_t>(column) < c.inputs[4].ints[b] ? 0.0 : -5.0;
  };
  expect_attended(c, p, false);
}

TEST(multi_head_attention, of_three_inputs_packed_or_by_head) {
  AttentionRun c = attention_run("q 2,3,4; k 2,5,4; v 2,5,4; b 12; a 1,2,3,5",
                                 "y = com.microsoft.MultiHeadAttention{num_heads=2, scale=0.3}(q, k, v, b, -, a)");
  const auto biased = [](const AttentionRun& of, std::size_t part) {
    return [&of, part](std::size_t b, std::size_t h, std::size_t row, std::size_t d) {
      return flat(of.inputs[part], 2)(b, h, row, d) + of.inputs[3].floats[part * 4 + h * 2 + d];
    };
  };
  Problem p{2, 2, 2, 3, 5, 2, biased(c, 0), biased(c, 1), biased(c, 2), 0.3};
  p.bias = [&](std::size_t, std::size_t h, std::size_t row, std::size_t column) {
    return c.inputs[4].floats[(h * 3 + row) * 5 + column];
  };
  expect_attended(c, p, false);
  const auto packed = [](const Tensor& t, std::size_t part) {
    return [t, part](std::size_t b, std::size_t h, std::size_t row, std::size_t d) {
      const auto size = [&](std::size_t i) { return static_cast<std::size_t>(t.shape[i]); };
      return t.floats[(((b * size(1) + row) * size(2) + h) * size(3) + part) * size(4) + d];
    };
  };
  c = attention_run("q 2,3,2,3,4", "y = com.microsoft.MultiHeadAttention{num_heads=2}(q)");
  expect_attended(c, {2, 2, 2, 3, 3, 4, packed(c.inputs[0], 0), packed(c.inputs[0], 1), packed(c.inputs[0], 2)},
                  false);
  c = attention_run("q 2,3,8; k 2,5,2,2,4", "y = com.microsoft.MultiHeadAttention{num_heads=2}(q, k)");
  expect_attended(c, {2, 2, 2, 3, 5, 4, flat(c.inputs[0], 4), packed(c.inputs[1], 0), packed(c.inputs[1], 1)},
                  false);
  c = attention_run("q 2,3,8; k 2,2,5,4; v 2,2,5,4", "y = com.microsoft.MultiHeadAttention{num_heads=2}(q, k, v)");
  expect_attended(c, {2, 2, 2, 3, 5, 4, flat(c.inputs[0], 4), by_head(c.inputs[1]), by_head(c.inputs[2])}, false);
}

TEST(group_query_attention, of_a_prompt) {
  const std::string tail = ", -, -, n, t)";
  AttentionRun c =
      attention_run("q 2,3,8; k 2,3,4; v 2,3,4; n 2 int32; t 1 int32",
                    "y, a, b = com.microsoft.GroupQueryAttention{num_heads=4, kv_num_heads=2}(q, k, v" + tail);
  Problem p{2, 4, 2, 3, 3, 2, flat(c.inputs[0], 2), flat(c.inputs[1], 2), flat(c.inputs[2], 2)};
  p.bias = causal;
  expect_attended(c, p, false);
  c = attention_run("q 2,3,16; n 2 int32; t 1 int32",
                    "y, a, b = com.microsoft.GroupQueryAttention{num_heads=4, kv_num_heads=2}(q, -, -" + tail);
  p.q = flat(c.inputs[0], 2), p.k = flat(c.inputs[0], 2, 8), p.v = flat(c.inputs[0], 2, 12);
  expect_attended(c, p, false);
  EXPECT_EQ(
      error_of(model_of("q 2,3,8; k 2,3,4; v 2,3,4; p 2,2,7,2; n 2 int32; t 1 int32",
                        "y = com.microsoft.GroupQueryAttention{num_heads=4, kv_num_heads=2}(q, k, v, p, p, n, t)")
                   .SerializeAsString())
          .code,
      "input_needed");  // how long what comes out is: t is an input
}

/// Element i of x [1, 2, 1, 4] turned: rows are positions, cos and sin [5, 2] tables.
double turned(const AttentionRun& c, std::size_t i, std::size_t position, bool interleaved, std::size_t tables) {
  const std::size_t row = i / 4 * 4, at = i % 4;
  const std::size_t pair = interleaved ? at / 2 : at % 2;
  const bool first = interleaved ? at % 2 == 0 : at < 2;
  const double cos = c.inputs[tables].floats[position * 2 + pair],
               sin = c.inputs[tables + 1].floats[position * 2 + pair];
  const double a = c.inputs[0].floats[row + (interleaved ? 2 * pair : pair)];
  const double b = c.inputs[0].floats[row + (interleaved ? 2 * pair + 1 : pair + 2)];
  return first ? a * cos - b * sin : b * cos + a * sin;
}

TEST(rotary_embedding, turns_pairs_of_halves_or_neighbours) {
  for (const bool interleaved : {false, true}) {
    const std::string attributes = interleaved ? "{interleaved=1, num_heads=1}" : "{num_heads=1}";
    AttentionRun c =
        attention_run("x 1,2,4; c 5,2; s 5,2; p 1,2 int64", "y = RotaryEmbedding" + attributes + "(x, c, s, p)");
    for (std::size_t i = 0; i < 8; ++i) {
      const auto position = static_cast<std::size_t>(c.inputs[3].ints[i / 4]);
      EXPECT_NEAR(c.y.floats.at(i), turned(c, i, position, interleaved, 1), 1e-5) << i;
    }
    c = attention_run("x 1,2,4; c 1,2,2; s 1,2,2", "y = RotaryEmbedding" + attributes + "(x, c, s)");
    for (std::size_t i = 0; i < 8; ++i)
      EXPECT_NEAR(c.y.floats.at(i), turned(c, i, i / 4, interleaved, 1), 1e-5) << i;
    c = attention_run("x 1,1,2,4; p 1 int64; c 5,2; s 5,2",
                      "y = com.microsoft.RotaryEmbedding" + attributes + "(x, p, c, s)");
    for (std::size_t i = 0; i < 8; ++i) {
      const auto position = static_cast<std::size_t>(c.inputs[1].ints[0]) + i / 4;
      EXPECT_NEAR(c.y.floats.at(i), turned(c, i, position, interleaved, 2), 1e-5) << i;
    }
  }
}

TEST(rotary_embedding, is_counted_as_what_it_is) {
  for (const char* attributes : {"{interleaved=1, num_heads=1}", "{num_heads=1}"}) {
    Rewritten found = rewritten_equal("x 1,2,4; c 1,2,2; s 1,2,2",
                                      std::string("y = RotaryEmbedding") + attributes + "(x, c, s)", 23);
    EXPECT_EQ(found.counts["rotary"], 1) << attributes;
  }
}

TEST(rotary_embedding, leaves_what_is_beyond_the_turned_part) {
  const AttentionRun c = attention_run("x 1,2,6; c 5,2; s 5,2; p 1,2 int64",
                                       "y = RotaryEmbedding{num_heads=1, rotary_embedding_dim=4}(x, c, s, p)");
  for (std::size_t i : {4u, 5u, 10u, 11u}) EXPECT_EQ(c.y.floats.at(i), c.inputs[0].floats[i]);
  EXPECT_NE(c.y.floats, c.inputs[0].floats);
}

}  // namespace
}  // namespace sdip
