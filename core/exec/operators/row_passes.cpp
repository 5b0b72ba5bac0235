// Row-wise work in passes.
//
// Example: softmax of one row of 5 in chunks of 2, three passes: elements 0-1, 2-3, 4 for the maximum, again for
// the sum of exponentials, again to divide: 9 tile operations, of which the last three write.
#include "core/exec/operators/row_passes.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/exec/chip/norms.h"
#include "core/exec/numbers/plain_functions.h"
#include "core/exec/operators/code_softmax.h"
#include "core/exec/operators/streams.h"
#include "core/exec/walk/row_walk.h"
#include "core/exec/walk/tile_loops.h"
#include "core/graph/attributes.h"
#include "core/ops/values.h"

namespace sdip::exec {
namespace {

/// Where the elements of a row stand: row r begins at (r / inner) x length x inner + r mod inner, its elements
/// `inner` apart.
struct RowShape {
  std::int64_t rows = 1, length = 1, inner = 1;

  Elements elements(const Extent& of, const Extent& part) const {
    Elements at;
    for (std::int64_t r = of.begin; r < of.end; ++r)
      at.add({r / inner * length * inner + r % inner + part.begin * inner, part.size(), inner});
    return at;
  }
};

template <class Visit>
void for_each_row_tile(Chip& chip, const RowShape& rows, std::int64_t passes, Visit visit) {
  for_each_row_step(row_loops(rows.rows, rows.length, passes, chip.instruction_class().mapping),
                    [&](const RowStep& step) {
                      begin_operation(chip);
                      visit(step);
                    });
}

std::optional<RowShape> softmax_rows(const Chip& chip, const Node& node) {
  if (!node.op->domain.empty() || (node.op->type != "Softmax" && node.op->type != "LogSoftmax"))
    return std::nullopt;
  const Shape& shape = chip.value(node.inputs[0]).operand.shape;
  const Work work = work_of(chip.graph, node);
  RowShape rows{work.rows, work.row_length, 1};
  if (node.opset < 13) return rows;
  auto axis = attribute_or<std::int64_t>(node, "axis", -1);
  if (axis < 0) axis += std::ssize(shape);
  for (std::size_t i = as_size(axis) + 1; i < shape.size(); ++i) rows.inner *= shape[i];
  return rows;
}

/// Softmax of rows: the maximum and the sum of exponentials of each.
struct Softmax {
  bool logarithm;
  ElementType type;
  std::vector<double> most, sum;  // by row

  Softmax(bool of_logarithm, ElementType of_type, std::size_t rows)
      : logarithm(of_logarithm), type(of_type), most(rows, -HUGE_VAL), sum(rows, 0.0) {}

  /// One pass over part of a row. The second leaves exponentials, which the third finds in `x` where `exponential`.
  void pass(std::int64_t number, std::size_t row, std::span<double> x, bool exponential) {
    double& m = most[row];
    if (number == 0) {
      m = std::max(m, greatest(x));
    } else if (number == 1) {
      sum[row] += exponentials_less(m, x);
    } else if (logarithm) {
      for (double& y : x) y = held_double(type, y - m - std::log(sum[row]));
    } else {
      if (!exponential) exponentials_less(m, x);
      for (double& y : x) y /= sum[row];
      if (type != ElementType::float32)
        for (double& y : x) y = held_double(type, y);
    }
  }

