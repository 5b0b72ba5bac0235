// What is counted of many pairs.
#include <algorithm>
#include <cstdio>

#include "tests/witness/pairs.h"
#include "tests/witness/programs.h"

namespace sdip::witness {
namespace {

bool is_ragged(const InstructionClass& c) {
  const LoopNest& n = c.work.nest;
  const Mapping& m = c.mapping;
  if (c.compound == Compound::strips) return n.out_h % m.tile_rows != 0;
  if (c.compound == Compound::attention) return n.out_h % m.tile_rows != 0 || n.out_channels % m.tile_channels != 0;
  if (!is_nest(c.work.family))
    return (m.tile_channels < c.work.row_length ? c.work.row_length % m.tile_channels
                                                : c.work.rows % m.tile_rows) != 0;
  return n.out_h % m.tile_rows != 0 || n.out_w % m.tile_columns != 0 || n.in_channels % m.tile_sums != 0 ||
         (m.tile_channels < n.out_channels ? n.out_channels % m.tile_channels != 0
                                           : n.groups % (m.tile_channels / n.out_channels) != 0);
}

/// PSRAM holds the prefetcher back: with twice as much the executor has more in it than this one holds.
bool fills_psram(const CompiledStage& stage, const Machine& given, const StepCounts& run) {
  const StageMachine its(given, stage.role);
  const Machine& m = *its;
  const bool streams = std::ranges::any_of(run.passes.back(), [](const auto& i) { return i.weight_bytes > 0; });
  if (!streams) return false;
  Machine larger = m;
  larger.psram_bytes *= 2;
  const Lockstep l = lockstep_of(stage, given);
  return step(stage.program, larger, l.share, l.cores, 2, stage.role).psram_peak_bytes > m.psram_bytes;
}

/// A tensor larger than DSRAM that goes through DRAM, tile by tile.
bool overflows(const CompiledStage& stage, const Machine& m, const StepCounts& run) {
  for (std::size_t i = 0; i < stage.program.instructions.size(); ++i) {
    const auto number = static_cast<std::size_t>(stage.program.instructions[i].instruction_class);
    const std::int64_t bytes = largest_tensor(stage.program.classes[number]) * bits_of(m.activation_format) / 8;
    const InstructionCounts& counts = run.passes.back()[i];
    const bool moved = counts.activation_in_bytes + counts.activation_out_bytes > 0;
    if (bytes > dsram_bytes_of(*StageMachine(m, stage.role), stage.program.classes[number].work.family) && moved &&
        counts.tile_operations > 1)
      return true;
  }
  return false;
}

/// Number of the first setting of each row; a number's default comes first.
std::vector<std::int32_t> first_settings() {
  std::vector<std::int32_t> first;
  std::int32_t next = 0;
  for (const ParameterRow& row : parameters()) {
    first.push_back(next);
    next += row.type == ParameterType::choice ? static_cast<std::int32_t>(row.choices.size()) : 2;
  }
  return first;
}

std::vector<const ValidationCase*> cases_of_rows() {
  std::vector<const ValidationCase*> cases;
  for (const ParameterRow& row : parameters()) cases.push_back(find_case(row.name));
  return cases;
}

std::vector<std::int32_t> settings_in_force(const Pair& pair) {
  static const std::vector<std::int32_t> first = first_settings();
  static const std::vector<const ValidationCase*> cases = cases_of_rows();
  std::vector<std::int32_t> in_force;
  for (std::size_t r = 0; r < parameters().size(); ++r) {
    const ParameterRow& row = parameters()[r];
    const std::int64_t value = row.read(pair.machine);
    const ValidationCase* one = cases[r];
    if (one == nullptr || (one->proof == Proof::compiled && !pair.compiled)) continue;
    const bool number = row.type == ParameterType::count || row.type == ParameterType::decimal;
    in_force.push_back(first[r] + (number ? value != row.standard : static_cast<std::int32_t>(value)));
  }
  return in_force;
}

std::size_t at(std::int32_t a, std::int32_t b) {
  return static_cast<std::size_t>(a) * settings().size() + static_cast<std::size_t>(b);
}

void add_counts(auto& to, const auto& from) {
  for (const auto& [key, count] : from) to[key] += count;
}

}  // namespace

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = [] {
    std::vector<Setting> made;
    for (const ParameterRow& row : parameters()) {
      const std::string name(row.name);
      if (row.type == ParameterType::choice) {
        for (const std::string_view c : row.choices)  // FPGA parts hold few of these machines and are not drawn
          made.push_back({name, std::string(c), !c.starts_with("fpga_")});
      } else if (row.type == ParameterType::flag) {
        made.push_back({name, "false", true});
        made.push_back({name, "true", true});
      } else {
        made.push_back({name, "its default", false});
        made.push_back({name, "another", true});
      }
    }
    return made;
  }();
  return all;
}

