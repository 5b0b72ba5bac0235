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
#include "core/exec/norms.h"
#include "core/exec/operators.h"
#include "core/exec/pointwise.h"
#include "core/graph/attributes.h"
#include "core/ops/arithmetic.h"
#include "core/program/kinds.h"

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
  ValueId result;
  std::vector<const Node*> nodes{};
  std::map<ValueId, RowBuffer> buffers{};
  std::map<const Node*, NestMap> maps{};
  std::map<const Node*, std::int64_t> tile_channels{};  // of nests whose weights are streamed
  std::map<const Node*, NormRule> norms{};

  ValueId root(ValueId v) const { return chip.views.root[static_cast<std::size_t>(v)]; }

  std::int64_t row_of(ValueId v, std::int64_t element) const {
    const Shape& shape = chip.value(v).operand.shape;
    return element / shape[3] % shape[2];
  }

  /// Elements of a value made inside, each in a row that is on chip.
  Numbers read_rows(ValueId v, const Elements& at) const {
    const RowBuffer& buffer = buffers.at(root(v));
    at.each([&](std::int64_t element) {
      const std::int64_t row = row_of(v, element);
      if (row < buffer.rows.begin || row >= buffer.rows.end)
        throw Error("execution_failed", chip.who,
                    chip.who + " reads row " + std::to_string(row) + " of '" + chip.value(v).name +
                        "', of which rows " + std::to_string(buffer.rows.begin) + " to " +
                        std::to_string(buffer.rows.end) + " are on chip");
    });
    return picked(buffer.data, at);
  }

  Elements elements(ValueId v, const Extent& rows) const {
    const Shape& shape = chip.value(v).operand.shape;
    Elements at;
    for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
      at.add({(plane * shape[2] + rows.begin) * shape[3], rows.size() * shape[3], 1});
    return at;
  }

  void keep(ValueId v, const Elements& at, const Numbers& numbers) {
    Tensor& data = buffers.at(v).data;
    const Tensor tensor = tensor_of(numbers);
    std::size_t i = 0;
    at.each([&](std::int64_t element) {
      const auto to = static_cast<std::size_t>(element);
      if (!tensor.floats.empty()) data.floats[to] = tensor.floats[i];
      if (!tensor.ints.empty()) data.ints[to] = tensor.ints[i];
      ++i;
    });
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
      const auto reader = [&](ValueId v) -> NestOperand {
        if (!buffers.contains(root(v)))
          return {[this, v](const Elements& at) { return read_operand(chip, v, at); }, v};
        return {[this, v](const Elements& at) { return read_rows(v, at); }};
      };
      Mapping mapping = chip.instruction_class().mapping;
      const LoopNest& nest = map->second.nest;
      mapping.tile_rows = rows.size();
      mapping.tile_columns = nest.out_w;
      const auto tile = tile_channels.find(&node);
      mapping.tile_channels = tile == tile_channels.end() ? nest.groups * nest.out_channels : tile->second;
      mapping.tile_sums = nest.in_channels;
      const bool weighted = chip.value(node.inputs[1]).kind == ValueKind::weight;
      run_nest(chip, node, map->second, weighted, mapping, rows, reader(node.inputs[0]), reader(node.inputs[1]),
               [&](const Elements& at, const PieceMaker& make) { keep(out, at, make(at, 0)); });
      return;
    }
    if (is_by_rows(node)) {
      const Tensor whole = outputs_of(chip.graph, node, operands_by_rows(node)).at(0);
      const Elements at = elements(out, rows);
      keep(out, at, picked(whole, at));
      return;
    }
    if (const auto norm = norms.find(&node); norm != norms.end()) {
      const Elements at = elements(out, rows);
      const ValueId v = node.inputs[0];
      const Numbers x = buffers.contains(root(v)) ? read_rows(v, at) : read_operand(chip, v, at);
      keep(out, at, normalised(chip, norm->second, sums_of(chip, norm->second), at, doubles_in(x)));
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
    buffers.at(result).needed = last;
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

/// Of an instruction that makes the sums of a norm alone: that norm, and the nodes before it, which a later
/// instruction has, too.
const Node* summed_norm(const Chip& chip, std::vector<NodeId>& nodes) {
  const auto& instructions = chip.stage.program.instructions;
  for (std::size_t i = chip.now + 1; i < instructions.size(); ++i) {
    bool behind = false;
    nodes.clear();
    for (const NodeId n : instructions[i].nodes) {
      const Node& node = chip.graph.nodes[static_cast<std::size_t>(n)];
      if (behind && norm_rule(chip.graph, node)) return &node;
      behind |= node.name == chip.instruction().name;
      nodes.push_back(n);
    }
  }
  throw Error("execution_failed", chip.who, chip.who + " makes sums that no instruction behind it uses");
}

/// What the strip has to do for these nodes.
void prepare(Strip& strip, const std::vector<NodeId>& ids) {
  const Graph& graph = strip.chip.graph;
  const std::vector<Part>& parts = strip.chip.instruction_class().parts;
  auto part = parts.begin();  // nests of the nodes are those of the parts, in order
  for (const NodeId n : ids) {
    const Node* node = &graph.nodes[static_cast<std::size_t>(n)];
    strip.nodes.push_back(node);
    const Operand& out = strip.chip.value(node->outputs[0]).operand;
    const auto map = nest_map(graph, *node);
    const auto norm = norm_rule(graph, *node);
    if (out.shape.size() != 4 || (!map && !norm && !works_by_elements(graph, *node) && !is_by_rows(*node)))
      throw Error("not_computable", node->name,
                  "node '" + node->name + "' (" + std::string(node->op->type) + ") is not run in strips");
    if (norm) strip.norms.emplace(node, *norm);
    strip.buffers[node->outputs[0]].data = zero_tensor(out.type, out.shape);
    if (!map) continue;
    strip.maps.emplace(node, *map);
    part = std::find_if(part, parts.end(), [](const Part& p) { return is_nest(p.work.family); });
    if (part == parts.end()) continue;
    if (part->streamed_channels > 0) strip.tile_channels[node] = part->tile_channels;
    ++part;
  }
}

}  // namespace

void run_strips(Chip& chip) {
  std::vector<NodeId> nodes = chip.instruction().nodes;
  const Node* norm = nodes.empty() ? summed_norm(chip, nodes) : nullptr;
  Strip strip{chip, norm == nullptr ? chip.instruction().destination
                                    : chip.views.root[static_cast<std::size_t>(norm->inputs[0])]};
  prepare(strip, nodes);
  const auto rule = norm == nullptr ? std::nullopt : norm_rule(chip.graph, *norm);
  if (rule) chip.norm_sums[norm] = empty_sums(*rule);
  const InstructionClass& c = chip.instruction_class();
  const std::int64_t height = height_of(chip, strip.result);
  for (std::int64_t row = 0; row < height; row += c.mapping.tile_rows) {
    const Extent rows{row, std::min(height, row + c.mapping.tile_rows)};
    strip.run(rows, c.line_buffers);
    const Elements at = strip.elements(strip.result, rows);
    const Numbers numbers = strip.read_rows(strip.result, at);
    if (rule)
      add_to_sums(chip.norm_sums.at(norm), *rule, at, doubles_in(numbers));
    else
      write_result(chip, at, numbers);
  }
}

}  // namespace sdip::exec
