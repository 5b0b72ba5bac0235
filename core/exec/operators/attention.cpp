// Attention as one instruction: scores live for one tile of rows and keys, never longer.
//
// For each product (head), each tile of rows: m = -infinity, l = 0, o = 0. For each tile of keys: s = scale q k^T,
// what is fused to the scores applied; m' = max(m, max s), p = exp(s - m'), c = exp(m - m'); l = l c + sum p,
// o = o c + p v, m = m'. After the last tile of keys the rows are o / l.
//
// Example, one row, keys one by one: s = 1, 3; v = 10, 20. After the first m 1, l 1, o 10; then c = e^-2 = 0.1353,
// l = 1.1353, o = 21.353; 21.353 / 1.1353 = 18.808, as softmax(1, 3) = 0.1192, 0.8808 gives.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/exec/numbers/formats.h"
#include "core/exec/operators/finish.h"
#include "core/exec/operators/nest.h"
#include "core/exec/operators/operators.h"
#include "core/exec/operators/pointwise.h"
#include "core/exec/walk/attention_walk.h"
#include "core/ops/values.h"

namespace sdip::exec {
namespace {

/// The nodes of an attention, by what they do.
struct Attention {
  const Node *scores = nullptr, *softmax = nullptr, *product = nullptr;
  std::vector<const Node*> masks, behind;
};

Attention attention_of(const Chip& chip) {
  Attention found;
  for (const NodeId n : chip.instruction().nodes) {
    const Node* node = &chip.graph.nodes[n];
    if (node->op->type == "Softmax")
      found.softmax = node;
    else if (nest_map(chip.graph, *node))
      (found.scores == nullptr ? found.scores : found.product) = node;
    else
      (found.product == nullptr ? found.masks : found.behind).push_back(node);
  }
  check(found.product != nullptr && found.softmax != nullptr, "attention is two products and a softmax");
  return found;
}

/// Rows of one head on their way: maximum, sum and weighted sum of values so far.
struct Rows {
  std::vector<double> maximum, sum, weighted;
};

std::vector<double> read_doubles(Chip& chip, ValueId v, const Elements& at) {
  return doubles_of(read_operand(chip, v, at));
}

/// Elements first + i * a + j * b, i over rows of `i`, j over columns of `j`.
Elements grid(std::int64_t first, const Extent& i, std::int64_t a, const Extent& j, std::int64_t b) {
  Elements at;
  for (std::int64_t row = i.begin; row < i.end; ++row) at.add({first + row * a + j.begin * b, j.size(), b});
  return at;
}

struct Running {
  Chip& chip;
  const Attention& nodes;
  const NestMap scores, product;
  const Finish finish_scores, finish_product;
  std::size_t group = 0;

  std::vector<double> q{}, k{}, v{};  // tiles on chip

  void load_queries(const Extent& rows) {
    chip.stream = Stream::a;
    q = read_doubles(chip, nodes.scores->inputs[0],
                     grid(scores.a_group[group], rows, scores.a_y, {0, scores.nest.in_channels}, scores.a_k));
    chip.stream = Stream::others;
  }

  void load_keys(const Extent& keys) {
    chip.stream = Stream::b;
    k = read_doubles(chip, nodes.scores->inputs[1],
                     grid(scores.b_group[group], keys, scores.b_n, {0, scores.nest.in_channels}, scores.b_k));
    chip.stream = Stream::values;
    v = read_doubles(chip, nodes.product->inputs[1],
                     grid(product.b_group[group], keys, product.b_k, {0, product.nest.out_channels}, product.b_n));
    chip.stream = Stream::others;
  }

