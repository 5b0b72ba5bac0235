// pass `fuse_strips`: chains of operators become instructions that carry strips through them.
//
// Worked example. Four 3x3 convolutions of 64 channels on 128 x 128 int8 values (1 MiB each), DSRAMs of 512 KiB:
// one by one they read and write 8 MiB and more; as one instruction 1 MiB is read (halo rows again for each strip)
// and 1 MiB written.
//
// A chain is a run of drafts each of which alone reads the one before, row for row. It is cut, by dynamic
// programming over its cut points, into instructions of one draft or more, such that they move the fewest DRAM
// bytes; of equals the fewer multiplications. A value larger than a DSRAM is taken to lie in DRAM, any other on
// chip.
#include <algorithm>
#include <set>

#include "core/graph/attributes.h"
#include "core/program/compile/passes.h"
#include "core/program/tiling/strips.h"

namespace sdip {
namespace {

constexpr std::int64_t most_remade = 2;  // times the multiplications of a chain, rows made again included
constexpr std::size_t most_parts = 16;

const Shape& shape_of(const Graph& graph, ValueId v) {
  return graph.values[static_cast<std::size_t>(v)].operand.shape;
}

std::int64_t attribute_at(const Node& node, const char* name, std::size_t i, std::int64_t otherwise) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return otherwise;
  const auto* values = std::get_if<std::vector<std::int64_t>>(&found->second);
  return values != nullptr && i < values->size() ? (*values)[i] : otherwise;
}

/// Whether a node reads `made` under another shape or in another order: its rows are not those that were made.
bool reads_otherwise(const Graph& graph, const Node& node, ValueId made) {
  return std::ranges::any_of(node.inputs, [&](ValueId input) {
    bool turned = false;
    for (ValueId v = input; v != made;) {
      const NodeId maker = v == none ? none : graph.values[static_cast<std::size_t>(v)].producer;
      if (maker == none) return false;
      const Node& seen_through = graph.nodes[static_cast<std::size_t>(maker)];
      const Family family = work_of(graph, seen_through).family;
      if ((family != Family::view && family != Family::transpose) || seen_through.inputs.empty()) return false;
      turned |= family == Family::transpose;
      v = seen_through.inputs[0];
    }
    return turned || shape_of(graph, input) != shape_of(graph, made);
  });
}

/// Whether all that a draft computes keeps its rows where they are: results of four axes, of one height, each read
/// as it was made.
bool keeps_rows(const Graph& graph, const Draft& draft) {
  const Shape& result = shape_of(graph, draft.destination);
  bool behind = false;  // from the main operator on; a prologue works on what is read
  for (const NodeId n : draft.nodes) {
    const Node& node = graph.nodes[static_cast<std::size_t>(n)];
    behind |= n == draft.node;
    if (node.outputs[0] == none) return false;
    const Shape& out = shape_of(graph, node.outputs[0]);
    if (result.size() != 4 || out.size() != 4) return false;
    for (const NodeId other : draft.nodes)
      if (other != n && reads_otherwise(graph, graph.nodes[static_cast<std::size_t>(other)], node.outputs[0]))
        return false;
    if (!behind) continue;
    if (out[2] != result[2]) return false;
    if (n != draft.node && !works_by_elements(graph, node)) return false;
  }
  return true;
}

/// How the rows of a draft's result follow from those of its operand, as a nest; nothing when it is not row by row.
std::optional<LoopNest> rows_of(const Graph& graph, const Draft& draft) {
  if (draft.operands.empty() || draft.prologue_sums || draft.work.element_cycles != 1) return std::nullopt;
  if (!draft.nodes.empty() && !keeps_rows(graph, draft)) return std::nullopt;
  const Work& work = draft.work;
  const Node& node = graph.nodes[static_cast<std::size_t>(draft.node)];
  if (work.family == Family::conv2d && draft.weighted)  // of others the nest's rows are not the result's
    return node.op->type == "Conv" || node.op->type == "QuantizedConv" ? std::optional(work.nest) : std::nullopt;
  if (work.family != Family::vector || work.rows != 1 || work.passes != 1) return std::nullopt;
  if (node.inputs.empty() || node.inputs[0] == none || node.outputs[0] == none) return std::nullopt;
  const Shape& out = shape_of(graph, node.outputs[0]);
  const bool one_result = std::ranges::count(node.outputs, none) + 1 == std::ssize(node.outputs);
  const bool pools = one_result && (node.op->type == "MaxPool" || node.op->type == "AveragePool");
  const bool resizes = node.op->type == "Resize" || node.op->type == "Upsample";
  if (out.size() != 4 || element_count(out) != draft.out_elements) return std::nullopt;
  const Shape& in = pools || resizes ? shape_of(graph, node.inputs[0]) : out;
  if (in.size() != 4 || in[0] != out[0] || in[1] != out[1] || work.row_length % (out[0] * out[2]) != 0)
    return std::nullopt;
  if (!pools && !resizes && !(draft.elementwise && works_by_elements(graph, node))) return std::nullopt;
  LoopNest nest;
  nest.batch = in[0];
  nest.in_channels = nest.out_channels = in[1];
  nest.in_h = in[2], nest.in_w = in[3], nest.out_h = out[2], nest.out_w = out[3];
  if (resizes && (work.row_length != draft.out_elements || out[2] % in[2] != 0 || out[3] % in[3] != 0))
    return std::nullopt;  // not nearest, or by no whole number
  if (pools) {
    nest.kernel_h = attribute_at(node, "kernel_shape", 0, 1);
    nest.stride_h = attribute_at(node, "strides", 0, 1);
    nest.dilation_h = attribute_at(node, "dilations", 0, 1);
    if (out[2] > in[2]) return std::nullopt;
  }
  return nest;
}

bool follows(const LoopNest& before, const LoopNest& next) {
  return before.batch == next.batch && before.out_h == next.in_h && before.out_w == next.in_w &&
         before.groups * before.out_channels == next.groups * next.in_channels;
}

/// Whether what `before` makes is, row for row, what `next` reads, once.
bool takes_strips(const Graph& graph, const Draft& before, const LoopNest& before_rows, const Draft& next,
                  const LoopNest& rows) {
  if (before.out_elements == 0) return false;
  if (std::ranges::count(next.operands, before.destination, &DraftOperand::value) != 1) return false;
  if (is_nest(next.work.family) && next.operands[0].value != before.destination) return false;
  for (const NodeId n : next.nodes)
    if (reads_otherwise(graph, graph.nodes[static_cast<std::size_t>(n)], before.destination)) return false;
  return follows(before_rows, rows);
}

struct Chain {
  std::vector<Draft> drafts;
  std::vector<LoopNest> rows;
  std::vector<bool> may_begin;  // strips of one: its first operand comes row by row
  bool line_buffers = false;

