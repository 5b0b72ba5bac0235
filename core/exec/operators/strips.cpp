// A chain of operators on feature maps, strip by strip of the last one's rows: depth first.
//
// Which pieces there are, and in which order, says the walk that the clock takes, too. For each strip the rows that
// each value needs follow from the last to the first operator (a window's reach more at each convolution); then the
// operators make them in order. Without line buffers a value's rows are made anew for each strip, those that two
// strips need twice; with them what the strip before left is kept and only rows below it are made. An operand A in
// DRAM is brought row by row likewise.
//
// Example: two 3x3 convolutions, pad 1, of 6 rows in strips of 3. Rows 0-2 need rows 0-3 between and 0-4 of the
// input; rows 3-5 need 2-5 and 1-5. Rows 2 and 3 between are made twice; with line buffers the second strip makes
// 4-5 only.
#include "core/base/error.h"
#include "core/exec/operators/nest.h"
#include "core/exec/operators/operators.h"
#include "core/exec/operators/pointwise.h"
#include "core/exec/operators/row_passes.h"
#include "core/exec/operators/strip_nodes.h"
#include "core/exec/operators/strip_values.h"
#include "core/exec/walk/strip_walk.h"
#include "core/graph/node_arithmetic.h"

namespace sdip::exec {
namespace {

struct Strip {
  Chip& chip;
  const InstructionClass& c;
  ValueId result;
  std::vector<StripNode> nodes{};
  std::map<ValueId, StripValue> made{};
  ValueId brought = none;  // operand A as the first part reads it, where its rows come from DRAM
  StripValue a{};
  std::int64_t frame = 0;
  std::map<ValueId, Tensor> held{};                 // second activations of products, of the frame that is made
  bool features = c.work.family == Family::linear;  // rows are of features, not of feature maps

  ValueId root(ValueId v) const { return chip.views.root[v]; }
  const Shape& shape(ValueId v) const { return chip.value(v).operand.shape; }

  /// Rows of A that came for the first part and are read once more, in their order, beside what the part before
  /// made.
  bool is_a_beside(const StripNode& n, ValueId v) const {
    return brought != none && c.parts[n.part].a_beside > 0 && n.part > 0 && !n.map && root(v) == root(brought) &&
           chip.views.map[v].empty();
  }

  /// The rows on chip of a value that a node reads; nullptr: it reads it where it lies.
  StripValue* rows_for(const StripNode& n, ValueId v) {
    if (v == none) return nullptr;
    if (is_a_beside(n, v) || (v == brought && n.reads_a && (n.before || n.main))) return &a;
    const auto found = made.find(root(v));
    return found == made.end() ? nullptr : &found->second;
  }

  void require_rows(ValueId v, const StripValue& value, const Elements& at) const {
    const auto require = [&](std::int64_t element) {
      const std::int64_t row = value.map.row_of(element);
      if (row >= value.rows.begin && row < value.rows.end && value.map.frame_of(element) == frame) return;
      throw Error("execution_failed", chip.who,
                  fmt::format("{} reads row {} of '{}', of which rows {} to {} of frame {} are on chip", chip.who,
                              row, chip.value(v).name, value.rows.begin, value.rows.end, frame));
    };
    at.each(require);
  }

  /// Where elements of `v` stand in the rows that there are: A is there as its first reader sees it.
  Elements in_rows(ValueId v, const StripValue& value, const Elements& at) const {
    return &value == &a ? at : through_view(chip, v, at);
  }

  /// Elements of a value of which there are rows, each in one that is on chip.
  Numbers read_rows(ValueId v, const StripValue& value, const Elements& at) const {
    const Elements there = in_rows(v, value, at);
    require_rows(v, value, there);
    return picked(value.data, there);
  }

  Elements elements(ValueId v, const Extent& channels, const Extent& rows) const {
    return made.at(v).map.elements(frame, channels, rows);
  }

  Extent all_channels(ValueId v) const { return {0, made.at(v).map.channels}; }

