// Attention as nodes: what the operators of ai.onnx and com.microsoft have in common.
#pragma once

#include <optional>
#include <vector>

#include "core/ops/body.h"

namespace sdip {

/// q [batch, heads, rows, depth], k [batch, kv_heads, columns, depth], v [batch, kv_heads, columns, value_depth],
/// which are body values; heads are a multiple of kv_heads, and each k and v serves heads / kv_heads q in a row.
struct AttentionShape {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, rows = 1, columns = 1, depth = 1, value_depth = 1;
};

struct AttentionOptions {
  double scale = 0;               // 0: 1 / sqrt(depth)
  double softcap = 0;             // 0: none
  std::vector<int> biases;        // added to the scores in turn, each broadcast to [batch, heads, rows, columns]
  std::int64_t causal_past = -1;  // 0 or more: row i sees columns up to i + causal_past
  std::int64_t window = 0;        // with it: of those, so many; 0: all
  int sink = -1;  // a score more, that broadcasts to [batch, heads, rows, 1]; no column has its weight
  bool hidden_rows_are_zero = false;  // rows whose biases are all -inf, which softmax makes no numbers
  bool single_precision = false;      // softmax in float32 whatever the type
  std::optional<ElementType> type;    // of q; that of the first input where not said
};

struct AttentionBody {
  int result = -1;                                          // [batch, heads, rows, value_depth]
  int scores = -1, capped = -1, biased = -1, weights = -1;  // [batch, heads, rows, columns]
};

/// The number of heads in an attribute, and the elements of each; refused where there are none, or they do not fit.
std::int64_t heads_of(const OperatorUse& use, const char* name);
std::int64_t depth_of(const OperatorUse& use, std::int64_t width, std::int64_t heads);

/// The keys and values of a cache, [batch, heads, past, depth], before k and v: input `past_key` and the one behind
/// it, where they are given. Returns past, 0 without a cache; the shape's columns then are all keys.
std::int64_t put_behind_past(BodyWriter& w, std::size_t past_key, AttentionShape& shape, int& k, int& v);

/// softmax(softcap(scale q k^T) + biases) v. Refuses heads that do not share kv_heads evenly.
AttentionBody write_attention(BodyWriter& w, int q, int k, int v, const AttentionShape& shape,
                              const AttentionOptions& options);

/// x [batch, rows, heads * depth] as [batch, heads, rows, depth], and back.
int split_heads(BodyWriter& w, int x, std::int64_t batch, std::int64_t rows, std::int64_t heads,
                std::int64_t depth);
int join_heads(BodyWriter& w, int x, std::int64_t batch, std::int64_t rows, std::int64_t width);

/// A float mask: 0 where the integer or boolean `kept` is not 0, else `hidden`.
int bias_of_mask(BodyWriter& w, int kept, ElementType type, double hidden);

/// Rotary embedding of x [batch, rows, heads, depth] by cos and sin, which broadcast to [batch, rows, 1, turned /
/// 2]: of the first `turned` elements, pairs (i, i + turned / 2), or (2 i, 2 i + 1) when interleaved, are turned.
int write_rotary(BodyWriter& w, int x, int cos, int sin, const Shape& shape, std::int64_t turned, bool interleaved);

}  // namespace sdip