std::string_view trait_text(Trait trait) {
  constexpr std::string_view names[] = {"stall on weights in the steady pass",
                                        "a tensor larger than DSRAM, through DRAM in tiles",
                                        "ragged tiles",
                                        "PSRAM full: twice as much would hold more than fits",
                                        "N > 1 cores in lockstep, activations through DRAM",
                                        "pushes nested 3 deep"};
  return names[static_cast<std::size_t>(trait)];
}

Traits traits_of(const Pair& pair, const std::vector<Comparison>& runs) {
  Traits t{};
  const auto set = [&](Trait trait, bool has) { t[static_cast<std::size_t>(trait)] |= has; };
  for (std::size_t s = 0; s < pair.stages.size(); ++s) {
    const CompiledStage& stage = pair.stages[s];
    std::int64_t stalls = 0, moved = 0;
    for (const InstructionCounts& i : runs[s].executed.passes.back()) {
      stalls += i.stall_weights;
      moved += i.activation_in_bytes + i.activation_out_bytes;
    }
    set(Trait::stalls_on_weights, stalls > 0);
    set(Trait::overflows_an_sram, overflows(stage, pair.machine, runs[s].executed));
    set(Trait::ragged_tiles, std::ranges::any_of(stage.program.classes, is_ragged));
    set(Trait::fills_psram, fills_psram(stage, pair.machine, runs[s].executed));
    set(Trait::several_cores, lockstep_of(stage, pair.machine).cores > 1 && moved > 0);
    set(Trait::pushes_nested, stack_use(stage.program, pair.machine).deepest >= 3);
  }
  return t;
}

void Census::count(const Pair& pair, const std::vector<Comparison>& runs) {
  ++pairs;
  compiled += pair.compiled;
  for (std::size_t s = 0; s < pair.stages.size(); ++s) {
    instructions += std::ssize(pair.stages[s].program.instructions);
    ++stages;
    repeats += runs[s].repeats;
    reported += runs[s].reported;
    for (const InstructionCounts& i : runs[s].executed.passes.back()) tile_operations += i.tile_operations;
  }
  const auto shares = [](const CompiledStage& stage) {
    return std::ranges::any_of(stage.program.classes,
                               [](const InstructionClass& c) { return weight_parts(c) > 1; });
  };
  shared_groups += std::ranges::any_of(pair.stages, shares);
  count_program(pair);
  const Traits found = traits_of(pair, runs);
  for (std::size_t i = 0; i < trait_count; ++i) traits[i] += found[i];
  count_settings(pair);
}

void Census::count_settings(const Pair& pair) {
  together.resize(settings().size() * settings().size());
  const std::vector<std::int32_t> in_force = settings_in_force(pair);
  for (std::size_t i = 0; i < in_force.size(); ++i) {
    const std::size_t row = at(in_force[i], 0);
    for (std::size_t j = i + 1; j < in_force.size(); ++j)
      together[row + static_cast<std::size_t>(in_force[j])] = true;
  }
}

void Census::count_change(const ParameterRow& row, std::int64_t from, std::int64_t to, bool counter) {
  ++changes;
  const std::string name(row.name);
  ++tried[name];
  if (!counter) return;
  ++changed[name];
  if (row.type != ParameterType::choice) return;
  ++choices[{name, from}];
  ++choices[{name, to}];
}

std::vector<const ValidationCase*> Census::least_proved(const Pair& pair) const {
  std::vector<std::pair<std::int64_t, const ValidationCase*>> found;
  const auto& cases = validation_cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ValidationCase& one = cases[(i + pair.seed) % cases.size()];
    if (one.proof != (pair.compiled ? Proof::compiled : Proof::toggled)) continue;
    const auto acts = [&](const CompiledStage& s) { return one.acts == nullptr || one.acts(pair.machine, s); };
    if (std::ranges::none_of(pair.stages, acts)) continue;
    const auto so_far = changed.find(one.name);
    found.emplace_back(
        so_far == changed.end() ? 0 : so_far->second * 500 / std::max<std::int64_t>(1, wanted_changes(one, 10000)),
        &one);
  }
  std::ranges::stable_sort(found, {}, [](const auto& f) { return f.first; });
  std::vector<const ValidationCase*> sorted;
  for (const auto& [count, one] : found) sorted.push_back(one);
  return sorted;
}

void Census::add(const Census& other) {
  pairs += other.pairs;
  compiled += other.compiled;
  instructions += other.instructions;
  least_instructions = std::min(least_instructions, other.least_instructions);
  tile_operations += other.tile_operations;
  repeats += other.repeats;
  reported += other.reported;
  stages += other.stages;
  changes += other.changes;
  shared_groups += other.shared_groups;
  for (std::size_t i = 0; i < trait_count; ++i) traits[i] += other.traits[i];
  add_counts(tried, other.tried);
  add_counts(changed, other.changed);
  add_counts(choices, other.choices);
  together.resize(settings().size() * settings().size());
  for (std::size_t i = 0; i < other.together.size(); ++i)
    if (other.together[i]) together[i] = true;
  findings.insert(findings.end(), other.findings.begin(), other.findings.end());
}

}  // namespace sdip::witness
