// A layer explained: what it needs of each resource, how long it takes, and both its bounds.
#include "core/cost/explain/explain_layer.h"

#include <algorithm>

#include "core/cost/explain/explain_symbols.h"
#include "core/cost/explain/filled_steps.h"

namespace sdip {

using namespace cost;
namespace {

/// More kinds of transfers, or shapes, than a reader would add up.
constexpr std::size_t most_written = 24;

std::int64_t stalls_of(const InstructionTime& time) {
  return time.stall_weights + time.stall_activations + time.stall_program;
}

/// A term whose figure is the engine's, with a formula where that comes to it.
FilledTerm term(std::string_view what, const char* section, const std::string& formula, const Filled& numbers,
                std::int64_t value) {
  return {std::string(what), section, formula, numbers.value() == value ? numbers.text() : std::string(), value};
}

/// Channel cycles of an instruction's words, where they are streamed.
Filled words_cycles(const TimelineRules& rules, std::int64_t bytes) {
  return ceiling(number(bytes), rules.rate.q, rules.rate.p);
}

/// The most MACs that the array of a class's products makes a cycle, on one core.
std::int64_t array_macs(const InstructionClass& c, const ClassCost& cost, const Machine& m) {
  const ArrayLanes lanes = array_lanes(c.work.family, m);
  return lanes.rows * lanes.channels * lanes.sum * cost.products_in_mac;
}

/// Writes the explanation of a layer, in formulas.
class Layer {
 public:
  Layer(const ExplainedStage& s, LayerExplanation& e)
      : s_(s),
        m_(s.run.machine),
        e_(e),
        number_(as_size(s.run.stage->program.instructions[e.layer.index].instruction_class)),
        c_(s.run.stage->program.classes[number_]),
        r_(resolve(c_, m_, s.run.stage->role)),
        cost_(s.run.costs[number_]),
        time_(s.trace[e.layer.index]) {}

  void explain() {
    on_chip_needs();
    channel();
    time();
    bounds();
  }

 private:
  void on_chip_needs() {
    const bool few = std::max(cost_.shapes.size(), cost_.kinds.size()) <= most_written;
    const std::vector<FilledSteps> written = few ? filled_steps(c_, r_, cost_) : std::vector<FilledSteps>();
    e_.written_out = !written.empty();
    FilledBusy all;
    Filled work;
    for (std::size_t i = 0; few && i < cost_.shapes.size(); ++i) {
      const TileCost& tile = cost_.shapes[i];
      const FilledBusy busy = e_.written_out ? sum_of(written[i]) : counted(tile.busy);
      all.add(busy, tile.times);
      work += worked(i, e_.written_out ? duration_of(written[i]) : number(tile.cycles), busy);
    }
    if (few && transfers_take_beats()) add_transfers(all);
    const std::string compute =
        e_.written_out ? compute_symbols(c_, r_, cost_) : "tile operations x compute of each step, summed";
    const char* reads =
        cost_.on_host ? "tile operations x ceil(elements x bits/port_bits), by operand"
                      : "tile operations x folds that read x ceil(elements of a fold x bits/port_bits), by operand";
    const char* writes = cost_.on_host
                             ? "tile operations x ceil(results x bits/port_bits)"
                             : "tile operations x folds written x ceil(elements of a fold x bits/port_bits)";
    const auto add = [&](Needed needed, const std::string& formula, const Filled& numbers) {
      const std::int64_t value = e_.layer.needs[needed];
      if (value > 0) e_.terms.push_back(term(needed_text(needed), section(), formula, numbers, value));
    };
    add(Needed::compute, compute, all[Resource::compute]);
    const auto with = [&](const std::string& formula, Resource port) {
      return cost_.dma[port] > 0 ? formula + " + transfers x ceil(8 x bytes/port_bits)" : formula;
    };
    add(Needed::dsram_read, with(reads, Resource::dsram_read), longest_dsram_read(all));
    add(Needed::dsram_write, with(writes, Resource::dsram_write), all[Resource::dsram_write]);
    add(Needed::stackram_read, reads, all[Resource::stackram_read]);
    add(Needed::stackram_write, writes, all[Resource::stackram_write]);
    const char* shared_port =
        "tile operations x (weights' beats + cores x their stack's), each folds x ceil(elements of a fold x "
        "bits/port_bits)";
    const char* weights = multiplies_weights(c_) && r_.form.scale_group > 0
                              ? "tile operations x folds that read x ceil((elements of a fold x bits + scales of "
                                "groups that begin in it x bits)/port_bits), by operand"
                              : reads;
    const std::string psram = cost_.weight_parts == 1 ? std::string(r_.stack_in_psram ? shared_port : weights)
                              : r_.stack_in_psram     ? "tile operations x cores x (weights' beats + their stack's)"
                                                      : "cores that share it x " + std::string(weights);
    add(Needed::psram_read, with(psram, Resource::psram_read), all[Resource::psram_read]);
    add_events(all);
    e_.terms.push_back(term("work", section(),
                            c_.compound == Compound::single && !cost_.on_host
                                ? transfers_take_beats()
                                      ? "tile operations x max(compute, beats of each port, those of transfers too)"
                                      : "tile operations x max(compute, beats of each port)"
                            : c_.compound == Compound::attention && m_.attention_parts > 1
                                ? "tile operations x max(compute, beats of each port) of each phase, summed"
                                : "tile operations x max(compute, beats of each port) of each step, summed",
                            work, cost_.cycles));
  }

