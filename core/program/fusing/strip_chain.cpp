// How a chain becomes instructions that carry strips through it.
#include "core/program/fusing/strip_chain.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/program/fusing/alike_chains.h"

namespace sdip {
namespace {

constexpr std::int64_t most_remade = 2;  // times the multiplications of a chain, rows made again included

/// An instruction to be, with its mapping and the room that this was chosen in.
struct Fitted {
  InstructionClass c;
  TileRoom room;
};

/// An estimate of an instruction, as if every value larger than a DSRAM were in DRAM.
struct Estimate {
  const Graph& graph;
  const Machine& machine;
  const Lives& lives;
  TileRoom room;
  std::int64_t on_chip_bytes = 0;
  MappingCache& mappings;
  CapacityRange& weight_room;  // narrowed by what is asked

  Place place_of(ValueId v, bool worst) const {
    const Value& value = graph.values[v];
    if (value.kind == ValueKind::input && is_scalar(value)) return Place::scalar;
    const Life& life = lives[v];
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

  /// The room that whole operands and results leave; below 0 where they alone are too large. In a unified memory
  /// the room is what values do not use.
  TileRoom beside_values(const Draft& draft, const InstructionClass& c, TileRoom its) const {
    if (is_unified(machine)) return its;
    std::set<ValueId> read;
    for (const DraftOperand& operand : draft.operands)
      if (place_of(operand.value, false) == Place::dsram && read.insert(operand.value).second)
        its.read_bytes -= lives[operand.value].bytes;
    if (c.to_dsram) its.write_bytes -= lives[draft.destination].bytes;
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

  /// The draft's class with its mapping, and which of its weights are streamed; nothing when it does not fit.
  std::optional<Fitted> fitted(const Draft& draft) const {
    TileRoom its = room;
    give_formats(its, class_of(draft, false), machine);
    std::optional<InstructionClass> c = mapped(draft, its);
    if (!c) return std::nullopt;
    if (draft.compound == Compound::strips) {
      const AskedCapacity weights(its.weight_bytes);
      stream_weights(*c, its, weights);
      weight_room.narrow(weights.same());
    }
    return Fitted{std::move(*c), its};
  }
};

/// DRAM bytes and multiplications; nothing when too many rows are made again.
std::optional<ChainCost> cost_of(const Fitted& one) {
  const InstructionClass& c = one.c;
  if (c.compound != Compound::strips)
    return ChainCost{dram_bytes(c, one.room), is_nest(c.work.family) ? mac_count(c.work.nest) : 0};
  std::int64_t own = 0;
  for (const Part& part : c.parts) own += is_nest(part.work.family) ? mac_count(part.work.nest) : 0;
  const std::int64_t macs = strip_macs(c);
  if (macs > most_remade * own) return std::nullopt;
  return ChainCost{strip_dram_bytes(c, one.room), macs};
}

bool normalises(const Draft& draft) { return draft.work.family == Family::norm; }

/// A chain, and how its cuts are weighed.
class Cutting {
 public:
  Cutting(const StripChain& chain, const Estimate& estimate, const List<std::int32_t>& uses)
      : chain_(chain),
        estimate_(estimate),
        uses_(uses),
        norms_join_(estimate.machine.fusion == Fusion::norm),
        singles_(chain.singles()) {
    if (chain.has_heads(0, chain.drafts.size() - 1)) find_cycles();
  }

  /// The cheapest cuts, as the first draft of each instruction. Where norms are fused to products, one of a chain
  /// that stays single drafts costs nothing: so it stays, unless strips cost less than that.
  std::vector<std::size_t> best() const {
    const auto cost = [&](std::size_t first, std::size_t last) { return cost_of(first, last); };
    std::vector<std::size_t> cuts = best_cuts(chain_.drafts.size(), cost);
    if (cuts == singles_ || !norms_join_ || std::ranges::none_of(chain_.drafts, normalises)) return cuts;
    std::int64_t apart = 0, joined = 0;
    for (std::size_t k = 0; k < singles_.size(); ++k)
      if (!normalises(chain_.drafts[singles_[k]])) apart += cost(singles_[k], last_of(singles_, k))->dram_bytes;
    for (std::size_t k = 0; k < cuts.size(); ++k) joined += cost(cuts[k], last_of(cuts, k))->dram_bytes;
    return joined < apart ? cuts : singles_;
  }

 private:
  std::size_t last_of(const std::vector<std::size_t>& cuts, std::size_t k) const {
    return (k + 1 < cuts.size() ? cuts[k + 1] : chain_.drafts.size()) - 1;
  }

  /// The cost of drafts first to last as one instruction, with what it needs before it; nothing where they cannot
  /// be one.
  std::optional<ChainCost> cost_of(std::size_t first, std::size_t last) const {
    const bool single = chain_.one(first, last) != nullptr;
    if (!single) {
      if (last - first >= most_strip_parts || chain_.splits_attention(first, last)) return std::nullopt;
      if (!chain_.may_begin[first] || !chain_.is_closed(first, last, uses_)) return std::nullopt;
    }
    ChainCost sum;
    for (const Draft& draft : chain_.instructions(first, last)) {
      const auto one = estimate_.fitted(draft);
      const auto cost = one ? sdip::cost_of(*one) : std::nullopt;
      if (!cost && single) return ChainCost{1, 0};  // placing says what does not fit
      if (!cost || (!single && is_slower(*one, first, last))) return std::nullopt;
      sum.dram_bytes += cost->dram_bytes;
      sum.macs += cost->macs;
    }
    return sum;
  }

  /// Whether what has products of heads takes more cycles on the reference machine than its drafts one by one:
  /// there a row's scores wait on chip between the parts, here they never leave the units.
  bool is_slower(const Fitted& joined, std::size_t first, std::size_t last) const {
    if (!chain_.has_heads(first, last)) return false;
    std::int64_t apart = 0;
    for (std::size_t k = 0; k < singles_.size(); ++k)
      if (first <= singles_[k] && singles_[k] <= last) apart += cycles_[k];
    return reference_cycles(joined.c, joined.room) > apart;
  }

  void find_cycles() {
    for (std::size_t k = 0; k < singles_.size(); ++k) {
      const bool joins = norms_join_ && normalises(chain_.drafts[singles_[k]]);
      const auto one = joins ? std::nullopt : estimate_.fitted(*chain_.one(singles_[k], last_of(singles_, k)));
      cycles_.push_back(one ? reference_cycles(one->c, one->room) : 0);
    }
  }

  const StripChain& chain_;
  const Estimate& estimate_;
  const List<std::int32_t>& uses_;
  const bool norms_join_;
  const std::vector<std::size_t> singles_;
  std::vector<std::int64_t> cycles_;  // of these, where there are heads
};

/// The room of an instruction of whose operands none is whole on chip; of a unified memory half for such tiles.
TileRoom room_of(const Machine& machine, Role role, Family family) {
  TileRoom room = machine_room(machine, weight_place(machine, role));
  room.read_bytes = room.write_bytes =
      is_unified(machine) ? unified_bytes(machine) / 4 : dsram_bytes_of(machine, family);
  return room;
}

/// A place for the sums of an instruction that makes nothing else: a value of its own.
void name_sums(Draft& draft, std::shared_ptr<Graph>& graph, Compilation& c) {
  if (draft.out_elements > 0) return;
  if (!graph) graph = std::make_shared<Graph>(*c.graph);
  draft.destination = add_sums(*graph, draft.node, draft.parts.back().statistics_passes, c.roots);
}

/// Rows of features of a batch's frames, of parts that have them one frame behind the other: as those of others
/// that keep frames apart.
void keep_frames_apart(std::vector<Part>& parts) {
  std::int64_t frames = 1;
  for (const Part& part : parts) frames = std::max(frames, part.work.nest.batch);
  for (Part& part : parts) {
    LoopNest& nest = part.work.nest;
    if (nest.batch == frames) continue;
    nest.batch = frames;
    nest.in_h /= frames;
    nest.out_h /= frames;
  }
}

}  // namespace

std::size_t StripChain::draft_count() const { return drafts.size() - 2 * attentions.size() + passed.size(); }

std::vector<std::size_t> StripChain::singles() const {
  std::vector<std::size_t> singles;
  for (std::size_t i = 0; i < drafts.size(); ++i)
    if (!splits_attention(i, drafts.size() - 1)) singles.push_back(i);
  return singles;
}

const Draft* StripChain::one(std::size_t first, std::size_t last) const {
  const auto attention = attentions.find(first);
  if (attention != attentions.end()) return last == first + 2 ? &attention->second : nullptr;
  return first == last && !splits_attention(first, last) ? &drafts[first] : nullptr;
}

bool StripChain::splits_attention(std::size_t first, std::size_t last) const {
  return std::ranges::any_of(attentions, [&](const auto& attention) {
    const std::size_t begin = attention.first, end = begin + 2;
    return (begin < first && first <= end) || (begin <= last && last < end);
  });
}

bool StripChain::has_heads(std::size_t first, std::size_t last) const {
  return std::any_of(drafts.begin() + static_cast<std::ptrdiff_t>(first),
                     drafts.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                     [](const Draft& draft) { return draft.work.family == Family::matmul; });
}

bool StripChain::is_branch(std::size_t i, std::size_t first) const {
  return i > first && is_nest(drafts[i].work.family) && drafts[i].operands[0].value != drafts[i - 1].destination;
}

/// Whether draft `i` reads rows of `value`, of so many elements, beside its operand, each element where the
/// result's is made.
bool StripChain::comes_beside(std::size_t i, const DraftOperand& operand, ValueId value,
                              std::int64_t elements) const {
  return family == Family::linear && rows[i].groups == 1 && operand.value == value && operand.aligned &&
         operand.fetch.per_fold && operand.fetch.passes == 1 && operand.fetch.elements == elements &&
         drafts[i].out_elements == elements;
}

/// The same of what draft `j` made.
bool StripChain::comes_beside(std::size_t i, const DraftOperand& operand, std::size_t j) const {
  return comes_beside(i, operand, drafts[j].destination, drafts[j].out_elements);
}

/// And of what the draft reads that a strip begins with.
bool StripChain::is_a_beside(std::size_t i, const DraftOperand& operand, std::size_t first) const {
  if (family != Family::linear || !begins_in_order[first]) return false;
  return comes_beside(i, operand, drafts[first].operands[0].value, rows[first].in_h * rows[first].in_channels);
}

Part StripChain::part_of(std::size_t i, std::size_t first, Draft& joined) const {
  const Draft& draft = drafts[i];
  const bool inside = i > first;
  const auto is_made = [&](const DraftOperand& operand) {
    return inside && operand.value == drafts[i - 1].destination;
  };
  const auto was_made = [&](const DraftOperand& operand) {
    for (std::size_t j = first; j + 1 < i; ++j)
      if (comes_beside(i, operand, j)) return true;
    return false;
  };
  Part part;
  const bool branch = is_branch(i, first);
  std::size_t main = 0;  // the operand that is the strip
  if (inside && !branch) main = as_size(std::ranges::find_if(draft.operands, is_made) - draft.operands.begin());
  part.work = draft.work;
  part.work.nest = rows[i];
  part.work.read_elements.clear();
  if (branch) part.read_elements = draft.out_elements;
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
  const bool multiplies_two = is_nest(draft.work.family) && !draft.weighted;
  for (std::size_t o = 0; o < draft.operands.size(); ++o) {
    const DraftOperand& operand = draft.operands[o];
    if ((o == main && inside) || is_made(operand)) continue;
    if (o != main && inside && was_made(operand)) {
      ++part.rows_beside;
    } else if (o != main && inside && is_a_beside(i, operand, first)) {
      ++part.a_beside;
    } else {
      joined.operands.push_back(operand);
      if (o != main && !(multiplies_two && o == 1)) part.fetches.push_back(operand.fetch);
    }
  }
  return part;
}

Draft StripChain::join(std::size_t first, std::size_t last) const {
  Draft joined;
  joined.node = drafts[last].node;
  joined.compound = Compound::strips;
  joined.line_buffers = line_buffers;
  joined.weighted = true;
  joined.work.family = family;
  joined.destination = drafts[last].destination;
  joined.out_elements = drafts[last].out_elements;
  for (std::size_t i = first; i <= last; ++i) {
    joined.parts.push_back(part_of(i, first, joined));
    if (i == first) joined.formats = drafts[i].formats;
    take_formats(joined, drafts[i]);
    joined.weights.insert(joined.weights.end(), drafts[i].weights.begin(), drafts[i].weights.end());
    joined.nodes.insert(joined.nodes.end(), drafts[i].nodes.begin(), drafts[i].nodes.end());
    joined.mnemonic += (i == first ? "strips:" : ">") + full_mnemonic(drafts[i]);
  }
  if (family == Family::linear) keep_frames_apart(joined.parts);
  joined.work.nest = joined.parts.back().work.nest;
  joined.parts.back().statistics_passes = drafts[last].statistics_passes;
  std::ranges::sort(joined.nodes);
  return joined;
}

List<Draft> StripChain::instructions(std::size_t first, std::size_t last) const {
  if (const Draft* single = one(first, last)) return {*single};
  List<Draft> all;
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

bool StripChain::is_closed(std::size_t first, std::size_t last, const List<std::int32_t>& uses) const {
  for (std::size_t i = first; i < last; ++i) {
    std::int32_t inside = 0;
    for (std::size_t j = i + 1; j <= last; ++j) {
      const auto reads = std::ranges::count(drafts[j].operands, drafts[i].destination, &DraftOperand::value);
      const auto is_beside = [&](const DraftOperand& operand) { return comes_beside(j, operand, i); };
      const auto by_branch = [&] {
        return is_branch(j, first) && drafts[j].operands[0].value == drafts[i].destination;
      };
      if (reads > 0 && j > i + 1)
        if (reads > 1 || (!by_branch() && std::ranges::none_of(drafts[j].operands, is_beside))) return false;
      inside += static_cast<std::int32_t>(reads);
    }
    if (inside < uses[drafts[i].destination]) return false;  // inside an attention: 0
  }
  return true;
}

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

void carry_chains(Compilation& c, const List<std::int32_t>& uses,
                  const std::function<StripChain(std::size_t)>& chain_at) {
  CapacityRange weight_room;
  List<Draft> fused;
  std::shared_ptr<Graph> graph;
  std::vector<std::pair<StripChain, std::vector<std::size_t>>> known;  // chains and their cuts
  const auto cuts_of = [&](const StripChain& chain) {
    const auto alike =
        std::ranges::find_if(known, [&](const auto& other) { return are_alike(c, uses, other.first, chain); });
    if (alike != known.end()) return alike->second;
    const TileRoom room = room_of(c.machine, c.role, chain.family);
    const std::int64_t on_chip = room.read_bytes / (chain.family == Family::linear ? c.chip_share : 1);
    const Estimate estimate{*c.graph, c.machine, c.lives, room, on_chip, *c.mappings, weight_room};
    return known.emplace_back(chain, Cutting(chain, estimate, uses).best()).second;
  };
  for (std::size_t i = 0; i < c.drafts.size();) {
    const StripChain chain = chain_at(i);
    if (chain.drafts.size() < 2) {
      fused.push_back(c.drafts[i++]);
      continue;
    }
    const std::vector<std::size_t> cuts = cuts_of(chain);
    if (cuts == chain.singles()) {
      const auto begin = c.drafts.begin() + static_cast<std::ptrdiff_t>(i);
      fused.insert(fused.end(), begin, begin + static_cast<std::ptrdiff_t>(chain.draft_count()));
      i += chain.draft_count();
      continue;
    }
    fused.insert(fused.end(), chain.passed.begin(), chain.passed.end());
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      const std::size_t last = (k + 1 < cuts.size() ? cuts[k + 1] : chain.drafts.size()) - 1;
      for (Draft& draft : chain.instructions(cuts[k], last)) {
        name_sums(draft, graph, c);
        if (draft.compound == Compound::strips) c.strips.push_back(draft.nodes);
        fused.push_back(std::move(draft));
      }
    }
    i += chain.draft_count();
  }
  narrow_psram(c, weight_room);
  c.drafts = std::move(fused);
  if (graph) c.graph = std::move(graph);
}

}  // namespace sdip
