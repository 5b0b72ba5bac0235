// GroupQueryAttention (com.microsoft): attention with a cache of keys and values, heads that share them, rotary
// embedding, a window, a sink, a soft cap. A prompt has as many rows as keys; later rows stand behind those in the
// cache: behind as many in every text of the batch, or, where lengths differ, each behind its own.
#include <algorithm>
#include <limits>

#include "core/ops/attention_body.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

enum GroupQueryPlace : std::size_t {
  queries_at,
  keys_at,
  values_at,
  past_keys_at,
  past_values_at,
  lengths_at,
  total_at,
  cos_at,
  sin_at,
  places_at,
  bias_at,
  sink_at,
  key_scale_at,
  value_scale_at,
  query_norm_at,
  key_norm_at
};

struct GroupQuery {
  AttentionShape shape;       // its columns are all keys that some row may see
  std::int64_t capacity = 0;  // keys that the cache given has room for
  std::int64_t past = 0;      // keys before the rows
  bool prompt = true;
  int starts = -1;  // [batch], int64: keys before the rows of each text, where they differ
  std::int64_t present() const { return std::max(capacity, shape.columns); }
};

void require_known(const OperatorUse& use) {
  for (const std::size_t i : {key_scale_at, value_scale_at})
    require(use, optional_input(use, i) == nullptr, "a quantised cache is not supported");
  for (const char* name : {"k_quant_type", "v_quant_type"})
    require(use, string_attribute(use, name, "NONE") == "NONE", "a quantised cache is not supported");
  require(use, int_attribute(use, "sliding_window_cache", 0) == 0, "a cache of the window's size is not supported");
  require(use, int_attribute(use, "qk_output", 0) != 1, "qk_output 1 (scores before softmax) is not supported");
}

/// How many keys there are: with a cache the model must say, since the size of what comes out depends on it.
std::int64_t total_of(const OperatorUse& use, const GroupQuery& g) {
  if (g.capacity == 0) return g.shape.rows;
  const auto total = ints_of_input(use, total_at);
  if (total.size() != 1 || total[0] < g.shape.rows || total[0] - g.shape.rows > g.capacity)
    refuse(use, "shape_mismatch", "total_sequence_length does not fit the cache and the rows");
  return total[0];
}

/// Whether every text of the batch is known to be as long as the longest.
bool equally_long(const OperatorUse& use, const GroupQuery& g) {
  const Operand& lengths = input(use, lengths_at);
  if (g.shape.batch == 1) return true;
  return lengths.value &&
         std::ranges::all_of(lengths.value->ints, [&](std::int64_t last) { return last + 1 == g.shape.columns; });
}

/// The last key of each text, [batch], as int64.
int last_keys(BodyWriter& w) { return w.cast(static_cast<int>(lengths_at), ElementType::int64); }

GroupQuery sizes_of(BodyWriter& w) {
  const OperatorUse& use = w.use;
  require_known(use);
  GroupQuery g;
  AttentionShape& s = g.shape;
  s.heads = heads_of(use, "num_heads"), s.kv_heads = heads_of(use, "kv_num_heads");
  require(use, s.heads % s.kv_heads == 0, "num_heads is no multiple of kv_num_heads");
  const Shape& query = shape_of_rank(use, queries_at, 3);
  const bool packed = w.given(keys_at) < 0;
  s.batch = query[0], s.rows = query[1];
  s.depth = s.value_depth = depth_of(use, query[2], packed ? s.heads + 2 * s.kv_heads : s.heads);
  const std::int64_t narrow = product({s.kv_heads, s.depth});
  for (const std::size_t i : {keys_at, values_at}) {
    if (!packed && shape_of_rank(use, i, 3) != Shape{s.batch, s.rows, narrow})
      refuse(use, "shape_mismatch", "key or value does not fit the query");
  }
  require(use, (w.given(past_keys_at) < 0) == (w.given(past_values_at) < 0), "past_key and past_value go together");
  if (w.given(past_keys_at) >= 0) g.capacity = shape_of_rank(use, past_keys_at, 4)[2];
  for (const std::size_t i : {past_keys_at, past_values_at}) {
    if (w.given(i) >= 0 && input(use, i).shape != Shape{s.batch, s.kv_heads, g.capacity, s.depth})
      refuse(use, "shape_mismatch", "the cache does not fit the query");
  }
  s.columns = total_of(use, g);
  g.past = s.columns - s.rows;
  g.prompt = g.past == 0;
  if (shape_of_rank(use, lengths_at, 1)[0] != s.batch)
    refuse(use, "shape_mismatch", "seqlens_k is no list of batch");
  // Rows of a prompt beyond a text's length are padding: what they see counts for nothing.
  if (!g.prompt && !equally_long(use, g)) g.starts = w.node("Sub", {last_keys(w), w.ints({s.rows - 1})});
  return g;
}

