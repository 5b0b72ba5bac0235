// The needs of a program, and whether a machine meets them.
#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/program/form/form.h"
#include "core/program/form/parse.h"
#include "core/program/tiling/strips.h"

namespace sdip {

std::span<const ParameterRow* const> program_parameters() {
  static const auto rows = [] {
    constexpr std::array names = {"weight_format",  "activation_format",  "accumulator_format", "scale_granularity",
                                  "weight_storage", "hard_coded_part",    "sparsity",           "weight_density",
                                  "sparsity_group", "weight_compression", "activation_memory",  "transposition",
                                  "batch",          "operator_dsram",     "in_memory_weights"};
    std::array<const ParameterRow*, names.size()> found{};
    std::ranges::transform(names, found.begin(), [](const char* name) { return find_parameter(name); });
    check(std::ranges::count(found, nullptr) == 0, "every parameter that a program rests on has a row");
    return found;
  }();
  return rows;
}

MachineNeeds needs_of(const Machine& machine) {
  MachineNeeds needs;
  for (const ParameterRow* row : program_parameters()) needs.push_back(row->read(machine));
  return needs;
}

Machine machine_like(const MachineNeeds& needs) {
  Machine machine;
  const auto rows = program_parameters();
  check(needs.size() == rows.size(), "needs have a value a parameter");
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i]->write(machine, needs[i]);
  return machine;
}

Bytes imem_bytes(const Program& program) {
  std::int64_t words = 0;
  for (const Instruction& instruction : program.instructions) words += instruction.words;
  return Bytes(words * instruction_word_bits / 8);
}

void require_like(const CompiledStage& stage, const Machine& machine) {
  const auto rows = program_parameters();
  std::string first, needed, found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t has = rows[i]->read(machine);
    if (has == stage.needs[i]) continue;
    const std::string name(rows[i]->name);
    if (first.empty()) first = name;
    needed += " " + name + "=" + value_text(*rows[i], stage.needs[i]);
    found += (found.empty() ? "" : ", ") + value_text(*rows[i], has);
  }
  if (first.empty()) return;
  throw Error("program_mismatch", first,
              fmt::format("the program of '{}' is for{}, the machine has {}", stage.name, needed, found));
}

namespace {

std::string lacking(const Instruction& instruction, const char* memory, std::int64_t needed, std::int64_t has) {
  return fmt::format("{}: needs {} B of {}, which has {}", instruction.name, needed, memory, has);
}

std::optional<std::string> short_of(const Instruction& i, const InstructionClass& c, const Machine& m,
                                    std::int64_t pinned_bytes, bool in_place) {
  const std::int64_t read = i.dsram_read_side.value, write = i.dsram_write_side.value, stack = i.stackram.value;
  if (is_unified(m)) {
    const std::int64_t all = unified_bytes(m);
    if (read + write + stack > all) return lacking(i, "activation memory", read + write + stack, all);
  } else {
    const std::int64_t dsram = dsram_bytes_of(m, c.work.family);
    if (std::max(read, write) > dsram) return lacking(i, "DSRAM", std::max(read, write), dsram);
    if (stack > m.stackram_bytes) return lacking(i, "STACKRAM", stack, m.stackram_bytes);
  }
  if (in_place || c.pinned) return std::nullopt;
  const WeightForm form = weight_form(c, m);
  const std::int64_t tile = held_weight_bytes(c, form) + largest_weight_tile_bytes(c, form);
  if (tile + pinned_bytes > m.psram_bytes)
    return lacking(i, "PSRAM beside pinned weights", tile, m.psram_bytes - pinned_bytes);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> misfit(const CompiledStage& stage, const Machine& given) {
  const StageMachine its(given, stage.role);
  const Machine& machine = *its;
  const Program& program = stage.program;
  if (program.pinned_bytes.value > machine.psram_bytes)
    return fmt::format("pinned weights take {} B of PSRAM, which has {}", program.pinned_bytes.value,
                       machine.psram_bytes);
  const bool in_place = weights_in_place(machine, stage.role);
  for (const Instruction& instruction : program.instructions) {
    const auto& c = program.classes[instruction.instruction_class];
    if (auto reason = short_of(instruction, c, machine, program.pinned_bytes.value, in_place)) return reason;
  }
  return std::nullopt;
}

}  // namespace sdip
