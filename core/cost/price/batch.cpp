// Many machines of one application.
#include "core/cost/price/batch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/cost/price/dram_price.h"
#include "core/cost/price/frame.h"
#include "core/cost/price/limits.h"
#include "core/cost/price/stage.h"
#include "core/cost/time/lane_timeline.h"
#include "core/cost/time/tape.h"
#include "core/machine/dies.h"
#include "core/machine/dram.h"

namespace sdip {
namespace {

constexpr std::size_t most_costs = 512, most_chips = 65536, most_times = 65536;

std::size_t hash_of(std::span<const std::int64_t> values) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

struct HashOfMachine {
  std::size_t operator()(const Machine& m) const {
    std::array<std::uint64_t, 4> parts{};  // side by side: each step waits for the one before
    std::size_t next = 0;
    const auto add = [&](std::int64_t value) {
      std::uint64_t& part = parts[next++ % parts.size()];
      part = std::rotl((part ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15, 29);
    };
#define ROW(effect, name) add(coded(m.name));
#include "core/machine/parameters.def"
    const std::uint64_t hash =
        parts[0] ^ std::rotl(parts[1], 16) ^ std::rotl(parts[2], 32) ^ std::rotl(parts[3], 48);
    return static_cast<std::size_t>(hash) ^ hash_of(m.technology);
  }
};

/// A stage whose time depends on the channel alone. Machines share it that differ in what their instructions do not
/// wait for.
struct TimedStage {
  const Tape* tape = nullptr;
  TapeNumbers numbers;
  friend bool operator==(const TimedStage&, const TimedStage&) = default;
};
struct HashOfTimedStage {
  std::size_t operator()(const TimedStage& stage) const {
    const TapeNumbers& n = stage.numbers;
    const std::int64_t values[] = {reinterpret_cast<std::intptr_t>(stage.tape), n.psram_bytes, n.fixed_cycles,
                                   n.dispatch_cycles};
    return hash_of(values);
  }
};

/// A stage on the machine last costed, and its tapes.
struct CostedStage {
  ProgramSize size;                                   // where each operator is one instruction
  std::array<std::optional<ProgramSize>, 2> tiles{};  // where each tile is, of those with pairs of DSRAM apart
  ClassUses uses;
  std::array<List<ClassCost>, 2> costs;            // of the machine last costed; of those with pairs of DSRAM apart
  std::array<std::optional<Tape>, 16> tapes;       // by how instructions are issued
  std::map<NumberFormat, std::int64_t> results{};  // bytes that leave the chip, by the activations' format
};

/// A stage on all machines of one cost key.
struct KnownStage {
  StageCost cost;
  std::int64_t needed_imem_bytes{}, words_bytes{}, results_bytes{};
  const TimedStage *timed = nullptr, *alone = nullptr;  // with all its cores, and with one
  PassCost moved;                                       // in a warm pass of one core
  double longest_pass{};                                // of one core, whose channel takes a cycle for each byte

