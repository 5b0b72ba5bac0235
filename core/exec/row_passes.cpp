// Row-wise work in passes.
//
// Example: softmax of one row of 5 in chunks of 2, three passes: elements 0-1, 2-3, 4 for the maximum, again for
// the sum of exponentials, again to divide: 9 tile operations, of which the last three write.
#include "core/exec/row_passes.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/exec/norms.h"
#include "core/exec/plain_functions.h"
#include "core/exec/tile_loops.h"
#include "core/ops/arithmetic.h"

namespace sdip::exec {
namespace {

/// Where the elements of a row stand: row r begins at (r / inner) x length x inner + r mod inner, its elements
/// `inner` apart.
struct Rows {
  std::int64_t rows = 1, length = 1, inner = 1;

  Elements elements(const Extent& of, const Extent& part) const {
    Elements at;
    for (std::int64_t r = of.begin; r < of.end; ++r)
      at.add({r / inner * length * inner + r % inner + part.begin * inner, part.size(), inner});
    return at;
  }
};

/// One tile operation: these elements of these rows, in passes `first` to `last`.
struct RowTile {
  Extent rows, part;
  std::int64_t first = 0, last = 0;
};

template <class Visit>
void for_each_row_tile(Chip& chip, const Rows& rows, std::int64_t passes, Visit visit) {
  const Mapping& mapping = chip.instruction_class().mapping;
  const bool chunked = mapping.tile_channels < rows.length;
  const std::int64_t tile_rows = chunked ? 1 : mapping.tile_rows,
                     chunk = chunked ? mapping.tile_channels : rows.length;
  check(tile_rows > 0 && chunk > 0, "tiles of at least one row and one element");
  for (std::int64_t row = 0; row < rows.rows; row += tile_rows) {
    const Extent of{row, std::min(rows.rows, row + tile_rows)};
    for (std::int64_t pass = 0; pass < (chunked ? passes : 1); ++pass)
      for (std::int64_t i = 0; i < rows.length; i += chunk) {
        ++chip.counts.tile_operations;
        visit(RowTile{of, {i, std::min(rows.length, i + chunk)}, pass, chunked ? pass : passes - 1});
      }
  }
}

std::optional<Rows> softmax_rows(const Chip& chip, const Node& node) {
  if (!node.op->domain.empty() || (node.op->type != "Softmax" && node.op->type != "LogSoftmax"))
    return std::nullopt;
  const Shape& shape = chip.value(node.inputs[0]).operand.shape;
  const Work work = work_of(chip.graph, node);
  Rows rows{work.rows, work.row_length, 1};
  if (node.opset < 13) return rows;
  const auto found = node.attributes.find("axis");
  std::int64_t axis = found == node.attributes.end() ? -1 : std::get<std::int64_t>(found->second);
  if (axis < 0) axis += std::ssize(shape);
  for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < shape.size(); ++i) rows.inner *= shape[i];
  return rows;
}

struct Softmax {
  bool logarithm = false;
  ElementType type = ElementType::float32;
  std::vector<double> most, sum;  // by row

  /// One pass over part of a row.
  void pass(std::int64_t number, std::size_t row, std::span<double> x) {
    double& m = most[row];
    if (number == 0) {
      for (const double y : x) m = std::max(m, y);
    } else if (number == 1) {
      std::vector<double> e(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) e[i] = x[i] - m;
      exponentials(e);
      double all = sum[row];
      for (const double y : e) all += y;
      sum[row] = all;
    } else if (logarithm) {
      for (double& y : x) y = held_number(type, y - m - std::log(sum[row]));
    } else {
      for (double& y : x) y -= m;
      exponentials(x);
      for (double& y : x) y /= sum[row];
      if (type != ElementType::float32)
        for (double& y : x) y = held_number(type, y);
    }
  }
};

/// Numbers of a type that are held already.
Numbers numbers_from(ElementType type, std::vector<double> x) {
  Numbers numbers{type, {}, {}, {}};
  if (is_single(type)) {
    numbers.floats.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) numbers.floats[i] = static_cast<float>(x[i]);
  } else {
    numbers.doubles = std::move(x);
  }
  return numbers;
}

void run_softmax(Chip& chip, const Operators& operators, const Rows& rows, ValueId result) {
  const Node& node = *operators.main;
  const std::vector<double> zeros(static_cast<std::size_t>(rows.rows), 0.0);
  Softmax softmax{node.op->type == "LogSoftmax", chip.value(result).operand.type,
                  std::vector<double>(zeros.size(), -HUGE_VAL), zeros};
  for_each_row_tile(chip, rows, 3, [&](const RowTile& tile) {
    const Elements at = rows.elements(tile.rows, tile.part);
    std::vector<double> x = doubles_in(read_operand(chip, node.inputs[0], at));
    const auto length = static_cast<std::size_t>(tile.part.size());
    chip.team->run(tile.rows.size(), [&](std::int64_t i) {
      const auto row = static_cast<std::size_t>(tile.rows.begin + i);
      const std::span<double> of_row(x.data() + static_cast<std::size_t>(i) * length, length);
      for (std::int64_t pass = tile.first; pass <= tile.last; ++pass) softmax.pass(pass, row, of_row);
    });
    if (tile.last == 2) end_tile(chip, operators, result, at, numbers_from(softmax.type, std::move(x)));
  });
}

/// With sums of its own in a first pass, or those that an instruction before made.
void run_norm(Chip& chip, const Operators& operators, const NormRule& rule, ValueId result) {
  const std::int64_t passes = chip.instruction_class().work.passes;
  const bool own = passes > 1;
  NormSums sums = own ? empty_sums(rule) : sums_of(chip, rule);
  const Rows rows{rule.rows, rule.length, 1};
  for_each_row_tile(chip, rows, passes, [&](const RowTile& tile) {
    const Elements at = rows.elements(tile.rows, tile.part);
    const std::vector<double> x = doubles_in(read_operand(chip, rule.node->inputs[0], at));
    if (own && tile.first == 0) add_to_sums(sums, rule, at, x);
    if (tile.last + 1 == passes) end_tile(chip, operators, result, at, normalised(chip, rule, sums, at, x));
  });
}

}  // namespace

bool run_row_passes(Chip& chip, const Operators& operators, ValueId result) {
  const Node& main = *operators.main;
  if (!operators.before.empty() || main.inputs.empty() || main.inputs[0] == none) return false;
  if (result != main.outputs[0]) return false;
  if (const auto rows = softmax_rows(chip, main)) {
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
  if (!rule) return;  // its readers compute it whole
  NormSums& sums = chip.norm_sums[rule->node] = empty_sums(*rule);
  const Rows rows{rule->rows, rule->length, 1};
  for_each_row_tile(chip, rows, 1, [&](const RowTile& tile) {
    const Elements at = rows.elements(tile.rows, tile.part);
    add_to_sums(sums, *rule, at, doubles_in(read_operand(chip, rule->node->inputs[0], at)));
  });
}

}  // namespace sdip::exec