/// The places of each text's rows among its keys, [batch, rows]. Requires `starts`.
int own_places(BodyWriter& w, const GroupQuery& g) {
  return w.node("Add", {w.reshape(g.starts, {g.shape.batch, 1}), w.range(0, g.shape.rows)});
}

/// Rows of the rotary table `i` that belong to the rows, as [batch or 1, rows, 1, half].
int angles(BodyWriter& w, const GroupQuery& g, std::size_t i, std::int64_t half) {
  const AttentionShape& s = g.shape;
  const int table = static_cast<int>(i), places = w.given(places_at);
  const auto gathered = [&](int rows) { return w.node("Gather", {table, rows}, {{"axis", std::int64_t{0}}}); };
  if (places >= 0) {
    if (shape_of_rank(w.use, places_at, 2) != Shape{s.batch, s.rows})
      refuse(w.use, "shape_mismatch", "position_ids must be batch x rows");
    // A prompt is looked at by its first place alone.
    const int first = g.prompt ? w.reshape(w.slice(w.reshape(places, {-1}), 0, 0, 1), {1, 1}) : -1;
    const int rows = g.prompt ? w.node("Add", {first, w.range(0, s.rows)}) : places;
    return w.node("Unsqueeze", {gathered(rows), w.ints({2})});
  }
  if (g.starts >= 0) return w.node("Unsqueeze", {gathered(own_places(w, g)), w.ints({2})});
  return w.reshape(w.slice(table, 0, g.past, g.past + s.rows), {1, s.rows, 1, half});
}

/// q and k turned by their places, where the operator says so.
void turn(BodyWriter& w, const GroupQuery& g, int& q, int& k) {
  const OperatorUse& use = w.use;
  if (int_attribute(use, "do_rotary", 0) == 0) return;
  const AttentionShape& s = g.shape;
  const bool interleaved = int_attribute(use, "rotary_interleaved", 0) != 0;
  const Shape& table = shape_of_rank(use, cos_at, 2);
  if (table[0] < s.columns || table[1] < 1 || 2 * table[1] > s.depth || shape_of_rank(use, sin_at, 2) != table)
    refuse(use, "shape_mismatch", "the rotary tables do not fit");
  const int cos = angles(w, g, cos_at, table[1]), sin = angles(w, g, sin_at, table[1]);
  q = write_rotary(w, q, cos, sin, {s.batch, s.rows, s.heads, s.depth}, 2 * table[1], interleaved);
  k = write_rotary(w, k, cos, sin, {s.batch, s.rows, s.kv_heads, s.depth}, 2 * table[1], interleaved);
}

/// `cache` with zeros behind, so that it has room for as many keys as the present one.
int extended(BodyWriter& w, const GroupQuery& g, int cache, std::int64_t keys) {
  if (keys == g.present()) return cache;
  return w.node("Pad", {cache, w.ints({0, 0, 0, 0, 0, 0, g.present() - keys, 0})});
}

/// Keys or values that rows see, and the cache with the new ones in it.
struct Cached {
  int seen = -1, present = -1;
};

/// `fresh`, [batch, kv_heads, rows, depth], behind what the cache holds. Cache 6, past 3, 1 row: keys 0 to 2 of the
/// cache, the row's, then 2 of zeros.
Cached cached(BodyWriter& w, const GroupQuery& g, std::size_t cache_in, int fresh) {
  const int cache = static_cast<int>(cache_in);
  if (g.starts >= 0) {
    const int room = extended(w, g, cache, g.capacity);
    const int present = w.node("TensorScatter", {room, fresh, g.starts}, {{"axis", std::int64_t{2}}});
    return {g.present() == g.shape.columns ? present : w.slice(present, 2, 0, g.shape.columns), present};
  }
  Cached made{fresh, -1};
  if (g.past > 0) {
    const int before = g.past == g.capacity ? cache : w.slice(cache, 2, 0, g.past);
    made.seen = w.concat({before, fresh}, 2);
  }
  made.present = extended(w, g, made.seen, g.shape.columns);
  return made;
}