  /// Which operand of draft `i` is the strip that the one before it made.
  std::size_t main_operand(std::size_t i, bool first) const {
    if (first) return 0;
    return static_cast<std::size_t>(
        std::ranges::find(drafts[i].operands, drafts[i - 1].destination, &DraftOperand::value) -
        drafts[i].operands.begin());
  }

  Part part_of(std::size_t i, bool first, Draft& joined) const {
    const Draft& draft = drafts[i];
    const std::size_t main = main_operand(i, first);
    Part part;
    part.work = draft.work;
    part.work.nest = rows[i];
    part.work.read_elements.clear();
    if (!is_nest(draft.work.family)) part.read_elements = draft.operands[main].fetch.elements;
    part.operand_b = draft.weighted ? Place::psram : Place::nowhere;
    part.fetches = draft.weight_fetches;
    part.out_elements = draft.out_elements;
    part.fused_operators = std::ssize(draft.fused);
    part.fused_passes = most_uses(draft.fused);
    part.prologue_passes = draft.prologue_passes;
    const std::int64_t channels = rows[i].groups * rows[i].out_channels;
    part.weight_elements_per_channel = ceil_div(draft.weight_elements, channels);
    part.bias_elements_per_channel = ceil_div(draft.bias_elements, channels);
    part.weight_elements = draft.held_weight_elements;
    for (std::size_t o = 0; o < draft.operands.size(); ++o) {
      if (o == main && !first) continue;
      joined.operands.push_back(draft.operands[o]);
      if (o != main) part.fetches.push_back(draft.operands[o].fetch);
    }
    return part;
  }

