// Pairs: drawn, compared, changed and compared again.
#include "tests/witness/pairs.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/machine/stage_rows.h"
#include "tests/witness/networks.h"
#include "tests/witness/programs.h"

namespace sdip::witness {
namespace {

/// Compiles the network of a seed; nothing where it finds no room, or is no program of IMEM's size.
std::vector<CompiledStage> compiled_stages(std::uint64_t seed, Role role, std::int64_t blocks,
                                           const Machine& machine, const std::shared_ptr<MappingCache>& mappings) {
  CompileOptions options;
  options.say_needed_bytes = false;
  options.mappings = mappings;
  Application application = compile(drawn_network(seed, role, blocks, machine), machine, options);
  if (!application.feasible) application.stages.clear();
  return std::move(application.stages);
}

Words longest_words(const std::vector<CompiledStage>& stages, const Machine& machine) {
  Words most;
  for (const CompiledStage& stage : stages) {
    const Words words = words_of(stage.program, machine, stage.role);
    most.longest = std::max(most.longest, words.longest);
    most.all = std::max(most.all, words.all);
  }
  return most;
}

/// The sizes that the stage of a role has for itself, near those of the machine, and those of operators' DSRAMs.
std::vector<std::int64_t Machine::*> draw_own_sizes(Dice& dice, Role role, Machine& m) {
  std::vector<std::int64_t Machine::*> rows;
  const auto near = [&](std::int64_t Machine::*row, std::int64_t bytes, std::int64_t least) {
    m.*row = dice.one_in(3) ? 0 : std::max(least, bytes * dice.between(6, 16) / 10);
    if (m.*row > 0) rows.push_back(row);
  };
  for (std::int64_t Machine::*row :
       {&Machine::conv2d_dsram_bytes, &Machine::linear_dsram_bytes, &Machine::matmul_dsram_bytes,
        &Machine::vector_dsram_bytes, &Machine::softmax_dsram_bytes, &Machine::norm_dsram_bytes,
        &Machine::transpose_dsram_bytes})
    near(row, m.dsram_bytes, 512);
  constexpr Role roles[own_stages.size()] = {Role::text_encoder, Role::encoder, Role::decoder};
  for (const OwnStage stage : own_stages) {
    if (roles[static_cast<std::size_t>(stage)] != role) continue;
    for (const StageRow& row : stage_rows(stage)) {
      if (row.cores == &Machine::dsram_bytes) near(row.own, m.dsram_bytes, 512);
      if (row.cores == &Machine::stackram_bytes) near(row.own, m.stackram_bytes, 0);
      if (row.cores == &Machine::psram_bytes) near(row.own, 2 * m.psram_bytes, m.psram_pinned_bytes + 512);
    }
  }
  return rows;
}

void draw_compiled(Dice& dice, Pair& pair) {
  Machine& m = pair.machine;
  for (const ValidationCase& one : validation_cases())
    if (one.prepare != nullptr && dice.one_in(2)) one.prepare(m, dice);
  pair.role = dice.one_in(2) ? Role::core : Role::network;
  if (dice.one_in(4)) pair.role = dice.one_of({Role::text_encoder, Role::encoder, Role::decoder});
  if (m.vae_stage == VaeStage::off_chip && pair.role != Role::core) m.vae_stage = VaeStage::core;
  // DSRAM that few tensors fit, or a stack that few do: rows of tiles act in the one, those of the stack in the
  // other.
  const bool tiles = dice.between(1, 20) > 11;
  const std::int64_t picture = picture_bytes(pair.seed, pair.role, m);
  m.dsram_bytes = std::max<std::int64_t>(1024, picture * (tiles ? dice.between(4, 9) : dice.between(20, 40)) / 10);
  m.stackram_bytes = picture * (tiles ? dice.between(0, 40) : dice.between(20, 29)) / 10;
  if (!tiles) {
    m.skip_handling = SkipHandling::hold;
    m.activation_memory = ActivationMemory::separate;
    m.operator_dsram = dice.one_in(5) ? OperatorDsram::common : OperatorDsram::per_operator;
    if (dice.one_in(2)) m.fusion = Fusion::no_fusion;
    if (dice.one_in(3)) m.guidance = Guidance::two_passes;
    if (!dice.one_in(3)) m.strips = Strips::off;
    if (!dice.one_in(3)) m.schedule = ScheduleOrder::given;
  }
  // What takes the compiler long is drawn less often.
  if (tiles && !dice.one_in(6)) m.skip_handling = dice.one_of({SkipHandling::hold, SkipHandling::spill});
  if (!dice.one_in(8)) m.tile_search = dice.one_of({TileSearch::exact, TileSearch::greedy});
  if (!dice.one_in(6)) m.tile_goal = TileGoal::bytes;
  if (!dice.one_in(6)) m.memory_stair = false;
  if (!dice.one_in(8)) m.schedule = dice.one_of({ScheduleOrder::given, ScheduleOrder::least_live});
  reconcile(m);
  m.psram_bytes = 512 * dice.between(2, 10);
  m.psram_pinned_bytes = dice.one_in(4) ? m.psram_bytes / dice.between(2, 4) : 0;
  m.imem_bytes = std::int64_t{1} << 20;
  if (m.weight_storage == WeightStorage::resident) m.psram_bytes = std::int64_t{1} << 20;
  pair.blocks = 1;
  pair.mappings = std::make_shared<MappingCache>();
  const std::vector<std::int64_t Machine::*> own = draw_own_sizes(dice, pair.role, m);
  for (int tries = 0; tries < 20; ++tries) {
    pair.stages = compiled_stages(pair.seed, pair.role, pair.blocks, m, pair.mappings);
    if (pair.stages.empty()) {
      m.dsram_bytes *= 2;
      m.psram_bytes *= 2;
      for (const auto row : own) m.*row *= 2;
    } else if (program_length(pair.stages) < least_instructions) {
      ++pair.blocks;
    } else {
      break;
    }
  }
  check(!pair.stages.empty(), "a drawn network found no room");
  const Words words = longest_words(pair.stages, m);
  const bool held = m.program_storage == ProgramStorage::held;
  m.imem_bytes = std::max<std::int64_t>(1024, held ? words.all : dice.between(words.longest, 3 * words.longest));
}

/// A value for the row that is not the pair's; the pair's where there is none.
std::int64_t other_value(Dice& dice, const Pair& pair, const ParameterRow& row, const ValidationCase& one) {
  const Machine& m = pair.machine;
  const std::int64_t now = row.read(m);
  if (!pair.compiled) {
    const Program& program = pair.stages[0].program;
    const Machine its = machine_of_stage(m, pair.stages[0].role);
    if (row.name.ends_with("psram_bytes")) {
      const std::int64_t least =
          std::max<std::int64_t>(1024, m.psram_pinned_bytes + least_psram_bytes(program, m) +
                                           (m.psram_pinned_bytes > 0 ? 0 : program.pinned_bytes.value));
      return dice.between(least, std::max(least, 2 * its.psram_bytes));
    }
    if (row.name == "psram_pinned_bytes") {
      const std::int64_t room = std::min(m.psram_bytes, its.psram_bytes) - least_psram_bytes(program, m);
      return room < program.pinned_bytes.value ? now : dice.between(program.pinned_bytes.value, room);
    }
    if (row.name == "imem_bytes") {
      const Words words = words_of(program, m, pair.stages[0].role);
      const std::int64_t least = std::max<std::int64_t>(1024, words.longest);
      return dice.one_in(2) ? least : dice.between(least, std::max(least, words.all));
    }
  }
  if (row.name == "tile_search" && now != static_cast<std::int64_t>(TileSearch::greedy) && !dice.one_in(4))
    return static_cast<std::int64_t>(TileSearch::greedy);  // sampling takes its time
  if (row.name == "steps") {                               // other steps that other cores share
    const std::int64_t shared = lockstep_of(pair.stages[0], m).cores;
    Machine other = m;
    for (int tries = 0; tries < 8 && lockstep_of(pair.stages[0], other).cores == shared; ++tries)
      other.steps = drawn_value(dice, row, one);
    return other.steps;
  }
  for (int tries = 0; tries < 4; ++tries)
    if (const std::int64_t value = drawn_value(dice, row, one); value != now) return value;
  return now;
}

/// Whether a program can run with that row changed: its weights fit PSRAM (the compiler sees to that of what it
/// compiles), its longest instruction IMEM. Its pinned bytes are those on the machine.
bool can_run(CompiledStage& stage, const Machine& given, bool compiled, std::string_view row) {
  const Machine machine = machine_of_stage(given, stage.role);
  constexpr std::string_view of_weights[] = {"weight_format",  "scale_granularity",  "weight_density",
                                             "sparsity",       "sparsity_group",     "psram_bytes",
                                             "weight_storage", "psram_pinned_bytes", "in_memory_weights"};
  if (!compiled && (std::ranges::count(of_weights, row) > 0 || row.ends_with("psram_bytes"))) {
    place_weights(stage.program, machine);
    const std::int64_t pinned = stage.program.pinned_bytes.value,
                       room = machine.psram_bytes - machine.psram_pinned_bytes;
    const bool in_part = machine.weight_storage != WeightStorage::resident && machine.psram_pinned_bytes > 0;
    if (pinned > machine.psram_pinned_bytes && in_part) return false;
    if (room < least_psram_bytes(stage.program, machine) + (in_part ? 0 : pinned)) return false;
  }
  constexpr std::string_view of_words[] = {"granularity",    "program_storage", "host_operators",
                                           "weight_storage", "hard_coded_part", "in_memory_weights",
                                           "vae_stage"};
  const bool words = compiled || std::ranges::count(of_words, row) > 0;
  return machine.program_storage == ProgramStorage::held || !words ||
         words_of(stage.program, machine, stage.role).longest <= machine.imem_bytes;
}

bool differ(const StepCounts& a, const StepCounts& b) {
  if (a.psram_peak_bytes != b.psram_peak_bytes) return true;
  for (std::size_t i = 0; i < std::min(a.passes.size(), b.passes.size()); ++i)
    if (a.passes[i] != b.passes[i]) return true;
  return false;
}

}  // namespace

std::int64_t program_length(const std::vector<CompiledStage>& stages) {
  std::int64_t longest = 0, parts = 0;
  for (const CompiledStage& s : stages) {
    const std::int64_t length = std::ssize(s.program.instructions);
    if (s.part.count > 1) parts += length;
    longest = std::max({longest, length, parts});
  }
  return longest;
}

Pair drawn_pair(std::uint64_t seed) {
  Dice dice(seed);
  Pair pair;
  pair.seed = seed;
  pair.compiled = is_compiled(seed);
  pair.machine = drawn_machine(dice);
  if (pair.compiled)
    draw_compiled(dice, pair);
  else
    pair.stages.push_back(drawn_stage(dice, pair.machine));
  return pair;
}

bool change_row(Dice& dice, const ParameterRow& row, const ValidationCase& one, Pair& pair) {
  const std::int64_t before = row.read(pair.machine), value = other_value(dice, pair, row, one);
  if (value == before) return false;
  const std::vector<std::int64_t> key = compile_key(pair.machine);
  row.write(pair.machine, value);
  if (!is_possible(pair.machine)) return false;
  if (pair.compiled && compile_key(pair.machine) != key) {  // of the same key the program is the same
    pair.stages = compiled_stages(pair.seed, pair.role, pair.blocks, pair.machine, pair.mappings);
    if (program_length(pair.stages) < least_instructions) return false;
  }
  return std::ranges::all_of(pair.stages,
                             [&](CompiledStage& s) { return can_run(s, pair.machine, pair.compiled, row.name); });
}

namespace {

/// compare, where what the executor refuses is a difference, too.
Comparison compared(const CompiledStage& stage, const Machine& machine, std::int64_t passes, bool with_report) {
  try {
    return compare(stage, machine, passes, with_report);
  } catch (const Error& error) {
    Comparison c;
    c.difference = Difference{stage.name + ": " + error.code + ": " + error.where + ": " + error.what(), 0, 0};
    return c;
  }
}

}  // namespace

void witness_pair(std::uint64_t seed, std::int64_t changes, Census& census) {
  const Pair pair = drawn_pair(seed);
  std::vector<Comparison> runs;
  for (const CompiledStage& stage : pair.stages) {
    runs.push_back(compared(stage, pair.machine, 12, true));
    if (!runs.back().difference) continue;
    census.findings.push_back({seed, "as drawn", *runs.back().difference});
    ++census.pairs;  // of which there may be no counts
    return;
  }
  census.count(pair, runs);
  std::int64_t done = 0, tries = 0;
  for (const ValidationCase* one : census.least_proved(pair)) {
    if (done == changes || tries == 3 * changes) break;
    const ParameterRow& row = *find_parameter(one->name);
    Pair other = pair;
    Dice dice(~(seed * 1000 + static_cast<std::uint64_t>(&row - parameters().data())));  // whatever else is changed
    if (!change_row(dice, row, *one, other)) continue;
    ++tries;
    bool changed = other.stages.size() != pair.stages.size();
    for (std::size_t s = 0; s < other.stages.size(); ++s) {
      const Comparison run = compared(other.stages[s], other.machine, 2, false);
      ++census.stages;
      if (!run.difference)
        changed = changed || differ(run.executed, runs[s].executed);
      else
        census.findings.push_back({seed,
                                   std::string(row.name) + " " + value_text(row, row.read(pair.machine)) + " -> " +
                                       value_text(row, row.read(other.machine)),
                                   *run.difference});
    }
    census.count_program(other);
    census.count_settings(other);
    census.count_change(row, row.read(pair.machine), row.read(other.machine), changed);
    done += changed;
  }
}

}  // namespace sdip::witness
