// A layer explained: what it needs of each resource, how long it takes, and both its bounds.
#include "core/cost/explain/explain_layer.h"

#include <algorithm>

#include "core/cost/explain/explain_symbols.h"
#include "core/cost/explain/filled_steps.h"
#include "core/cost/work/host.h"
#include "core/cost/work/micro_operations.h"
#include "core/cost/work/split_macs.h"

namespace sdip {

using namespace cost;
namespace {

/// More kinds of transfers, or shapes, than a reader would add up.
constexpr std::size_t most_written = 24;

std::int64_t stalls_of(const InstructionTime& time) {
  return time.stall_weights + time.stall_activations + time.stall_program;
}

/// A term whose figure is the engine's, with a formula where that comes to it.
FilledTerm term(const char* what, const char* section, const std::string& formula, const Filled& numbers,
                std::int64_t value) {
  return {what, section, formula, numbers.value() == value ? numbers.text() : std::string(), value};
}

/// Of an instruction's words, where they are streamed.
Filled words_cycles(const TimelineRules& rules, std::int64_t bytes) {
  return ceiling(number(bytes), rules.rate.q, rules.rate.p);
}

/// What the array of a class's products makes a cycle at most, on one core.
std::int64_t array_macs(const InstructionClass& c, const ClassCost& cost, const Machine& m) {
  const ArrayLanes lanes = array_lanes(c.work.family, m);
  return lanes.rows * lanes.channels * lanes.sum * cost.products_in_mac;
}

/// What is said of a layer in formulas.
class Layer {
 public:
  Layer(const ExplainedStage& s, LayerExplanation& e)
      : s_(s),
        m_(s.run.machine),
        e_(e),
        number_(as_size(s.run.stage->program.instructions[e.layer.index].instruction_class)),
        c_(s.run.stage->program.classes[number_]),
        found_(machine_found(c_, m_)),
        cost_(s.run.costs[number_]),
        time_(s.trace[e.layer.index]) {}

  void explain() {
    on_chip_needs();
    channel();
    time();
    bounds();
  }

 private:
  /// Without formulas: operations by what the engine counts in each.
  Filled counted(std::int64_t Busy::*member) const {
    Filled sum;
    for (const TileCost& tile : cost_.shapes) sum += number(tile.times) * number(tile.busy.*member);
    return sum;
  }