  /// Drafts first to last as one.
  Draft join(std::size_t first, std::size_t last) const {
    Draft joined;
    joined.node = drafts[last].node;
    joined.compound = Compound::strips;
    joined.line_buffers = line_buffers;
    joined.weighted = true;
    joined.work.family = Family::conv2d;
    joined.work.nest = rows[last];
    joined.destination = drafts[last].destination;
    joined.out_elements = drafts[last].out_elements;
    for (std::size_t i = first; i <= last; ++i) {
      joined.parts.push_back(part_of(i, i == first, joined));
      if (i == first) joined.formats = drafts[i].formats;
      take_formats(joined, drafts[i]);
      joined.weights.insert(joined.weights.end(), drafts[i].weights.begin(), drafts[i].weights.end());
      joined.nodes.insert(joined.nodes.end(), drafts[i].nodes.begin(), drafts[i].nodes.end());
      joined.mnemonic += (i == first ? "strips:" : ">") + full_mnemonic(drafts[i]);
    }
    joined.parts.back().statistics_passes = drafts[last].statistics_passes;
    std::ranges::sort(joined.nodes);
    return joined;
  }

  /// The instructions that drafts first to last become: what runs before for the sums of the norms inside, with no
  /// result but these, and the whole.
  std::vector<Draft> instructions(std::size_t first, std::size_t last) const {
    if (first == last) return {drafts[first]};
    std::vector<Draft> all;
    for (std::size_t i = first + 1; i <= last; ++i) {
      if (drafts[i].prologue.empty()) continue;
      all.push_back(join(first, i - 1));
      all.back().parts.back().statistics_passes = 1;
      all.back().out_elements = 0;
      all.back().nodes.clear();
      all.back().mnemonic += "_sums";
    }
    all.push_back(join(first, last));
    return all;
  }
};

/// What an instruction would move, were every value larger than a DSRAM in DRAM.
struct Estimate {
  const Graph& graph;
  const Machine& machine;
  const Lives& lives;
  TileRoom room;
  std::int64_t on_chip_bytes = 0;
  MappingCache& mappings;
  CapacityRange& weight_room;  // narrowed by what is asked

  Place place_of(ValueId v, bool worst) const {
    const Value& value = graph.values[static_cast<std::size_t>(v)];
    if (value.kind == ValueKind::input && is_scalar(value)) return Place::scalar;
    const Life& life = lives[static_cast<std::size_t>(v)];
    return worst || life.in_dram || life.leaves_by_dram || life.bytes > on_chip_bytes ? Place::dram : Place::dsram;
  }

  InstructionClass class_of(const Draft& draft, bool worst) const {
    InstructionClass c =
        sdip::class_of(draft, [&](std::size_t i) { return place_of(draft.operands[i].value, worst); });
    c.to_dram = draft.out_elements > 0 && place_of(draft.destination, worst) == Place::dram;
    c.to_dsram = draft.out_elements > 0 && !c.to_dram;
    return c;
  }

  std::optional<Mapping> mapping_of(const InstructionClass& c, const TileRoom& its) const {
    const MappingStep step = mappings.step_of(c, its);
    weight_room.narrow(step.weight_room);
    return step.mapping;
  }

  /// What whole operands and results leave of the room; below 0 where they alone are too large. Of a unified memory
  /// the room is what values do not use.
  TileRoom beside_values(const Draft& draft, const InstructionClass& c, TileRoom its) const {
    if (machine.activation_memory == ActivationMemory::unified) return its;
    std::set<ValueId> read;
    for (const DraftOperand& operand : draft.operands)
      if (place_of(operand.value, false) == Place::dsram && read.insert(operand.value).second)
        its.read_bytes -= lives[static_cast<std::size_t>(operand.value)].bytes;
    if (c.to_dsram) its.write_bytes -= lives[static_cast<std::size_t>(draft.destination)].bytes;
    return its;
  }