  NestOperand operand(const StripNode& n, ValueId v) {
    const StripValue* rows = rows_for(n, v);
    if (const auto whole = held.find(v); rows == nullptr && whole != held.end())
      return {[whole](const Elements& at) { return picked(whole->second, at); }};
    if (rows == nullptr) return {[this, v](const Elements& at) { return read_operand(chip, v, at); }, v};
    NestOperand from{[this, v, rows](const Elements& at) { return read_rows(v, *rows, at); }};
    if (!rows->codes.empty())
      from.codes = [this, v, rows](const Elements& at, std::span<std::int8_t> to) {
        const Elements there = in_rows(v, *rows, at);
        require_rows(v, *rows, there);
        auto next = to.begin();
        there.each([&](std::int64_t element) { *next++ = rows->codes[as_size(element)]; });
      };
    return from;
  }

  /// The part of a nest's results that rows of a frame are: frames of features stand one behind the other, and a
  /// product of two activations has the heads of each.
  NestPart nest_part(const StripNode& n, const Extent& rows, const Extent& channels) const {
    const LoopNest& own = c.parts[n.part].work.nest;
    NestPart part{rows, Extent{frame, frame + 1}};
    if (features && n.two_activations) {
      part.copies = Extent{frame * own.groups, (frame + 1) * own.groups};
    } else if (features) {
      const std::int64_t before = frame * own.out_h;
      part = {{before + rows.begin, before + rows.end}, Extent{0, 1}};
    }
    if (!n.two_activations && n.map->nest.groups == 1) part.channels = channels;
    return part;
  }

  void make_nest_rows(const StripNode& n, const Extent& rows, const Extent& channels) {
    const Node& node = *n.node;
    const ValueId out = node.outputs[0];
    const LoopNest& nest = n.map->nest;
    const Mapping mapping{rows.size(), nest.out_w, channels.size(), nest.in_channels, rows_outermost};
    const auto keep = [&](const Elements& at, const PieceMaker& make) {
      put_numbers(made.at(out).data, at, make(at, 0));
    };
    run_nest(chip, node, *n.map, !n.two_activations, mapping, nest_part(n, rows, channels),
             operand(n, node.inputs[0]), operand(n, node.inputs[1]), keep);
    chip.stream = Stream::others;
  }

  /// A pool's or resize's operands, whole; of one in rows those that are not on chip are not numbers.
  std::vector<std::optional<Tensor>> operands_by_rows(const StripNode& n) {
    std::vector<std::optional<Tensor>> operands;
    for (const ValueId v : n.node->inputs) {
      const StripValue* rows = rows_for(n, v);
      if (v == none || rows == nullptr) {
        operands.push_back(v == none ? std::nullopt : std::optional(read_whole(chip, v)));
        continue;
      }
      Tensor tensor = rows->data;
      const RowsOf map = feature_maps(shape(v));
      for (std::size_t i = 0; i < tensor.floats.size(); ++i) {
        const std::int64_t row = map.row_of(static_cast<std::int64_t>(i));
        if (row < rows->rows.begin || row >= rows->rows.end)
          tensor.floats[i] = std::numeric_limits<double>::quiet_NaN();
      }
      operands.emplace_back(std::move(tensor));
    }
    return operands;
  }