  /// Well below what countable() asks for: all of a pass that many times over.
  bool surely_countable(const DramRate& rate, std::int64_t cores, const Machine& m) const {
    const double cycles_a_byte = static_cast<double>(rate.q) / static_cast<double>(rate.p) +
                                 static_cast<double>(rate.latency_cycles + rate.turn_cycles);
    const double passes = static_cast<double>(cores) * static_cast<double>(counted_passes(m));
    return longest_pass * passes * (cycles_a_byte + 1) < 0x1p57;
  }
};

/// Totals and prices that all machines of one chip key share.
struct KnownChip {
  ChipTotals totals;
  std::vector<StagePrices> prices;  // of each stage
};

/// A stage's time on one channel.
struct ChannelKey {
  const TimedStage* stage;
  std::int64_t p, q, latency_cycles, turn_cycles, cores;
  friend bool operator==(const ChannelKey&, const ChannelKey&) = default;
};
struct HashOfChannel {
  std::size_t operator()(const ChannelKey& key) const {
    const std::int64_t values[] = {
        reinterpret_cast<std::intptr_t>(key.stage), key.p, key.q, key.latency_cycles, key.turn_cycles, key.cores};
    return hash_of(values);
  }
};

/// Where a machine of the batch finds its stages' times.
struct StageTimes {
  FrameSchedule schedule;
  DramRate rate;
  const LaneTimes *stream = nullptr, *alone = nullptr;
};
struct Placed {
  const std::vector<KnownStage>* stages = nullptr;
  std::vector<StageTimes> times;
};

}  // namespace

struct BatchEvaluator::State {
  const Application& application;
  LaneRunner lanes;
  const ApplicationTotals totals;
  std::vector<CostedStage> costed;
  const bool runs_side_by_side;
  std::unordered_map<Machine, std::vector<KnownStage>, HashOfMachine> stages_of;
  std::unordered_map<Machine, KnownChip, HashOfMachine> chips;
  std::unordered_set<TimedStage, HashOfTimedStage> timed;
  std::unordered_map<ChannelKey, LaneTimes, HashOfChannel> times;
  struct Missing {
    const Tape* tape;
    LaneMachine machine;
    LaneTimes* times;
  };
  std::vector<Missing> missing;
  Counts counts;

  State(const Application& a, Vectors v)
      : application(a), lanes(v), totals(application_totals(a)), runs_side_by_side(a.feasible) {
    for (const CompiledStage& stage : a.stages)
      costed.push_back({program_size(stage, Machine{}), {}, class_uses(stage.program), {}, {}});
  }