  void on_chip_needs() {
    const bool few = std::max(cost_.shapes.size(), cost_.kinds.size()) <= most_written;
    const std::vector<FilledSteps> written =
        few ? filled_steps(c_, in_lockstep(m_, s_.run.schedule.active_cores), s_.run.stage->role, cost_)
            : std::vector<FilledSteps>();
    e_.written_out = !written.empty();
    FilledBusy all;
    Filled work;
    if (few && !e_.written_out) {
      all = {counted(&Busy::compute),
             counted(&Busy::dsram_read),
             counted(&Busy::dsram_write),
             counted(&Busy::stackram_read),
             counted(&Busy::stackram_write),
             counted(&Busy::psram_read),
             {}};
      all.accumulator_writes = counted(&Busy::accumulator_writes);
      all.accumulator_reads = counted(&Busy::accumulator_reads);
      all.register_writes = counted(&Busy::register_writes);
      for (std::size_t i = 0; i < cost_.shapes.size(); ++i)
        work += worked(i, number(cost_.shapes[i].cycles), number(cost_.shapes[i].busy));
    }
    for (std::size_t i = 0; i < written.size(); ++i) {
      all.add(sum_of(written[i]), cost_.shapes[i].times);
      work += worked(i, duration_of(written[i]), sum_of(written[i]));
    }
    if (few && transfers_take_beats()) add_transfers(all);
    const std::string compute =
        e_.written_out ? compute_symbols(c_, found_, cost_) : "tile operations x compute of each step, summed";
    const char* reads =
        cost_.on_host ? "tile operations x ceil(elements x bits/port_bits), by operand"
                      : "tile operations x folds that read x ceil(elements of a fold x bits/port_bits), by operand";
    const char* writes = cost_.on_host
                             ? "tile operations x ceil(results x bits/port_bits)"
                             : "tile operations x folds written x ceil(elements of a fold x bits/port_bits)";
    const auto add = [&](const char* what, const std::string& formula, const Filled& numbers, Needed needed) {
      const std::int64_t value = e_.layer.needs[needed];
      if (value > 0) e_.terms.push_back(term(what, section(), formula, numbers, value));
    };
    add("compute", compute, all.compute, Needed::compute);
    const auto with = [](const std::string& formula, std::int64_t transfers) {
      return transfers > 0 ? formula + " + transfers x ceil(8 x bytes/port_bits)" : formula;
    };
    add("dsram_read", with(reads, cost_.dma.read), longest_dsram_read(all), Needed::dsram_read);
    add("dsram_write", with(writes, cost_.dma.write), all.dsram_write, Needed::dsram_write);
    add("stackram_read", reads, all.stackram_read, Needed::stackram_read);
    add("stackram_write", writes, all.stackram_write, Needed::stackram_write);
    const char* shared_port =
        "tile operations x (weights' beats + cores x their stack's), each folds x ceil(elements of a fold x "
        "bits/port_bits)";
    const char* weights = multiplies_weights(c_) && weight_form(found_).scale_group > 0
                              ? "tile operations x folds that read x ceil((elements of a fold x bits + scales of "
                                "groups that begin in it x bits)/port_bits), by operand"
                              : reads;
    const std::string psram = cost_.weight_parts == 1 ? std::string(stack_in_psram(m_) ? shared_port : weights)
                              : stack_in_psram(m_)    ? "tile operations x cores x (weights' beats + their stack's)"
                                                      : "cores that share it x " + std::string(weights);
    add("psram_read", with(psram, cost_.dma.psram), all.psram_read, Needed::psram_read);
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

  bool transfers_take_beats() const {
    const DmaBeats& dma = cost_.dma;
    return dma.read + dma.write + dma.psram > 0;
  }
  static FilledBusy number(const Busy& busy) {
    FilledBusy filled;
    filled.dsram_read = sdip::number(busy.dsram_read);
    filled.dsram_write = sdip::number(busy.dsram_write);
    filled.psram_read = sdip::number(busy.psram_read);
    return filled;
  }
  static Filled number(std::int64_t value) { return sdip::number(value); }

  /// Cycles of all operations of a shape that each last `duration` but for transfers, and need `busy` of the ports.
  Filled worked(std::size_t shape, const Filled& duration, const FilledBusy& busy) const {
    const TileCost& tile = cost_.shapes[shape];
    if (!transfers_take_beats()) return number(tile.times) * duration;
    const DmaPorts ports = dma_ports(c_, m_, s_.run.stage->role);
    Filled all;
    for (const OperationKind& kind : cost_.kinds) {
      if (as_size(kind.shape) != shape) continue;
      const auto dma = dma_beats<Filled>(cost_, kind, ports);
      std::vector<Filled> longest = {duration};
      const auto add = [&](const Filled& beats, const Filled& more) {
        if (more.value() > 0) longest.push_back(number(beats.value()) + more);
      };
      add(busy.dsram_read, dma.read);
      add(busy.dsram_write, dma.write);
      add(busy.psram_read, dma.psram);
      all += number(kind.times) * (longest.size() == 1 ? duration : largest(longest));
    }
    return all;
  }

  /// To the ports' beats those of transfers.
  void add_transfers(FilledBusy& all) const {
    const DmaPorts ports = dma_ports(c_, m_, s_.run.stage->role);
    for (const OperationKind& kind : cost_.kinds) {
      const auto dma = dma_beats<Filled>(cost_, kind, ports);
      all.dsram_read += number(kind.times) * dma.read;
      all.dsram_write += number(kind.times) * dma.write;
      all.psram_read += number(kind.times) * dma.psram;
    }
  }

  /// What accumulators and weight registers take in and give out.
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

  /// What the time cannot be below: the channel moves all activations while the instruction runs, and its work
  /// stands between its first loads and its last results.
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
    e_.terms.push_back({"bound_cycles", "docs/model/explanation.md", bound_symbols(c_, found_, cost_), bound.text(),
                        bound.value()});
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
                     row_lanes(c_.work.family, m_));
    if (made_in_memory(cost_)) return rows_in_memory();
    return ceiling(number(cost_.spent_macs), array_macs(c_, cost_, m_));
  }

  /// Each row of A once; of strips only what the engine counts, summed over their parts.
  Filled rows_in_memory() const {
    if (c_.compound == Compound::strips) return number(cost_.memory_cycles);
    const LoopNest& n = c_.work.nest;
    return product_of({n.groups, n.batch * n.out_h * n.out_w}) *
           ceiling(number(bits_of(found_.activation_format)), found_.fefet_input_bits) *
           product_of({found_.fefet_columns_per_converter, c_.work.element_cycles});
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
    const Machine m = c_.formats ? machine_for(c_, m_) : m_;
    const std::int64_t room = 2 * m_.dsram_bytes + m_.stackram_bytes;
    const auto beyond = [&](std::int64_t elements, std::int64_t bits) {
      const Filled bytes = ceiling(product_of({elements, bits}), 8);
      return bytes.value() > room ? bytes - number(room) : Filled();
    };
    const bool fetched = std::ranges::any_of(s_.moves[number_].moves, &Move::weights);
    const Instruction& instruction = s_.run.stage->program.instructions[e_.layer.index];
    const Filled once = number(fetched ? instruction.weight_bytes.value : 0);
    const Filled activations =
        beyond(operand_elements(), bits_of(m.activation_format)) +
        beyond(c_.out_elements, bits_of(c_.formats ? c_.formats->results : m.activation_format));
    return once + number(s_.rules.cores * cost_.cores) * activations;
  }

  const ExplainedStage& s_;
  const Machine& m_;
  LayerExplanation& e_;
  const std::size_t number_;
  const InstructionClass& c_;
  const Machine found_;
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
  const PortBeats ports = port_beats(cost);
  layer.needs = {cost.busy.compute,
                 ports.dsram_read,
                 ports.dsram_write,
                 cost.busy.stackram_read,
                 cost.busy.stackram_write,
                 ports.psram,
                 time.overhead,
                 s.channel_cycles[place] + words_cycles(s.rules, time.program_bytes).value()};
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