  /// Rows of these channels of an operator's result.
  void make_rows(const StripNode& n, const Extent& rows, const Extent& channels) {
    const Node& node = *n.node;
    const ValueId out = node.outputs[0];
    if (n.map) return make_nest_rows(n, rows, channels);
    const Elements at = elements(out, channels, rows);
    Tensor& data = made.at(out).data;
    if (!n.reads.empty())
      return put_numbers(data, at, picked(outputs_of(chip.graph, node, operands_by_rows(n)).at(0), at));
    if (n.softmax_length > 0) {
      const ValueId v = node.inputs[0];
      return put_numbers(data, at, softmax_of(chip, node, doubles_of(read_rows(v, *rows_for(n, v), at))));
    }
    if (n.norm) {
      const ValueId v = node.inputs[0];
      const StripValue* from = rows_for(n, v);
      const std::vector<double> x =
          doubles_of(from != nullptr ? read_rows(v, *from, at) : read_operand(chip, v, at));
      if (!n.main) return put_numbers(data, at, normalised(chip, *n.norm, sums_of(chip, *n.norm), at, x));
      NormSums sums = empty_sums(*n.norm);  // of its own rows
      add_to_sums(sums, *n.norm, at, x);
      return put_numbers(data, at, normalised(chip, *n.norm, sums, at, x));
    }
    TileValues tile{at, none};
    for (const ValueId v : node.inputs)
      if (const StripValue* from = rows_for(n, v)) {
        check(element_count(shape(v)) == element_count(shape(out)),
              "elementwise operators of a strip are of one size");
        if (from == &a && tile.made.contains(root(v)))
          read_operand(chip, v, at);  // twice an operand, it comes twice
        tile.made[root(v)] = read_rows(v, *from, at);
      }
    apply_pointwise(chip, node, tile);
    put_numbers(data, at, tile.made.at(out));
  }

  /// Rows of an operand under rows of a node's result.
  static Extent rows_under(const StripNode& n, const Extent& rows) {
    if (n.map) return window_rows(n.map->nest, rows);
    if (n.reads.empty()) return rows;
    const auto of = [&](std::int64_t row) { return n.reads.at(as_size(row)); };
    return hull(of(rows.begin), of(rows.end - 1));
  }

  /// Finds the rows that each value must have for the results' rows, from the last operator to the first.
  void find_needs(const Extent& last) {
    for (auto& [v, value] : made) value.needed = no_rows;
    a.needed = no_rows;
    made.at(result).needed = last;
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
      const Extent rows = made.at(n->node->outputs[0]).needed;
      if (rows.size() <= 0) continue;
      const Extent read = rows_under(*n, rows);
      for (const ValueId v : n->node->inputs)
        if (StripValue* value = rows_for(*n, v); value != nullptr && read.size() > 0)
          value->needed = hull(value->needed, read);
    }
  }

  /// A strip begins: which rows are made, and those of A that come.
  void begin(const Extent& last) {
    if (last.begin == 0) {
      for (auto& [v, value] : made) value.rows = {};
      a.rows = {};
    }
    find_needs(last);
    for (auto& [v, value] : made) chip.counts.recomputed_rows += value.take_needed(c.line_buffers);
    a.take_needed(c.line_buffers);
    if (brought != none && a.fresh.size() > 0) bring_a();
    if (last.begin == 0) hold_frame();
  }

  /// Second activations that come from DRAM do so once for each frame.
  void hold_frame() {
    for (const StripNode& n : nodes) {
      if (!n.map || !n.two_activations || second_elements(c.parts[n.part]) == 0) continue;
      const ValueId v = n.node->inputs[1];
      const Operand& operand = chip.value(v).operand;
      const std::int64_t size = element_count(operand.shape) / c.parts[n.part].work.nest.batch;
      const Elements at = Elements::line({frame * size, size, 1});
      auto [whole, fresh] = held.try_emplace(v);
      if (fresh) whole->second = zero_tensor(operand.type, operand.shape);
      put_numbers(whole->second, at, read_operand(chip, v, at));
    }
  }

  void bring_a() {
    const Elements at = a.map.elements(frame, {0, a.map.channels}, a.fresh);
    chip.stream = Stream::a;
    put_numbers(a.data, at, read_operand(chip, brought, at));
    chip.stream = Stream::others;
    if (a.codes.empty()) return;
    const auto placed = placed_operand(chip, root(brought));
    Buffer<std::int8_t> codes(as_size(at.size()));
    read_codes(placed->memory, placed->reading, through_view(chip, brought, at), codes);
    auto next = codes.begin();
    at.each([&](std::int64_t element) { a.codes[as_size(element)] = *next++; });
  }

