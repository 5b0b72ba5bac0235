// execute: one instruction after the other.
#include "core/exec/chip/execute.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/chip/chip.h"
#include "core/exec/chip/weights.h"
#include "core/exec/clock/charges.h"
#include "core/exec/numbers/formats.h"
#include "core/ops/values.h"
#include "core/program/kinds.h"

namespace sdip {
namespace {

using namespace exec;

void require_inputs(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs.size())
    throw Error(
        "shape_mismatch", graph.name,
        fmt::format("the graph has {} inputs, but {} tensors were given", graph.inputs.size(), inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.values[graph.inputs[i]];
    if (inputs[i].type != value.operand.type || inputs[i].shape != value.operand.shape)
      throw Error("shape_mismatch", value.name,
                  fmt::format("input '{}' is {}{}, but {}{} was given", value.name,
                              element_type_text(value.operand.type), shape_text(value.operand.shape),
                              element_type_text(inputs[i].type), shape_text(inputs[i].shape)));
  }
}

constexpr std::int64_t dram_bytes = std::int64_t{1} << 53;  // large enough for whatever is placed there

/// Values that are joined in DRAM, by where their parts are written.
void open_joined(Chip& chip) {
  for (const auto& [whole, join] : chip.views.joined) {
    JoinedRegion region{join.row};
    for (const auto& [part, in_row] : join.parts) {
      const Slot slot = slot_of(chip.machine, chip.views.root[part], Place::dram);
      const auto address = chip.addresses.find(slot);
      region.parts.push_back(
          {slot, address == chip.addresses.end() ? 0 : address->second, in_row, chip.views.map[part]});
    }
    chip.memories[3].joined[slot_of(chip.machine, whole, Place::dram)] = std::move(region);
  }
}

Chip chip_of(const CompiledStage& stage, const Machine& machine, const StoredTensors& stored,
             const ExecuteOptions& options) {
  Chip chip{stage,          *stage.graph, machine,         stored,
            options.scales, options,      views_of(stage), addresses_of(stage, machine)};
  chip.team = std::make_unique<Team>(options.threads, options.stop);
  if (options.moved || options.charged) chip.log = std::make_unique<TransferLog>();
  for (std::size_t i = 0; i < stage.program.instructions.size() && options.order.empty(); ++i)
    chip.last_use[stage.program.instructions[i].weight_offset.value] = i;
  const bool unified = is_unified(machine);
  chip.memories[0] = {unified ? "activation memory" : "DSRAM0",
                      unified ? unified_bytes(machine) : machine.dsram_bytes};
  chip.memories[1] = {"DSRAM1", unified ? 0 : machine.dsram_bytes};
  chip.memories[2] = {psram_holds_stacks(machine) ? "PSRAM's stack" : "STACKRAM",
                      unified ? 0 : machine.stackram_bytes};
  chip.memories[3] = {"DRAM", dram_bytes};
  open_joined(chip);
  for (const auto& [slot, address] : chip.addresses)
    if (slot.second == Place::dram)
      chip.dram_end_bytes = std::max(chip.dram_end_bytes, address + value_bytes(chip.value(slot.first), machine));
  if (!has_pairs(machine)) return chip;
  for (std::size_t side = 0; side < 2 * pair_families; ++side)
    chip.memories[4 + side] = {fmt::format("DSRAM{} of {}", side % 2, family_text(static_cast<Family>(side / 2))),
                               dsram_bytes_of(machine, static_cast<Family>(side / 2))};
  Turns turns{};
  for (const Instruction& instruction : stage.program.instructions) {
    chip.turns.push_back(turns);
    ++turns.at(at(stage.program.classes[instruction.instruction_class].work.family));
  }
  return chip;
}

/// 0, 1, 2, ... where no order is given.
std::vector<std::int32_t> order_of(const Program& program, std::span<const std::int32_t> order) {
  std::vector<std::int32_t> numbers(program.instructions.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  if (order.empty()) return numbers;
  List<char> retired(numbers.size(), 0);
  for (const std::int32_t i : order) {
    check(i >= 0 && at(i) < retired.size() && retired[i] == 0, "an order has each instruction once");
    for (const std::int32_t earlier : program.instructions[i].after)
      check(retired[earlier] != 0, "an order keeps to the marks");
    retired[i] = 1;
  }
  check(order.size() == numbers.size(), "an order has all instructions");
  return {order.begin(), order.end()};
}

/// Inputs lie where the instructions that read them find them; scalars in registers.
void load_inputs(Chip& chip, std::span<const Tensor> inputs) {
  std::map<ValueId, const Tensor*> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) given[chip.graph.inputs[i]] = &inputs[i];
  for (const auto& [v, tensor] : given)
    if (is_scalar(chip.value(v))) chip.registers[v] = *tensor;
  for (const auto& [slot, address] : chip.addresses) {
    const auto input = given.find(slot.first);
    if (input == given.end()) continue;
    const Tensor& tensor = *input->second;
    chip.now = 0;
    Memory& memory = memory_of(chip, slot.second, false);
    open_region(memory, slot, address, layout_of(chip, slot.first),
                "the input '" + chip.value(slot.first).name + "'");
    write(memory, slot, Elements::first(element_count(tensor.shape)), tensor);
  }
}

/// The sums of norms whose operand is an input, of its elements as they lie there.
void sum_inputs(Chip& chip) {
  for (const Node& node : chip.graph.nodes) {
    const auto rule = node.inputs.empty() || node.inputs[0] == none ? std::nullopt : norm_rule(chip.graph, node);
    if (!rule) continue;
    const ValueId v = node.inputs[0], root = chip.views.root[v];
    const auto all = Elements::first(element_count(chip.value(root).operand.shape));
    const auto own = Elements::first(element_count(chip.value(v).operand.shape));
    const bool part = own.size() != all.size();
    for (const auto& [slot, address] : chip.addresses) {
      if (slot.first != root || std::ranges::find(chip.graph.inputs, root) == chip.graph.inputs.end()) continue;
      const auto& memory = memory_of(chip, slot.second, false);
      const Tensor held =
          read(memory, {slot, address, chip.graph, chip.value(root).name}, part ? through_view(chip, v, own) : all);
      NormSums sums = empty_sums(*rule);
      add_to_sums(sums, *rule, part ? own : elements_in_view(chip.views, v, all), doubles_of(held));
      chip.norm_sums[rule->node] = std::move(sums);
    }
  }
}

/// A result of the graph: a constant, an input, or from where its instruction left it: DRAM, else STACKRAM, else
/// DSRAM.
Tensor output_of(Chip& chip, ValueId v, std::span<const Tensor> inputs) {
  const Value& value = chip.value(v);
  if (value.kind == ValueKind::weight) return constant_of(chip, v);
  const ValueId root = chip.views.root[v];
  const Elements elements = through_view(chip, v, Elements::first(element_count(value.operand.shape)));
  const auto shaped = [&](Tensor tensor) {
    tensor.shape = value.operand.shape;
    return tensor;
  };
  if (const auto input = std::ranges::find(chip.graph.inputs, root); input != chip.graph.inputs.end())
    return shaped(tensor_of(picked(inputs[at(input - chip.graph.inputs.begin())], elements)));
  for (const Place place : {Place::dram, Place::stackram, Place::dsram}) {
    const Slot slot = slot_of(chip.machine, root, place);
    const auto address = chip.addresses.find(slot);
    if (address == chip.addresses.end()) continue;
    const auto side = chip.written_to.find(root);
    const bool in_pair = place == Place::dsram && side != chip.written_to.end();
    const Memory& memory = in_pair ? chip.memories[side->second] : memory_of(chip, place, false);
    const std::string who = "the end of the program";
    return shaped(read(memory, {slot, address->second, chip.graph, who}, elements));
  }
  throw Error("execution_failed", value.name, "no instruction made the output '" + value.name + "'");
}

/// The result of the instruction that has just retired, as the next one finds it.
void show_result(Chip& chip, const ResultObserver& observe, std::span<const Tensor> inputs) {
  if (!observe || chip.instruction().nodes.empty()) return;
  const ValueId made = chip.instruction().destination;
  ++chip.now;
  observe(made, output_of(chip, made, inputs));
}

/// The operations that the clock charges instructions for, by class.
using ClassCharges = std::map<std::int32_t, std::vector<Operation>>;

void retire_transfers(Chip& chip, ClassCharges& charges) {
  InstructionTransfers moved = chip.log->end_instruction();
  const InstructionClass& c = chip.instruction_class();
  if (chip.options.charged) {
    const auto [charged, fresh] = charges.try_emplace(chip.instruction().instruction_class);
    if (fresh) charged->second = expand(c, chip.machine, chip.stage.role);
    require_charged(charged->second, c, chip.machine, moved, chip.who);
  }
  if (chip.options.moved) chip.options.moved(chip.now, std::move(moved));
}

Run run_program(const CompiledStage& stage, std::span<const Tensor> inputs, Chip&& chip) {
  require_inputs(*stage.graph, inputs);
  load_inputs(chip, inputs);
  if (chip.options.sums_of_inputs) sum_inputs(chip);
  const List<Instruction>& instructions = stage.program.instructions;
  const ExecuteOptions& options = chip.options;
  std::size_t done = 0;
  ClassCharges charges;
  for (const std::int32_t i : order_of(stage.program, options.order)) {
    end_if(options.stop, stage.name);
    chip.now = at(i);
    const Instruction& instruction = instructions[chip.now];
    chip.who = fmt::format("instruction {} '{}' ({})", chip.now, instruction.mnemonic, instruction.name);
    run_instruction(chip);
    if (chip.log) retire_transfers(chip, charges);
    drop_weights(chip);
    show_result(chip, options.observe, inputs);
    if (options.progress) options.progress(++done, instructions.size());
  }
  chip.now = instructions.size();
  Run run;
  for (const ValueId v : stage.graph->outputs) run.outputs.push_back(output_of(chip, v, inputs));
  run.counts = chip.counts;
  return run;
}

}  // namespace

Run execute(const CompiledStage& stage, const Machine& machine, std::span<const Tensor> inputs,
            const StoredTensors& stored, const ExecuteOptions& options) {
  const StageMachine its(machine, stage.role);
  return run_program(stage, inputs, chip_of(stage, *its, stored, options));
}

Run execute(const CompiledStage& stage, const Machine& machine, std::span<const Tensor> inputs,
            const StoredTensors& stored, const ActivationScales& scales, std::span<const std::int32_t> order) {
  const ExecuteOptions options{scales, {order.begin(), order.end()}};
  return execute(stage, machine, inputs, stored, options);
}

Run execute(const CompiledStage& stage, const Machine& machine, std::span<const Tensor> inputs,
            const WeightFile& weights, const ActivationScales& scales) {
  const StoredTensors nothing = [](const Value&) { return std::nullopt; };
  const ExecuteOptions options{scales};
  const StageMachine its(machine, stage.role);
  Chip chip = chip_of(stage, *its, nothing, options);
  chip.file = &weights;
  return run_program(stage, inputs, std::move(chip));
}

StoredTensors stored_in(const WeightFile& weights) {
  return [&weights](const Value& value) -> std::optional<Tensor> {
    const auto& instructions = weights.stage.program.instructions;
    for (std::size_t i = 0; i < instructions.size(); ++i)
      for (std::size_t w = 0; w < instructions[i].weights.size(); ++w)
        if (weights.stage.graph->values[instructions[i].weights[w]].name == value.name)
          return std::move(weights_of(weights, i)[w].numbers);
    return std::nullopt;
  };
}

}  // namespace sdip