  bool transfers_take_beats() const { return std::ranges::any_of(cost_.dma, std::identity{}); }
  /// Without formulas: what the engine counts.
  static FilledBusy counted(const Busy& busy) {
    FilledBusy filled;
    std::ranges::transform(busy.needs, filled.needs.begin(), sdip::number);
    filled.accumulator_writes = sdip::number(busy.accumulator_writes);
    filled.accumulator_reads = sdip::number(busy.accumulator_reads);
    filled.register_writes = sdip::number(busy.register_writes);
    return filled;
  }
  static Filled number(std::int64_t value) { return sdip::number(value); }

  /// Cycles of all operations of a shape that each last `duration` but for transfers, and need `busy` of the ports.
  Filled worked(std::size_t shape, const Filled& duration, const FilledBusy& busy) const {
    const TileCost& tile = cost_.shapes[shape];
    if (!transfers_take_beats()) return number(tile.times) * duration;
    Filled all;
    for (const OperationKind& kind : cost_.kinds) {
      if (as_size(kind.shape) != shape) continue;
      const auto dma = dma_beats<Filled>(c_, r_, cost_, kind);
      std::vector<Filled> longest = {duration};
      for (std::size_t need = 0; need < core_resources; ++need)
        if (dma[need].value() > 0) longest.push_back(number(busy.needs[need].value()) + dma[need]);
      all += number(kind.times) * (longest.size() == 1 ? duration : largest(longest));
    }
    return all;
  }

  /// To the ports' beats those of transfers.
  void add_transfers(FilledBusy& all) const {
    for (const OperationKind& kind : cost_.kinds) {
      const auto dma = dma_beats<Filled>(c_, r_, cost_, kind);
      for (std::size_t need = 0; need < core_resources; ++need) all.needs[need] += number(kind.times) * dma[need];
    }
  }

  /// Terms of what accumulators and weight registers take in and give out.
  void add_events(const FilledBusy& all) {
    const auto add = [&](const char* what, const char* formula, const Filled& numbers, std::int64_t value) {
      if (value > 0)
        e_.terms.push_back(
            term(what, "docs/model/work.md#accumulators-and-weight-registers", formula, numbers, value));
    };
    add("accumulator_writes", "tile operations x results x folds(sums)", all.accumulator_writes,
        cost_.busy.accumulator_writes);
    add("accumulator_reads", "tile operations x results x (folds(sums) - 1)", all.accumulator_reads,
        cost_.busy.accumulator_reads);
    add("register_writes", "tile operations x runs that load x elements of B", all.register_writes,
        cost_.busy.register_writes);
  }

  const char* section() const {
    if (c_.compound == Compound::attention) return "docs/model/fusion.md#attention";
    if (c_.compound == Compound::strips) return "docs/model/fusion.md#strips";
    return cost_.on_host ? "docs/model/work.md#operators-on-the-host" : "docs/model/work.md";
  }

  void channel() {
    const ChannelMoves& moves = s_.moves[number_];
    if (e_.layer.needs[Needed::dram_channel] == 0) return;
    const bool few = moves.moves.size() <= most_written;
    e_.terms.push_back(
        term("dram_channel", "docs/model/time.md",
             std::string("transfers x ceil(cores x ceil(bytes/burst) x burst x q/p), by operand: ") +
                 (cost_.weight_parts > 1 ? "weights for each core that shares it, words once for all"
                                         : "weights and words once for all cores"),
             few ? channel_cycles<Filled>(moves.moves, s_.rules) + words_cycles(s_.rules, time_.program_bytes)
                 : Filled(),
             e_.layer.needs[Needed::dram_channel]));
    e_.terms.push_back(term("dram_bytes", "docs/model/time.md", "transfers x cores x ceil(bytes/burst) x burst",
                            few ? channel_bytes(moves.moves, s_.rules) + number(time_.program_bytes) : Filled(),
                            e_.layer.dram_bytes));
  }