/// Hides later keys from each row, and those before its window; without `causal` those behind a text's end.
void hide(BodyWriter& w, const GroupQuery& g, ElementType type, AttentionOptions& options) {
  const OperatorUse& use = w.use;
  const AttentionShape& s = g.shape;
  const std::int64_t window = int_attribute(use, "local_window_size", -1);
  const bool causal = int_attribute(use, "causal", 1) != 0;
  require(use, causal || window <= 0, "a window without causal");
  if (causal && g.starts < 0) {
    options.causal_past = g.past, options.window = std::max<std::int64_t>(window, 0);
    return;
  }
  if (!causal && equally_long(use, g)) return;
  const int keys = w.range(0, s.columns);
  const int places =
      causal ? w.reshape(own_places(w, g), {s.batch, 1, s.rows, 1}) : w.reshape(last_keys(w), {s.batch, 1, 1, 1});
  int hidden = w.node("Less", {places, keys});
  if (window > 0) {
    const int before = w.node("Less", {keys, w.node("Sub", {places, w.ints({window - 1})})});
    hidden = w.node("Or", {hidden, before});
  }
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  options.biases.push_back(bias_of_mask(w, w.node("Not", {hidden}), type, nothing));
}

/// A score more for the denominator of each head: its own, or 0 for all.
int sink_of(BodyWriter& w, const GroupQuery& g, ElementType type) {
  const OperatorUse& use = w.use;
  if (w.given(sink_at) >= 0) {
    if (shape_of_rank(use, sink_at, 1)[0] != g.shape.heads)
      refuse(use, "shape_mismatch", "head_sink must be one a head");
    return w.reshape(static_cast<int>(sink_at), {1, g.shape.heads, 1, 1});
  }
  return int_attribute(use, "smooth_softmax", 0) > 0 ? w.number(type, 0) : -1;
}

/// Each head's elements over their root mean square, as Qwen 3 has it before the rotary embedding.
int normed(BodyWriter& w, std::size_t scale, int x) {
  if (w.given(scale) < 0) return x;
  return w.node("sdip.RMSNorm", {x, static_cast<int>(scale)},
                {{"axis", std::int64_t{-1}}, {"epsilon", float_attribute(w.use, "qk_norm_epsilon", 1e-6)}});
}

std::vector<int> expand_group_query(BodyWriter& w, const OperatorUse& use) {
  const GroupQuery g = sizes_of(w);
  const AttentionShape& s = g.shape;
  const ElementType type = input(use, queries_at).type;
  const std::int64_t wide = product({s.heads, s.depth}), narrow = product({s.kv_heads, s.depth});
  std::vector<int> parts = {queries_at, keys_at, values_at};
  if (w.given(keys_at) < 0) {
    parts = w.nodes("Split", {0, w.ints({wide, narrow, narrow})}, {{"axis", std::int64_t{2}}}, 3);
  }
  int q = normed(w, query_norm_at, w.reshape(parts[0], {s.batch, s.rows, s.heads, s.depth}));
  int k = normed(w, key_norm_at, w.reshape(parts[1], {s.batch, s.rows, s.kv_heads, s.depth}));
  turn(w, g, q, k);
  const auto by_head = [&](int x) { return w.transpose(x, {0, 2, 1, 3}); };
  const Cached keys = cached(w, g, past_keys_at, by_head(k));
  const Cached values =
      cached(w, g, past_values_at, by_head(w.reshape(parts[2], {s.batch, s.rows, s.kv_heads, s.depth})));
  AttentionOptions options;
  options.scale = float_attribute(use, "scale", 0);
  options.softcap = float_attribute(use, "softcap", 0);
  options.sink = sink_of(w, g, type);
  if (w.given(bias_at) >= 0) options.biases.push_back(static_cast<int>(bias_at));
  hide(w, g, type, options);
  const AttentionBody made = write_attention(w, by_head(q), keys.seen, values.seen, s, options);
  const int weights = int_attribute(use, "qk_output", 0) == 2 ? made.weights : -1;
  return {join_heads(w, made.result, s.batch, s.rows, wide), keys.present, values.present, weights};
}

constexpr Operator composite_group_query_operators[] = {
    composite<expand_group_query>(
        "com.microsoft", "GroupQueryAttention", "attention", 7, 16,
        "causal do_rotary k_quant_type kv_cache_bit_width kv_num_heads local_window_size num_heads qk_norm_epsilon "
        "qk_output rotary_interleaved scale sliding_window_cache smooth_softmax softcap v_quant_type"),
};

}  // namespace

std::span<const Operator> composite_group_query_rows() { return composite_group_query_operators; }

}  // namespace sdip