  void forget_all() {
    times.clear();
    timed.clear();
    stages_of.clear();
    chips.clear();
  }
  ProgramSize size_of(std::size_t number, const Machine& m);
  std::int64_t results_of(std::size_t number, NumberFormat activations);
  const List<ClassCost>& costs_on(std::size_t number, const Machine& m);
  const Tape& tape_of(std::size_t number, const List<ClassCost>& costs, const TimelineRules& rules);
  std::optional<KnownStage> known_stage(std::size_t number, const Machine& m);
  const std::vector<KnownStage>& known_stages(const Machine& m);
  const KnownChip& known_chip(const Machine& m);
  const LaneTimes* times_on(const TimedStage& stage, const DramRate& rate, std::int64_t cores);
  std::string lacking_words(const Machine& m);
  std::optional<Placed> place(const Machine& m);
  void run_missing();
  std::vector<std::optional<Placed>> place_all(std::span<const Machine> machines,
                                               std::span<const std::string> lacking);
  StageTotals totals_of(std::size_t number, const Placed& placed, const KnownChip& chip, const Supply& supply,
                        double turn_j, const Machine& m) const;
  Outcome outcome_of(const Placed& placed, const Machine& m);
};

namespace {

/// The machine with every row at its default whose effect is `first` or a later one.
template <ParameterEffect first>
Machine without_effects_from(const Machine& machine) {
  static const Machine standard;
  Machine key = machine;
#define ROW(effect, name) \
  if constexpr (ParameterEffect::effect >= first) key.name = standard.name;
#include "core/machine/parameters.def"
  return key;
}

}  // namespace

Machine chip_key(const Machine& machine) { return without_effects_from<ParameterEffect::frame>(machine); }

Machine cost_key(const Machine& machine) {
  static const Machine standard;
  Machine key = without_effects_from<ParameterEffect::chip>(machine);
  key.technology = standard.technology;
  if (stack_in_psram(machine)) {  // all active cores' stacks pass over the ports
    key.cores = machine.cores;
    key.steps = machine.steps;
  }
  if (machine.program_storage == ProgramStorage::streamed) key.imem_bytes = machine.imem_bytes;
  key.dies = die_line(machine).dies;
  if (key.dies == 1) {
    key.die_link_bits = standard.die_link_bits;
    key.die_link_cycles = standard.die_link_cycles;
  }
  key.dram_burst_bytes = dram_channels(machine).access_bytes;
  key.dram_kind = standard.dram_kind;
  return key;
}

/// Size of the stage's words: all of them, or the longest instruction's where they are streamed. A circuit has
/// none. Tiles are those of the program, whatever the machine.
ProgramSize BatchEvaluator::State::size_of(std::size_t number, const Machine& m) {
  const CompiledStage& stage = application.stages[number];
  if (is_circuit(m, stage.role)) return {};
  if (m.granularity == Granularity::per_operator) return costed[number].size;
  if (m.granularity != Granularity::per_tile) return program_size(stage, m);
  std::optional<ProgramSize>& tiles = costed[number].tiles[has_pairs(m) ? 1 : 0];
  if (!tiles) tiles = program_size(stage, m);
  return *tiles;
}

std::int64_t BatchEvaluator::State::results_of(std::size_t number, NumberFormat activations) {
  const auto [bytes, fresh] = costed[number].results.try_emplace(activations);
  if (fresh) bytes->second = results_bytes(application.stages[number].program, activations);
  return bytes->second;
}

/// Tiles are those of the program, whatever the machine.
const List<ClassCost>& BatchEvaluator::State::costs_on(std::size_t number, const Machine& m) {
  const CompiledStage& stage = application.stages[number];
  List<ClassCost>& its = costed[number].costs[has_pairs(m) ? 1 : 0];
  if (its.empty() || stack_in_psram(m))
    its = class_costs(stage, m);
  else
    cost_anew(stage, m, its);
  return its;
}

/// The tape of one program's tiles: machines differ in how its instructions are issued, and else in numbers alone.
const Tape& BatchEvaluator::State::tape_of(std::size_t number, const List<ClassCost>& costs,
                                           const TimelineRules& rules) {
  const Program& program = application.stages[number].program;
  const std::size_t way = (rules.dispatch_overlaps ? 1u : 0u) + (rules.overlaps ? 2u : 0u) +
                          (rules.dispatches_tiles ? 4u : 0u) + (streams_words(program, costs, rules) ? 8u : 0u);
  std::optional<Tape>& tape = costed[number].tapes[way];
  if (!tape) tape = make_tape(program, costs, rules);
  return *tape;
}

std::optional<KnownStage> BatchEvaluator::State::known_stage(std::size_t number, const Machine& m) {
  const CompiledStage& stage = application.stages[number];
  TimelineRules rules = stage_rules(stage, m, 1);
  const List<ClassCost>& costs = costs_on(number, m);
  const ClassUses& uses = costed[number].uses;
  KnownStage known;
  rules.rate = {1, 1};
  known.longest_pass = longest_pass(stage.program, uses, costs, rules);
  if (known.longest_pass >= 0x1p50) return std::nullopt;
  const Tape& tape = tape_of(number, costs, rules);
  const auto timed_with = [&](const List<ClassCost>& its_costs) {
    return &*timed.insert({&tape, tape_numbers(tape, stage.program, its_costs, rules)}).first;
  };
  known.timed = timed_with(costs);
  known.alone = stack_in_psram(m) ? timed_with(class_costs(stage, m, 1)) : known.timed;
  known.moved = pass_bytes(tape, known.timed->numbers, 1);
  known.cost = stage_cost(stage, m, uses, costs);
  const ProgramSize size = size_of(number, m);
  known.words_bytes = size.bytes;
  known.needed_imem_bytes = m.program_storage == ProgramStorage::streamed ? size.longest_bytes : size.bytes;
  known.results_bytes = results_of(number, m.activation_format);
  return known;
}

/// None where a stage is too long.
const std::vector<KnownStage>& BatchEvaluator::State::known_stages(const Machine& m) {
  const auto [entry, fresh] = stages_of.try_emplace(cost_key(m));
  std::vector<KnownStage>& stages = entry->second;
  if (!fresh) return stages;
  ++counts.costs;
  stages.reserve(application.stages.size());
  for (std::size_t s = 0; s < application.stages.size(); ++s) {
    auto known = known_stage(s, m);
    if (!known) {
      stages.clear();
      return stages;
    }
    stages.push_back(std::move(*known));
  }
  return stages;
}

const KnownChip& BatchEvaluator::State::known_chip(const Machine& m) {
  const Machine key = chip_key(m);
  if (const auto known = chips.find(key); known != chips.end()) return known->second;
  ++counts.chips;
  KnownChip chip{chip_totals(application, totals, m, Bound::value), {}};
  for (const CompiledStage& stage : application.stages) chip.prices.push_back(stage_prices(stage, m, Bound::value));
  return chips.emplace(key, std::move(chip)).first->second;
}

const LaneTimes* BatchEvaluator::State::times_on(const TimedStage& stage, const DramRate& rate,
                                                 std::int64_t cores) {
  const auto [entry, fresh] =
      times.try_emplace({&stage, rate.p, rate.q, rate.latency_cycles, rate.turn_cycles, cores});
  if (fresh) missing.push_back({stage.tape, {&stage.numbers, rate, cores}, &entry->second});
  return &entry->second;
}

/// The first stage whose words do not fit, found before anything is costed; nothing where that is dear to know.
std::string BatchEvaluator::State::lacking_words(const Machine& m) {
  if (!runs_side_by_side || m.granularity == Granularity::micro_operation) return {};
  for (std::size_t s = 0; s < application.stages.size(); ++s)
    if (std::string lacking = lacking_imem(application.stages[s], size_of(s, m), m); !lacking.empty())
      return lacking;
  return {};
}

/// Where its stages' times will be; nothing for a machine that goes alone.
std::optional<Placed> BatchEvaluator::State::place(const Machine& m) {
  if (!runs_side_by_side || is_fpga(m.technology_node)) return {};
  Placed placed;
  placed.stages = &known_stages(m);
  if (placed.stages->empty()) return {};
  const std::vector<KnownStage>& stages = *placed.stages;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].needed_imem_bytes > m.imem_bytes) return {};
    const CompiledStage& stage = application.stages[s];
    placed.times.push_back({frame_schedule(stage.role, stage.part, m), stage_rate(stage, m)});
    const StageTimes& its = placed.times.back();
    if (!stages[s].surely_countable(its.rate, channel_cores(stage, m, its.schedule.active_cores), m)) return {};
  }
  for (std::size_t s = 0; s < stages.size(); ++s) {
    StageTimes& its = placed.times[s];
    const auto sharing = [&](std::int64_t cores) {
      return stages[s].cost.streams_activations ? channel_cores(application.stages[s], m, cores) : 1;
    };
    its.stream = times_on(*stages[s].timed, its.rate, sharing(its.schedule.active_cores));
    its.alone = times_on(*stages[s].alone, its.rate, sharing(1));
  }
  return placed;
}