  void time() {
    const TimelineRules& rules = s_.rules;
    const std::int64_t shape = cost_.shapes[0].micro_operations;
    const std::int64_t command = cost_.on_host ? rules.host_command_cycles : 0;
    const std::int64_t dispatch = rules.dispatch_cycles * shape + command;
    const Filled issue = number(dispatch - command) + number(command) + number(cost_.link_in_cycles) +
                         number(cost_.link_out_cycles) + number(rules.pipeline_stages);
    const auto overhead = e_.layer.needs[Needed::overhead];
    e_.terms.push_back(term("overhead", "docs/model/time.md",
                            command == 0 ? "dispatch_cycles + links + pipeline_stages"
                                         : "dispatch_cycles + host_command_cycles + links + pipeline_stages",
                            issue, overhead));
    const auto stall = [&](const char* what, std::int64_t cycles) {
      if (cycles > 0)
        e_.terms.push_back(
            {what, "docs/model/time.md", "start(t) - end(t-1), summed over the recurrence", "", cycles});
    };
    stall("stall_weights", time_.stall_weights);
    stall("stall_activations", time_.stall_activations);
    stall("stall_program", time_.stall_program);
    const Filled total = number(cost_.cycles) + number(overhead) + number(time_.stall_weights) +
                         number(time_.stall_activations) + number(s_.rules.overlaps ? 0 : time_.stall_program);
    e_.terms.push_back(term("time", "docs/model/time.md", "work + overhead + stalls", total, e_.layer.cycles));
    if (stalls_of(time_) > 0) floors(dispatch);
  }

  /// Lower bounds of the time: the channel moves all activations while the instruction runs, and its work stands
  /// between its first loads and its last results.
  void floors(std::int64_t dispatch) {
    const ChannelMoves& moves = s_.moves[number_];
    if (s_.rules.dispatches_tiles || moves.moves.size() > most_written) return;
    std::vector<Move> activations;
    for (const Move& move : moves.moves)
      if (!move.weights) activations.push_back(move);
    const Filled tail = number(moves.last_stores.empty() && moves.last_loads ? moves.last_cycles : 0);
    const std::int64_t issued = s_.rules.dispatch_overlaps || s_.rules.overlaps ? 0 : dispatch;
    const bool only_results = std::ranges::all_of(activations, &Move::out);
    const Filled head = only_results ? number(issued) + number(moves.first_cycles) : Filled();
    const Filled drain = number(s_.rules.pipeline_stages);
    const Filled moved = head + channel_cycles<Filled>(activations, s_.rules) + tail + drain;
    const Filled before[] = {number(issued), channel_cycles<Filled>(once(moves.first_loads), s_.rules)};
    const Filled worked =
        largest(before) + number(cost_.cycles) + channel_cycles<Filled>(once(moves.last_stores), s_.rules) + drain;
    if (!activations.empty())
      e_.terms.push_back({"moving_time", "docs/model/explanation.md",
                          "first operation, if nothing is loaded + transfers of activations + last, if it leaves "
                          "nothing + pipeline_stages",
                          moved.text(), moved.value()});
    e_.terms.push_back({"working_time", "docs/model/explanation.md",
                        "max(dispatch_cycles, first loads) + work + last results + pipeline_stages", worked.text(),
                        worked.value()});
    const std::int64_t beyond = e_.layer.cycles - std::max(moved.value(), worked.value());
    e_.terms.push_back(term("beyond", "docs/model/explanation.md", "time - the larger of these",
                            number(e_.layer.cycles) - number(std::max(moved.value(), worked.value())), beyond));
  }

  static std::vector<Move> once(std::vector<Move> moves) {
    for (Move& move : moves) move.times = 1;
    return moves;
  }

  void bounds() {
    const Filled bound = bound_cycles();
    e_.bound_cycles = bound.value();
    e_.terms.push_back(
        {"bound_cycles", "docs/model/explanation.md", bound_symbols(c_, r_, cost_), bound.text(), bound.value()});
    const Filled least = least_bytes();
    e_.least_dram_bytes = least.value();
    e_.terms.push_back({"least_dram_bytes", "docs/model/explanation.md",
                        "weights that do not stay + cores x (operands beyond the SRAM + results beyond it)",
                        least.text(), least.value()});
  }