  /// A prologue works on its rows once, for all pieces of its part.
  void run(const StripPiece& piece) {
    for (const StripNode& n : nodes) {
      if (n.part != piece.part || (n.before && !piece.first())) continue;
      const ValueId out = n.node->outputs[0];
      const Extent rows = made.at(out).fresh;
      if (rows.size() <= 0) continue;
      const Extent channels = n.before ? all_channels(out) : piece.channels;
      make_rows(n, rows, channels);
      if (n.main && chip.log) chip.log->add_made(elements(out, channels, rows).size());
    }
  }
};

/// Where the first part takes rows of an operand in DRAM: a feature map of the size of its nest's input.
void find_brought(Strip& strip) {
  Chip& chip = strip.chip;
  if (strip.c.operand_a != Place::dram || chip.instruction().sources.empty()) return;
  const ValueId source = chip.instruction().sources[0].value;
  const LoopNest& nest = strip.c.parts[0].work.nest;
  const std::int64_t size = nest.batch * nest.groups * nest.in_channels * nest.in_h * nest.in_w;
  for (const StripNode& n : strip.nodes) {
    if (!n.reads_a || !(n.before || n.main)) continue;
    for (const ValueId v : n.node->inputs) {
      if (v == none || strip.root(v) != source || strip.brought != none) continue;
      const Operand& operand = chip.value(v).operand;
      if ((operand.shape.size() != 4 && !strip.features) || element_count(operand.shape) != size) continue;
      strip.brought = v;
      strip.a.data = zero_tensor(operand.type, operand.shape);
      strip.a.map = strip.features ? RowsOf{nest.in_channels, nest.in_h, 1, 1, true} : feature_maps(operand.shape);
      if (lies_in_codes(chip, {{}, v})) strip.a.codes.resize(as_size(size));
    }
  }
}

}  // namespace

void run_strips(Chip& chip) {
  std::vector<NodeId> nodes = chip.instruction().nodes;
  const Node* norm = nodes.empty() ? summed_norm(chip, nodes) : nullptr;
  const InstructionClass& c = chip.instruction_class();
  Strip strip{chip, c, norm == nullptr ? chip.instruction().destination : chip.views.root[norm->inputs[0]]};
  strip.nodes = strip_nodes(chip, nodes);
  for (const StripNode& n : strip.nodes) {
    const Operand& out = chip.value(n.node->outputs[0]).operand;
    const LoopNest& nest = c.parts[n.part].work.nest;
    StripValue& value = strip.made[n.node->outputs[0]];
    value.data = zero_tensor(out.type, out.shape);
    value.map =
        strip.features ? RowsOf{nest.out_channels, nest.out_h, 1, nest.groups, true} : feature_maps(out.shape);
  }
  find_brought(strip);
  const auto rule = norm == nullptr ? std::nullopt : norm_rule(chip.graph, *norm);
  if (rule) chip.norm_sums[norm] = empty_sums(*rule);
  std::int64_t tile = -1;
  for_each_strip_step(c, [&](const StripStep& step) {
    begin_operation(chip);
    strip.frame = step.frame;
    if (step.number == 0) strip.begin(step.rows);
    for (const StripPiece& piece : step.pieces) {
      const bool first = step.frame == 0 && step.rows.begin == 0;
      if (chip.log) chip.log->weights_there(piece.weight_tile < 0 ? !first : piece.weight_tile == tile);
      tile = piece.weight_tile;
      strip.run(piece);
      if (piece.part + 1 != c.parts.size()) continue;
      const Elements at = strip.elements(strip.result, piece.channels, step.rows);
      const Numbers numbers = strip.read_rows(strip.result, strip.made.at(strip.result), at);
      if (rule)
        add_to_sums(chip.norm_sums.at(norm), *rule, at, doubles_of(numbers));
      else
        write_result(chip, at, numbers);
    }
  });
}

}  // namespace sdip::exec