  /// Passes `first` to `last` over part of a row.
  void passes(std::int64_t first, std::int64_t last, std::size_t row, std::span<double> x) {
    for (std::int64_t number = first; number <= last; ++number) {
      if (logarithm && number == 1) {  // its numbers are not its exponentials
        std::vector<double> copy(x.begin(), x.end());
        pass(number, row, copy, false);
      } else {
        pass(number, row, x, first < 2);
      }
    }
  }
};

/// Elements of pieces of whole rows.
std::int64_t rows_together(std::int64_t length) {
  return std::max<std::int64_t>(1, piece_elements / length) * length;
}

/// Whether rows are whole in a tile, and in single precision as they come and go.
bool may_stream_rows(Chip& chip, const Operators& operators, std::int64_t length, ValueId result) {
  const auto is_float = [&](ValueId v) { return chip.value(v).operand.type == ElementType::float32; };
  return chip.instruction_class().mapping.tile_channels >= length && is_float(result) &&
         is_float(operators.main->inputs[0]) && may_stream(chip, operators.behind);
}

/// Rows one after the other in memory that may_stream_rows, several tiles at once: `make(first, x, to, scratch)`
/// makes some of them, `first` the first one's element.
template <class Make>
void stream_rows(Chip& chip, const Operators& operators, const RowShape& rows, ValueId result, const Make& make) {
  const std::int64_t together = rows_together(rows.length);
  const Elements all = Elements::first(rows.rows * rows.length);
  const auto task = [&](std::int64_t number, Scratch& scratch, PieceSink& sink) {
    const std::int64_t first = number * together;
    const Elements at = Elements::line({first, std::min(together, all.size() - first), 1});
    const std::span<const float> x = floats_at(chip, operators.main->inputs[0], at, scratch.floats);
    if (float* to = sink.in_place()) return make(first, x, to + first, scratch);
    TileValues tile{at, result};
    Numbers& made = tile.made[result];
    made.floats.resize(x.size());
    make(first, x, made.floats.data(), scratch);
    sink.put_piece(std::move(tile));
  };
  write_streamed(chip, operators.behind, all, ceil_div(all.size(), together), task);
}

/// As passes 0 to 2 make it.
void stream_softmax(Chip& chip, const Operators& operators, const RowShape& rows, ValueId result) {
  const auto length = as_size(rows.length);
  const auto make = [&](std::int64_t, std::span<const float> x, float* to, Scratch& scratch) {
    scratch.doubles.resize(length);
    for (std::size_t first = 0; first < x.size(); first += length) {
      const std::span<const float> row = x.subspan(first, length);
      const double sum = exponentials_less(range_of(row), row, scratch.doubles.data());
      divided(scratch.doubles, sum, to + first);
    }
  };
  stream_rows(chip, operators, rows, result, make);
}

void run_softmax(Chip& chip, const Operators& operators, const RowShape& rows, ValueId result) {
  const Node& node = *operators.main;
  if (rows.inner == 1 && rows.length > 0 && node.op->type == "Softmax" &&
      may_stream_rows(chip, operators, rows.length, result)) {
    for_each_row_tile(chip, rows, 3, [](const RowStep&) {});
    return stream_softmax(chip, operators, rows, result);
  }
  Softmax softmax(node.op->type == "LogSoftmax", chip.value(result).operand.type, as_size(rows.rows));
  for_each_row_tile(chip, rows, 3, [&](const RowStep& tile) {
    const Elements at = rows.elements(tile.rows, tile.part);
    const std::int64_t length = tile.part.size();
    const auto make = [&](const Elements& piece, std::int64_t first) {
      std::vector<double> x = doubles_of(read_operand(chip, node.inputs[0], piece));
      for (std::int64_t i = 0; i < piece.size() / length; ++i) {
        const auto row = as_size(tile.rows.begin + first / length + i);
        if (tile.first_pass == 0 && tile.writes)  // it may be made again
          softmax.most[row] = -HUGE_VAL, softmax.sum[row] = 0;
        softmax.passes(tile.first_pass, tile.last_pass, row,
                       std::span(x).subspan(as_size(i * length), as_size(length)));
      }
      return numbers_of({softmax.type, {}, {}, std::move(x)});
    };
    if (tile.writes)
      end_tile(chip, operators, result, at, make, rows_together(length));
    else
      make(at, 0);
  });
}

/// Runs a norm with sums of its own from a first pass, or with those that an instruction before made.
void run_norm(Chip& chip, const Operators& operators, const NormRule& rule, ValueId result) {
  const std::int64_t passes = chip.instruction_class().work.passes;
  const bool own = passes > 1;
  NormSums sums = own ? empty_sums(rule) : sums_of(chip, rule);
  const RowShape rows{rule.rows, rule.length, 1};
  find_weights(chip, *rule.node);
  if (may_stream_rows(chip, operators, rule.length, result))
    if (const auto parameters = norm_parameters(chip, rule)) {
      for_each_row_tile(chip, rows, passes, [](const RowStep&) {});
      const auto make = [&](std::int64_t first, std::span<const float> x, float* to, const Scratch&) {
        normalise_rows(chip, rule, *parameters, sums, own, first, x, to);
      };
      return stream_rows(chip, operators, rows, result, make);
    }
  for_each_row_tile(chip, rows, passes, [&](const RowStep& tile) {
    const Elements at = rows.elements(tile.rows, tile.part);
    const bool sum_here = own && tile.first_pass == 0, all_here = sum_here && tile.writes;
    const auto make = [&](const Elements& piece, std::int64_t first) {
      const std::vector<double> x = doubles_of(read_operand(chip, rule.node->inputs[0], piece));
      for (std::int64_t i = 0; all_here && i < piece.size() / rule.length; ++i) {  // it may be made again
        const auto row = as_size(tile.rows.begin + first / rule.length + i);
        sums.sum[row] = sums.squares[row] = 0;
      }
      if (sum_here) add_to_sums(sums, rule, piece, x);
      return tile.writes ? normalised(chip, rule, sums, piece, x) : Numbers{};
    };
    if (tile.writes)
      end_tile(chip, operators, result, at, make, rows_together(tile.part.size()));
    else
      make(at, 0);
  });
}

}  // namespace

Numbers softmax_of(const Chip& chip, const Node& node, std::vector<double> rows) {
  const auto length = as_size(work_of(chip.graph, node).row_length);
  Softmax softmax(false, chip.value(node.outputs[0]).operand.type, rows.size() / length);
  for (std::size_t row = 0; row < softmax.sum.size(); ++row)
    softmax.passes(0, 2, row, std::span(rows).subspan(row * length, length));
  return numbers_of({softmax.type, {}, {}, std::move(rows)});
}

bool run_row_passes(Chip& chip, const Operators& operators, ValueId result) {
  const Node& main = *operators.main;
  if (!operators.before.empty() || main.inputs.empty() || main.inputs[0] == none) return false;
  if (result != main.outputs[0]) return false;
  if (const auto rows = softmax_rows(chip, main)) {
    if (rows->inner > 1 || !run_softmax_of_codes(chip, operators, rows->rows, rows->length, result))
      run_softmax(chip, operators, *rows, result);
    return true;
  }
  const auto rule = norm_rule(chip.graph, main);
  if (rule) run_norm(chip, operators, *rule, result);
  return rule.has_value();
}

void run_sums(Chip& chip) {
  const auto node = std::ranges::find(chip.graph.nodes, chip.instruction().name, &Node::name);
  check(node != chip.graph.nodes.end(), "sums are those of a norm");
  const auto rule = norm_rule(chip.graph, *node);
  const Work& work = chip.instruction_class().work;
  const RowShape rows = rule ? RowShape{rule->rows, rule->length, 1} : RowShape{work.rows, work.row_length, 1};
  if (rule) chip.norm_sums[rule->node] = empty_sums(*rule);
  for_each_row_tile(chip, rows, 1, [&](const RowStep& tile) {
    const Elements at = rows.elements(tile.rows, tile.part);
    const Numbers read = read_operand(chip, node->inputs[0], at);
    if (rule) add_to_sums(chip.norm_sums.at(rule->node), *rule, at, doubles_of(read));  // else its readers sum it
  });
}

}  // namespace sdip::exec