  Filled bound_cycles() const {
    if (cost_.on_host) return {};
    if (!cost_.plan.nest)
      return ceiling(product_of({c_.work.passes, c_.work.rows, c_.work.row_length, c_.work.element_cycles}),
                     r_.row_lanes[c_.work.family]);
    if (made_in_memory(cost_)) return rows_in_memory();
    return ceiling(number(cost_.spent_macs), array_macs(c_, cost_, m_));
  }

  /// Each row of A once; of strips only what the engine counts, summed over their parts.
  Filled rows_in_memory() const {
    if (c_.compound == Compound::strips) return number(cost_.memory_cycles);
    const LoopNest& n = c_.work.nest;
    return product_of({n.groups, n.batch * n.out_h * n.out_w}) *
           ceiling(number(r_.activation_bits), m_.fefet_input_bits) *
           product_of({m_.fefet_columns_per_converter, c_.work.element_cycles});
  }

  /// Elements of operand A of a nest that are read at all.
  static std::int64_t a_elements(const LoopNest& n) {
    return n.groups * n.batch * n.in_channels * window(rows_of(n), 0, n.out_h) * window(columns_of(n), 0, n.out_w);
  }
  static std::int64_t b_elements(const LoopNest& n) { return n.groups * n.batch * n.in_channels * n.out_channels; }
  static bool active(Place place) {
    return place == Place::dsram || place == Place::stackram || place == Place::dram;
  }

  /// Activations that it reads, each once.
  std::int64_t operand_elements() const {
    std::int64_t elements = 0;
    const auto fetched = [&](const std::vector<Fetch>& fetches) {
      for (const Fetch& f : fetches)
        if (active(f.place)) elements += f.elements;
    };
    fetched(c_.fetches);
    const bool chain = c_.compound == Compound::strips;
    if (active(c_.operand_a)) elements += a_elements(chain ? c_.parts.front().work.nest : c_.work.nest);
    if (active(c_.operand_b)) elements += b_elements(c_.work.nest);
    if (c_.compound == Compound::attention) elements += b_elements(c_.parts[2].work.nest);
    return elements;
  }

  Filled least_bytes() const {
    const std::int64_t room = unified_bytes(m_);
    const auto beyond = [&](std::int64_t elements, std::int64_t bits) {
      const Filled bytes = ceiling(product_of({elements, bits}), 8);
      return bytes.value() > room ? bytes - number(room) : Filled();
    };
    const bool fetched = std::ranges::any_of(s_.moves[number_].moves, &Move::weights);
    const Instruction& instruction = s_.run.stage->program.instructions[e_.layer.index];
    const Filled once = number(fetched ? instruction.weight_bytes.value : 0);
    const Filled activations =
        beyond(operand_elements(), r_.activation_bits) + beyond(c_.out_elements, r_.result_bits(c_));
    return once + number(s_.rules.cores * cost_.cores) * activations;
  }

  const ExplainedStage& s_;
  const Machine& m_;
  LayerExplanation& e_;
  const std::size_t number_;
  const InstructionClass& c_;
  const Resolved r_;
  const ClassCost& cost_;
  const InstructionTime& time_;
};

}  // namespace

LayerNeeds layer_needs(const ExplainedStage& s, std::size_t number, std::size_t index) {
  const Program& program = s.run.stage->program;
  const auto place = at(program.instructions[index].instruction_class);
  const ClassCost& cost = s.run.costs[place];
  const InstructionTime& time = s.trace[index];
  LayerNeeds layer;
  layer.stage = number;
  layer.index = index;
  layer.cycles = time.end - time.start;
  std::ranges::copy(core_needs(cost), layer.needs.begin());
  layer.needs[Needed::overhead] = time.overhead;
  layer.needs[Needed::dram_channel] = s.channel_cycles[place] + words_cycles(s.rules, time.program_bytes).value();
  layer.limiter = limiter_of(layer.needs, stalls_of(time));
  layer.macs = cost.macs * cost.cores * s.run.schedule.active_cores;
  layer.lane_macs = cost.spent_macs * cost.cores * s.run.schedule.active_cores;
  if (layer.lane_macs > 0)
    layer.array_macs =
        array_macs(program.classes[place], cost, s.run.machine) * cost.cores * s.run.schedule.active_cores;
  layer.dram_bytes = time.dram_bytes();
  return layer;
}

void explain_layer(const ExplainedStage& stage, LayerExplanation& explanation) {
  Layer(stage, explanation).explain();
}

}  // namespace sdip
