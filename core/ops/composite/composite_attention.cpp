// Attention of ai.onnx, 23 and 24: softmax(softcap(scale Q K^T) + mask) V, heads by attribute (inputs of rank 3) or
// by axis (rank 4), with a cache of earlier keys and values.
#include <limits>

#include "core/ops/attention_body.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

enum Input { q_in, k_in, v_in, mask_in, past_key_in, past_value_in, lengths_in };

/// Head counts by attribute for rank 3; sizes from the shapes.
AttentionShape shape_of(const OperatorUse& use, bool flat) {
  const std::size_t rank = flat ? 3 : 4;
  const Shape &q = shape_of_rank(use, q_in, rank), &k = shape_of_rank(use, k_in, rank),
              &v = shape_of_rank(use, v_in, rank);
  AttentionShape s;
  s.batch = q[0];
  if (flat) {
    s.heads = int_attribute(use, "q_num_heads", 0);
    s.kv_heads = int_attribute(use, "kv_num_heads", 0);
    require(use, s.heads > 0 && s.kv_heads > 0 && s.heads <= 1 << 20 && s.kv_heads <= 1 << 20,
            "inputs of rank 3 need q_num_heads and kv_num_heads");
    s.rows = q[1], s.columns = k[1];
    s.depth = q[2] / s.heads, s.value_depth = v[2] / s.kv_heads;
    if (q[2] % s.heads != 0 || k[2] != product({s.depth, s.kv_heads}) || v[2] % s.kv_heads != 0 || v[1] != k[1] ||
        k[0] != q[0] || v[0] != q[0]) {
      refuse(use, "shape_mismatch", "Q, K and V do not have as many heads as they should");
    }
    return s;
  }
  s.heads = q[1], s.kv_heads = k[1], s.rows = q[2], s.columns = k[2], s.depth = q[3], s.value_depth = v[3];
  if (v[1] != k[1] || v[2] != k[2] || k[3] != q[3] || k[0] != q[0] || v[0] != q[0])
    refuse(use, "shape_mismatch", "Q, K and V do not fit");
  return s;
}

/// The mask as a bias of the scores; one with fewer columns hides the others.
int mask_bias(BodyWriter& w, const AttentionShape& shape) {
  const Operand& mask = input(w.use, mask_in);
  const ElementType type = input(w.use, q_in).type;
  if (mask.shape.empty() || mask.shape.back() > shape.columns)
    refuse(w.use, "shape_mismatch", "mask " + shape_text(mask.shape) + " has more columns than there are keys");
  const int bias =
      mask.type == ElementType::boolean ? bias_of_mask(w, mask_in, type, -infinity) : static_cast<int>(mask_in);
  const std::int64_t missing = mask.shape.back() == 1 ? 0 : shape.columns - mask.shape.back();
  if (missing == 0) return bias;
  std::vector<std::int64_t> pads(2 * mask.shape.size(), 0);
  pads.back() = missing;
  return w.node("Pad", {bias, w.ints(pads), w.number(type, -infinity)});
}

/// Columns from each text's length on are hidden. With `bottom_right` so are those behind a row's own: the rows are
/// the text's last. 2 rows, 4 columns, length 3: row 0 sees columns 0 and 1, row 1 columns 0 to 2.
int length_bias(BodyWriter& w, const AttentionShape& shape, bool bottom_right) {
  int seen = w.reshape(lengths_in, {shape.batch, 1, 1, 1});
  if (bottom_right) seen = w.node("Add", {seen, w.reshape(w.range(1 - shape.rows, 1), {shape.rows, 1})});
  const int kept = w.node("Less", {w.range(0, shape.columns), seen});
  return bias_of_mask(w, kept, input(w.use, q_in).type, -infinity);
}

/// The value of the fourth output: scores as they are, capped, then masked, or after softmax. So ONNX 1.22 and
/// onnxruntime 1.30 for both versions; ONNX 1.18 had cap and mask the other way round.
int shown(const OperatorUse& use, const AttentionBody& made) {
  const std::int64_t mode = int_attribute(use, "qk_matmul_output_mode", 0);
  require(use, mode >= 0 && mode <= 3, "qk_matmul_output_mode must be 0 to 3");
  return mode == 0 ? made.scores : mode == 1 ? made.capped : mode == 2 ? made.biased : made.weights;
}

std::vector<int> expand_attention(BodyWriter& w, const OperatorUse& use) {
  const bool flat = input(use, q_in).shape.size() == 3;
  AttentionShape shape = shape_of(use, flat);
  int q = q_in, k = k_in, v = v_in;
  if (flat) {
    q = split_heads(w, q, shape.batch, shape.rows, shape.heads, shape.depth);
    k = split_heads(w, k, shape.batch, shape.columns, shape.kv_heads, shape.depth);
    v = split_heads(w, v, shape.batch, shape.columns, shape.kv_heads, shape.value_depth);
  }
  const std::int64_t past = put_behind_past(w, past_key_in, shape, k, v);
  AttentionOptions options;
  options.hidden_rows_are_zero = true;  // so ONNX 1.22 and onnxruntime 1.30, for both versions
  options.scale = float_attribute(use, "scale", 0);
  options.softcap = float_attribute(use, "softcap", 0);
  require(use, options.softcap >= 0, "softcap is negative");
  const std::int64_t precision = int_attribute(use, "softmax_precision", 0);
  require(use, precision == 0 || precision == 1 || precision == 10 || precision == 11 || precision == 16,
          "softmax_precision must be a float type");
  options.single_precision = precision == 1 || precision == 11;
  if (w.given(mask_in) >= 0) options.biases.push_back(mask_bias(w, shape));
  const bool causal = int_attribute(use, "is_causal", 0) != 0, cached = w.given(past_key_in) >= 0;
  const bool bottom_right = causal && !cached && w.given(lengths_in) >= 0;
  if (w.given(lengths_in) >= 0) options.biases.push_back(length_bias(w, shape, bottom_right));
  if (causal && !bottom_right) options.causal_past = past;
  const AttentionBody made = write_attention(w, q, k, v, shape, options);
  const int y = flat
                    ? join_heads(w, made.result, shape.batch, shape.rows, product({shape.heads, shape.value_depth}))
                    : made.result;
  return {y, k, v, shown(use, made)};
}

constexpr Operator composite_attention_operators[] = {
    composite<expand_attention>(
        "", "Attention", "attention", 3, 7,
        "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision", "23 24"),
};

}  // namespace

std::span<const Operator> composite_attention_rows() { return composite_attention_operators; }

}  // namespace sdip