  /// The class with its mapping: with whole values on chip where tiles have room beside them, else without.
  std::optional<InstructionClass> mapped(const Draft& draft, const TileRoom& its) const {
    InstructionClass worst = class_of(draft, true), c = class_of(draft, false);
    std::optional<Mapping> mapping = mapping_of(worst, its);
    if (!mapping && draft.compound == Compound::strips) return std::nullopt;  // they must fit in any case
    const TileRoom beside = beside_values(draft, c, its);
    const auto better = beside.read_bytes < 0 || beside.write_bytes < 0 ? std::nullopt : mapping_of(c, beside);
    if (!better) c = std::move(worst);
    if (better) mapping = better;
    if (!mapping) return std::nullopt;
    c.mapping = *mapping;
    return c;
  }

  /// DRAM bytes and multiplications; nothing when it does not fit.
  std::optional<ChainCost> of(const Draft& draft) const {
    TileRoom its = room;
    give_formats(its, class_of(draft, false), machine);
    std::optional<InstructionClass> c = mapped(draft, its);
    if (!c) return std::nullopt;
    if (draft.compound != Compound::strips)
      return ChainCost{dram_bytes(*c, its), is_nest(c->work.family) ? mac_count(c->work.nest) : 0};
    const AskedCapacity weights(its.weight_bytes);
    stream_weights(*c, its, weights);
    weight_room.narrow(weights.same());
    std::int64_t own = 0;
    for (const Part& part : c->parts) own += is_nest(part.work.family) ? mac_count(part.work.nest) : 0;
    const std::int64_t macs = strip_macs(*c);
    if (macs > most_remade * own) return std::nullopt;
    return ChainCost{strip_dram_bytes(*c, its), macs};
  }
};

/// The cheapest cuts of a chain, as the first draft of each instruction.
std::vector<std::size_t> cuts_of(const Chain& chain, const Estimate& estimate) {
  return best_cuts(chain.drafts.size(), [&](std::size_t first, std::size_t last) {
    std::optional<ChainCost> sum = ChainCost{};
    if (last - first >= most_parts || (last > first && !chain.may_begin[first])) return sum = std::nullopt;
    for (const Draft& draft : chain.instructions(first, last)) {
      const auto one = estimate.of(draft);
      if (!one && first == last) return sum = ChainCost{1, 0};  // placing says what does not fit
      if (!one) return sum = std::nullopt;
      sum->dram_bytes += one->dram_bytes;
      sum->macs += one->macs;
    }
    return sum;
  });
}

/// The room of an instruction of whose operands none is whole on chip; of a unified memory half for such tiles.
TileRoom room_of(const Machine& machine, Role role) {
  TileRoom room = machine_room(machine, weight_place(machine, role));
  room.read_bytes = room.write_bytes = machine.activation_memory == ActivationMemory::separate
                                           ? dsram_bytes_of(machine, Family::conv2d)
                                           : (2 * machine.dsram_bytes + machine.stackram_bytes) / 4;
  return room;
}

struct Linking {
  const Compilation& c;
  std::vector<std::int32_t> uses;

  /// Whether `next` can take strips of what `before` makes.
  bool linked(const Draft& before, const LoopNest& before_rows, const Draft& next, const LoopNest& rows) const {
    if (uses[static_cast<std::size_t>(before.destination)] != 1) return false;
    const bool sums_again = c.machine.norm_statistics == NormStatistics::recompute && before.statistics_passes == 1;
    return (next.prologue.empty() || sums_again) && takes_strips(*c.graph, before, before_rows, next, rows);
  }

  /// Whether rows of a draft's first operand come as they are: a feature map of the size that its rows have. One
  /// that repeats along an axis comes otherwise.
  bool reads_rows(const Draft& draft, const LoopNest& rows) const {
    const std::int64_t size = rows.batch * rows.groups * rows.in_channels * rows.in_h * rows.in_w;
    return std::ranges::any_of(draft.nodes, [&](NodeId n) {
      return std::ranges::any_of(c.graph->nodes[static_cast<std::size_t>(n)].inputs, [&](ValueId v) {
        if (v == none || c.roots[static_cast<std::size_t>(v)] != draft.operands[0].value) return false;
        const Shape& shape = shape_of(*c.graph, v);
        return shape.size() == 4 && element_count(shape) == size;
      });
    });
  }