  /// Scores of a tile, masked, in the type that the softmax reads.
  std::vector<double> scores_of(const Extent& rows, const Extent& keys) {
    const std::int64_t depth = scores.nest.in_channels;
    const auto width = as_size(depth);
    const NumberFormat kept = accumulator_of(chip);
    std::vector<double> sums;
    for (std::size_t row = 0; row < as_size(rows.size()); ++row)
      for (std::size_t key = 0; key < as_size(keys.size()); ++key) {
        double sum = 0;
        for (std::size_t i = 0; i < width; ++i) sum += q[row * width + i] * k[key * width + i];
        sums.push_back(accumulated(kept, sum));
      }
    TileValues tile{
        grid(static_cast<std::int64_t>(group) * scores.out_group, rows, scores.out_p, keys, scores.out_n),
        nodes.scores->outputs[0]};
    tile.made[tile.current] = finish_scores(tile.at, std::span<const double>(sums));
    for (const Node* mask : nodes.masks) apply_pointwise(chip, *mask, tile);
    return doubles_of(tile.made.at(tile.current));
  }

  void add_keys(Rows& state, const std::vector<double>& s, const Extent& rows, const Extent& keys) {
    const auto count = as_size(keys.size());
    const auto values = as_size(product.nest.out_channels);
    const NumberFormat sums = accumulator_of(chip);
    for (std::size_t row = 0; row < as_size(rows.size()); ++row) {
      const double* of_row = s.data() + row * count;
      const double maximum = std::max(state.maximum[row], *std::max_element(of_row, of_row + count));
      const bool nothing = std::isinf(maximum) && maximum < 0;  // all keys so far are masked
      const double kept = nothing ? 1 : std::exp(state.maximum[row] - maximum);
      state.sum[row] *= kept;
      double* weighted = state.weighted.data() + row * values;
      for (std::size_t i = 0; i < values; ++i) weighted[i] *= kept;
      for (std::size_t key = 0; key < count && !nothing; ++key) {
        const double p = std::exp(of_row[key] - maximum);
        state.sum[row] += p;
        for (std::size_t i = 0; i < values; ++i) weighted[i] += p * v[key * values + i];
      }
      for (std::size_t i = 0; i < values; ++i) weighted[i] = accumulated(sums, weighted[i]);
      state.maximum[row] = maximum;
    }
  }
};

}  // namespace

void run_attention(Chip& chip) {
  const Attention nodes = attention_of(chip);
  Running run{chip,
              nodes,
              *nest_map(chip.graph, *nodes.scores),
              *nest_map(chip.graph, *nodes.product),
              Finish(chip, *nodes.scores),
              Finish(chip, *nodes.product)};
  const Operators ends{{}, nodes.behind, nodes.product};
  const LoopNest& nest = run.scores.nest;
  const std::int64_t values = run.product.nest.out_channels;
  check(nest.groups == run.product.nest.groups && nest.out_h == run.product.nest.out_h, "scores and product agree");
  Rows state;
  for_each_attention_step(nest, chip.instruction_class().mapping, [&](const AttentionStep& step) {
    begin_operation(chip, step.head < nest.groups / chip.instruction_class().spread_cores);
    chip.counts.rescaled_tiles += step.first ? 0 : 1;
    run.group = as_size(step.head);
    const auto count = as_size(step.queries.size());
    if (step.first) {
      run.load_queries(step.queries);
      state = {std::vector<double>(count, -std::numeric_limits<double>::infinity()),
               std::vector<double>(count, 0.0), std::vector<double>(count * as_size(values), 0.0)};
    }
    if (step.loads_keys) run.load_keys(step.keys);
    run.add_keys(state, run.scores_of(step.queries, step.keys), step.queries, step.keys);
    if (!step.last) return;
    for (std::size_t i = 0; i < state.weighted.size(); ++i) state.weighted[i] /= state.sum[i / as_size(values)];
    const auto at = grid(static_cast<std::int64_t>(run.group) * run.product.out_group, step.queries,
                         run.product.out_p, {0, values}, run.product.out_n);
    end_tile(chip, ends, nodes.product->outputs[0], at,
             pieces_of(run.finish_product(at, std::span<const double>(state.weighted))));
  });
}

}  // namespace sdip::exec
