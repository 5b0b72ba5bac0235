// A chain of operators on feature maps, strip by strip of the last one's rows: depth first.
//
// For each strip the rows that each value needs follow from the last to the first operator (a window's reach more
// at each convolution); then the operators make them in order. Without line buffers a value's rows are made anew
// for each strip, those that two strips need twice; with them what the strip before left is kept and only rows
// below it are made.
//
// Example: two 3x3 convolutions, pad 1, of 6 rows in strips of 3. Rows 0-2 need rows 0-3 between and 0-4 of the
// input; rows 3-5 need 2-5 and 1-5. Rows 2 and 3 between are made twice; with line buffers the second strip makes
// 4-5 only.
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/exec/arithmetic.h"
#include "core/exec/nest.h"
#include "core/exec/operators.h"
#include "core/exec/pointwise.h"

namespace sdip::exec {
namespace {

constexpr Extent no_rows{std::numeric_limits<std::int64_t>::max(), 0};

/// Rows of a value made inside the strip; elements outside `rows` are not on chip.
struct RowBuffer {
  Tensor data;
  Extent rows{};  // on chip
  Extent needed = no_rows;
};

std::int64_t height_of(const Chip& chip, ValueId v) { return chip.value(v).operand.shape.at(2); }

/// Pools and resizes: by the operator's own arithmetic, on what rows there are.
bool is_by_rows(const Node& node) {
  const std::string_view type = node.op->type;
  return type == "MaxPool" || type == "AveragePool" || type == "Resize" || type == "Upsample";
}

std::int64_t number_at(const Node& node, const char* name, std::size_t i, std::int64_t otherwise) {
  const auto found = node.attributes.find(name);
  const auto* values =
      found == node.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&found->second);
  return values == nullptr || i >= values->size() ? otherwise : (*values)[i];
}

/// Rows of the operand that hold all that result rows may read: of a pool a kernel's reach on either side (its
/// padding may be on either), of a resize a row more on either side.
Extent rows_around(const Node& node, const Extent& rows, std::int64_t in_h, std::int64_t out_h) {
  const bool pool = node.op->type.ends_with("Pool");
  const std::int64_t stride = number_at(node, "strides", 0, 1);
  const std::int64_t reach = (number_at(node, "kernel_shape", 0, 1) - 1) * number_at(node, "dilations", 0, 1);
  const Extent read = pool ? Extent{rows.begin * stride - reach, (rows.end - 1) * stride + reach + 1}
                           : Extent{rows.begin * in_h / out_h - 1, (rows.end - 1) * in_h / out_h + 2};
  return {std::clamp<std::int64_t>(read.begin, 0, in_h), std::clamp<std::int64_t>(read.end, 0, in_h)};
}

Extent hull(const Extent& a, const Extent& b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

struct Strip {
  Chip& chip;
  std::vector<const Node*> nodes{};
  std::map<ValueId, RowBuffer> buffers{};
  std::map<const Node*, NestMap> maps{};

  ValueId root(ValueId v) const { return chip.views.root[static_cast<std::size_t>(v)]; }

  std::int64_t row_of(ValueId v, std::int64_t element) const {
    const Shape& shape = chip.value(v).operand.shape;
    return element / shape[3] % shape[2];
  }

  /// Elements of a value made inside, each in a row that is on chip.
  Tensor read_rows(ValueId v, std::span<const std::int64_t> at) const {
    const RowBuffer& buffer = buffers.at(root(v));
    for (const std::int64_t element : at) {
      const std::int64_t row = row_of(v, element);
      if (row < buffer.rows.begin || row >= buffer.rows.end)
        throw Error("execution_failed", chip.who,
                    chip.who + " reads row " + std::to_string(row) + " of '" + chip.value(v).name +
                        "', of which rows " + std::to_string(buffer.rows.begin) + " to " +
                        std::to_string(buffer.rows.end) + " are on chip");
    }
    return picked(buffer.data, at);
  }

  std::vector<std::int64_t> elements(ValueId v, const Extent& rows) const {
    const Shape& shape = chip.value(v).operand.shape;
    std::vector<std::int64_t> at;
    for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
      for (std::int64_t i = rows.begin * shape[3]; i < rows.end * shape[3]; ++i)
        at.push_back(plane * shape[2] * shape[3] + i);
    return at;
  }

  void keep(ValueId v, std::span<const std::int64_t> at, const Tensor& numbers) {
    Tensor& data = buffers.at(v).data;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto element = static_cast<std::size_t>(at[i]);
      if (!numbers.floats.empty()) data.floats[element] = numbers.floats[i];
      if (!numbers.ints.empty()) data.ints[element] = numbers.ints[i];
    }
  }

  /// A pool's or resize's operands, whole; of one made inside the rows that are not on chip are not numbers.
  std::vector<std::optional<Tensor>> operands_by_rows(const Node& node) {
    std::vector<std::optional<Tensor>> operands;
    for (const ValueId v : node.inputs) {
      if (v == none || !buffers.contains(root(v))) {
        operands.push_back(v == none ? std::nullopt : std::optional(read_whole(chip, v)));
        continue;
      }
      const RowBuffer& buffer = buffers.at(root(v));
      Tensor tensor = buffer.data;
      for (std::size_t i = 0; i < tensor.floats.size(); ++i) {
        const std::int64_t row = row_of(v, static_cast<std::int64_t>(i));
        if (row < buffer.rows.begin || row >= buffer.rows.end)
          tensor.floats[i] = std::numeric_limits<double>::quiet_NaN();
      }
      operands.emplace_back(std::move(tensor));
    }
    return operands;
  }

  /// Rows of `node`'s result.
  void make_rows(const Node& node, const Extent& rows) {
    const ValueId out = node.outputs[0];
    if (const auto map = maps.find(&node); map != maps.end()) {
      const auto reader = [&](ValueId v) -> OperandReader {
        if (!buffers.contains(root(v)))
          return [this, v](std::span<const std::int64_t> at) { return read_operand(chip, v, at); };
        return [this, v](std::span<const std::int64_t> at) { return read_rows(v, at); };
      };
      Mapping mapping = chip.instruction_class().mapping;
      const LoopNest& nest = map->second.nest;
      mapping.tile_rows = rows.size();
      mapping.tile_columns = nest.out_w;
      mapping.tile_channels = nest.groups * nest.out_channels;
      mapping.tile_sums = nest.in_channels;
      const bool weighted = chip.value(node.inputs[1]).kind == ValueKind::weight;
      run_nest(chip, node, map->second, weighted, mapping, rows, reader(node.inputs[0]), reader(node.inputs[1]),
               [&](std::span<const std::int64_t> at, const Tensor& numbers) { keep(out, at, numbers); });
      return;
    }
    if (is_by_rows(node)) {
      const Tensor whole = outputs_of(chip.graph, node, operands_by_rows(node)).at(0);
      const std::vector<std::int64_t> at = elements(out, rows);
      keep(out, at, picked(whole, at));
      return;
    }
    TileValues tile{elements(out, rows), none};
    for (const ValueId v : node.inputs)
      if (v != none && buffers.contains(root(v))) {
        check(element_count(chip.value(v).operand.shape) == element_count(chip.value(out).operand.shape),
              "elementwise operators of a strip are of one size");
        tile.made[root(v)] = read_rows(v, tile.at);
      }
    apply_pointwise(chip, node, tile);
    keep(out, tile.at, tile.made.at(out));
  }

  /// What each value must have for the results' rows, from the last operator to the first.
  void find_needs(const Extent& last) {
    for (auto& [v, buffer] : buffers) buffer.needed = no_rows;
    buffers.at(chip.instruction().destination).needed = last;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      const Extent rows = buffers.at((*node)->outputs[0]).needed;
      if (rows.size() <= 0) continue;
      const auto map = maps.find(*node);
      Extent read = map == maps.end() ? rows : window_rows(map->second.nest, rows);
      if (is_by_rows(**node))
        read = rows_around(**node, rows, height_of(chip, (*node)->inputs[0]), height_of(chip, (*node)->outputs[0]));
      for (const ValueId v : (*node)->inputs)
        if (v != none)
          if (const auto buffer = buffers.find(root(v)); buffer != buffers.end())
            buffer->second.needed = hull(buffer->second.needed, read);
    }
  }