  /// The chain that begins with draft `i`; empty when that is not row by row.
  Chain chain_at(std::size_t i) const {
    Chain chain;
    chain.line_buffers = c.machine.strips == Strips::line_buffers;
    for (; i < c.drafts.size(); ++i) {
      const auto rows = rows_of(*c.graph, c.drafts[i]);
      if (!rows) break;
      const auto shares = [&](const Draft& draft) { return share_formats(draft, c.drafts[i], c.machine); };
      if (!std::ranges::all_of(chain.drafts, shares)) break;
      if (!chain.drafts.empty() && !linked(chain.drafts.back(), chain.rows.back(), c.drafts[i], *rows)) break;
      chain.drafts.push_back(c.drafts[i]);
      chain.rows.push_back(*rows);
      chain.may_begin.push_back(reads_rows(c.drafts[i], *rows));
    }
    return chain;
  }
};

/// A place for the sums of an instruction that makes nothing else: a value of its own.
void name_sums(Draft& draft, std::shared_ptr<Graph>& graph, Compilation& c) {
  if (draft.out_elements > 0) return;
  if (!graph) graph = std::make_shared<Graph>(*c.graph);
  draft.destination = static_cast<ValueId>(graph->values.size());
  Value& value = graph->values.emplace_back();
  value.name = graph->nodes[static_cast<std::size_t>(draft.node)].name + "/sums";
  value.operand.shape = {draft.parts.back().statistics_passes, 2};
  c.roots.push_back(draft.destination);
}

}  // namespace

std::vector<std::size_t> best_cuts(std::size_t count,
                                   const std::function<std::optional<ChainCost>(std::size_t, std::size_t)>& cost) {
  std::vector<std::optional<ChainCost>> best(count + 1);
  std::vector<std::size_t> from(count + 1, 0);
  best[0] = ChainCost{};
  for (std::size_t end = 1; end <= count; ++end) {
    for (std::size_t first = end; first-- > 0;) {  // single drafts first: strips only where they cost less
      const auto last_part = best[first] ? cost(first, end - 1) : std::nullopt;
      if (!last_part) continue;
      const ChainCost sum{best[first]->dram_bytes + last_part->dram_bytes, best[first]->macs + last_part->macs};
      if (best[end] && !(sum < *best[end])) continue;
      best[end] = sum;
      from[end] = first;
    }
  }
  std::vector<std::size_t> cuts;
  for (std::size_t end = count; end > 0; end = from[end]) cuts.insert(cuts.begin(), from[end]);
  return cuts;
}

std::optional<Draft> joined_strips(const Graph& graph, const std::vector<Draft>& drafts, bool line_buffers) {
  Chain chain;
  chain.line_buffers = line_buffers;
  for (const Draft& draft : drafts) {
    const auto rows = rows_of(graph, draft);
    if (!rows ||
        (!chain.drafts.empty() && !takes_strips(graph, chain.drafts.back(), chain.rows.back(), draft, *rows)))
      return std::nullopt;
    chain.drafts.push_back(draft);
    chain.rows.push_back(*rows);
  }
  if (drafts.empty()) return std::nullopt;
  return chain.join(0, drafts.size() - 1);
}

void fuse_strips(Compilation& c) {
  if (c.machine.strips == Strips::off) return;
  live(c);
  const Linking linking{c, use_counts(*c.graph, c.drafts, c.roots)};
  const TileRoom room = room_of(c.machine, c.role);
  CapacityRange weight_room;
  const Estimate estimate{*c.graph, c.machine, c.lives, room, room.read_bytes, *c.mappings, weight_room};
  std::vector<Draft> fused;
  std::shared_ptr<Graph> graph;
  for (std::size_t i = 0; i < c.drafts.size();) {
    const Chain chain = linking.chain_at(i);
    if (chain.drafts.size() < 2) {
      fused.push_back(c.drafts[i++]);
      continue;
    }
    const std::vector<std::size_t> cuts = cuts_of(chain, estimate);
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      const std::size_t last = (k + 1 < cuts.size() ? cuts[k + 1] : chain.drafts.size()) - 1;
      for (Draft& draft : chain.instructions(cuts[k], last)) {
        name_sums(draft, graph, c);
        fused.push_back(std::move(draft));
      }
    }
    i += chain.drafts.size();
  }
  narrow_psram(c, weight_room);
  c.drafts = std::move(fused);
  if (graph) c.graph = std::move(graph);
}

}  // namespace sdip