/// Those of one tape side by side.
void BatchEvaluator::State::run_missing() {
  std::ranges::stable_sort(missing, std::less<>(),
                           [](const Missing& m) { return std::pair(m.tape, m.machine.numbers); });
  std::vector<LaneMachine> machines;
  std::vector<LaneTimes> found;
  for (std::size_t first = 0; first < missing.size();) {
    const Tape* tape = missing[first].tape;
    machines.clear();
    for (std::size_t i = first; i < missing.size() && missing[i].tape == tape; ++i)
      machines.push_back(missing[i].machine);
    found.resize(machines.size());
    lanes.run(*tape, machines, most_simulated_passes, found);
    for (LaneTimes& times_found : found) *missing[first++].times = std::move(times_found);
    counts.timelines += std::ssize(machines);
    counts.runs += ceil_div(std::ssize(machines), std::int64_t{lane_count});
  }
  missing.clear();
}

StageTotals BatchEvaluator::State::totals_of(std::size_t number, const Placed& placed, const KnownChip& chip,
                                             const Supply& supply, double turn_j, const Machine& m) const {
  const CompiledStage& stage = application.stages[number];
  const KnownStage& known = (*placed.stages)[number];
  const StageTimes& times_of_stage = placed.times[number];
  const std::int64_t cores = times_of_stage.schedule.active_cores;
  StageTotals t = untimed_totals(stage, times_of_stage.schedule, known.cost, m);
  t.alone_cycles = times_of_stage.alone->total(passes_per_frame(stage.role, m));
  t.cycles = times_of_stage.stream->pass_cycles.back();
  t.running_cycles = times_of_stage.stream->running_cycles;
  t.stall_cycles = times_of_stage.stream->stall_cycles;
  PassCost pass = known.moved;
  pass.activation_in_bytes *= cores;
  pass.activation_out_bytes *= cores;
  t.weight_bytes = pass.weight_bytes;
  t.activation_bytes = pass.activation_in_bytes + pass.activation_out_bytes;
  t.program_bytes = pass.program_bytes;
  t.psram_peak_bytes = times_of_stage.stream->psram_peak_bytes;
  pass.turns = times_of_stage.stream->turns;
  t.energy = pass_energy(known.cost, pass, cores, chip.prices[number], supply, turn_j);
  return t;
}