  void run(const Extent& last, bool line_buffers) {
    ++chip.counts.tile_operations;
    find_needs(last);
    for (const Node* node : nodes) {
      RowBuffer& buffer = buffers.at(node->outputs[0]);
      if (buffer.needed.size() <= 0) continue;
      Extent fresh = buffer.needed;
      const std::int64_t again = std::max<std::int64_t>(0, buffer.rows.end - fresh.begin);
      if (line_buffers && buffer.rows.begin <= fresh.begin)
        fresh.begin += again;
      else
        chip.counts.recomputed_rows += again;
      buffer.rows = line_buffers ? hull(buffer.needed, fresh) : buffer.needed;
      if (fresh.size() > 0) make_rows(*node, fresh);
    }
  }
};

/// Whether a row of the result needs that row of the operands alone. Quantising with one scale does.
bool is_elementwise(const Chip& chip, const Node& node) {
  if (is_pointwise(node)) return true;
  const bool quantises = node.op->type == "QuantizeLinear" || node.op->type == "DequantizeLinear";
  return quantises && node.inputs.size() > 1 && element_count(chip.value(node.inputs[1]).operand.shape) == 1;
}

}  // namespace

void run_strips(Chip& chip) {
  Strip strip{chip};
  for (const NodeId n : chip.instruction().nodes) {
    const Node* node = &chip.graph.nodes[static_cast<std::size_t>(n)];
    strip.nodes.push_back(node);
    const Operand& out = chip.value(node->outputs[0]).operand;
    const auto map = nest_map(chip.graph, *node);
    if (out.shape.size() != 4 || (!map && !is_elementwise(chip, *node) && !is_by_rows(*node)))
      throw Error("not_computable", node->name,
                  "node '" + node->name + "' (" + std::string(node->op->type) + ") is not run in strips");
    if (map) strip.maps.emplace(node, *map);
    strip.buffers[node->outputs[0]].data = zero_tensor(out.type, out.shape);
  }
  const InstructionClass& c = chip.instruction_class();
  const ValueId result = chip.instruction().destination;
  const std::int64_t height = height_of(chip, result);
  for (std::int64_t row = 0; row < height; row += c.mapping.tile_rows) {
    const Extent rows{row, std::min(height, row + c.mapping.tile_rows)};
    strip.run(rows, c.line_buffers);
    const std::vector<std::int64_t> at = strip.elements(result, rows);
    write_result(chip, at, strip.read_rows(result, at));
  }
}

}  // namespace sdip::exec