Outcome BatchEvaluator::State::outcome_of(const Placed& placed, const Machine& m) {
  const KnownChip& chip = known_chip(m);
  const Supply supply = chip_supply(chip.totals.slowest, m);
  const double turn_j = dram_turn_j(m);
  std::vector<StageTotals> stages;
  stages.reserve(placed.stages->size());
  for (std::size_t s = 0; s < placed.stages->size(); ++s)
    stages.push_back(totals_of(s, placed, chip, supply, turn_j, m));
  std::int64_t held = 0;
  for (std::size_t s = 0; s < placed.stages->size(); ++s) {
    const KnownStage& known = (*placed.stages)[s];
    held += dram_held_bytes(application.stages[s], known.words_bytes, known.results_bytes, m);
  }
  return sdip::outcome_of(price_frame(std::move(stages), chip.totals, supply, m, Bound::value), totals, chip.totals,
                          supply, broken_limit(m, held), m);
}

/// Places the machines that lack nothing, with all their times found; none stays unfound where one is refused.
std::vector<std::optional<Placed>> BatchEvaluator::State::place_all(std::span<const Machine> machines,
                                                                    std::span<const std::string> lacking) {
  std::vector<std::optional<Placed>> placed(machines.size());
  try {
    for (std::size_t i = 0; i < machines.size(); ++i)
      if (lacking[i].empty()) placed[i] = place(machines[i]);
    run_missing();
  } catch (...) {
    missing.clear();
    times.clear();
    throw;
  }
  return placed;
}

BatchEvaluator::BatchEvaluator(const Application& application, Vectors vectors)
    : state_(std::make_unique<State>(application, vectors)) {}
BatchEvaluator::~BatchEvaluator() = default;
BatchEvaluator::BatchEvaluator(BatchEvaluator&&) noexcept = default;
BatchEvaluator& BatchEvaluator::operator=(BatchEvaluator&&) noexcept = default;

void BatchEvaluator::evaluate(std::span<const Machine> machines, std::span<Outcome> outcomes) {
  check(machines.size() == outcomes.size(), "an outcome for each machine");
  State& state = *state_;
  if (state.stages_of.size() > most_costs || state.chips.size() > most_chips || state.times.size() > most_times)
    state.forget_all();
  std::vector<std::string> lacking;
  lacking.reserve(machines.size());
  for (const Machine& m : machines) lacking.push_back(state.lacking_words(m));
  const std::vector<std::optional<Placed>> placed = state.place_all(machines, lacking);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    if (placed[i]) {
      outcomes[i] = state.outcome_of(*placed[i], machines[i]);
    } else if (lacking[i].empty()) {
      outcomes[i] = sdip::evaluate(state.application, machines[i]);
    } else {
      outcomes[i] = {.reason = std::move(lacking[i])};
      outcomes[i].values.fill(std::numeric_limits<double>::quiet_NaN());
    }
    state.counts.alone += !placed[i];
  }
  state.counts.machines += std::ssize(machines);
}

const BatchEvaluator::Counts& BatchEvaluator::counts() const { return state_->counts; }

}  // namespace sdip
