// compile: the passes in order, and what a program is as a whole.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/error.h"
#include "core/program/draft.h"

namespace sdip {
namespace {

/// Weight bytes of one instruction as PSRAM holds them, all channels.
std::int64_t weight_bytes_of(const InstructionClass& c, const WeightForm& form) {
  std::int64_t bytes = held_weight_bytes(c, form);
  if (is_nest(c.work.family) && c.operand_b == Place::psram)
    bytes += weight_tile_bytes(c, c.work.nest.groups * c.work.nest.out_channels, form);
  return bytes;
}

/// Bytes of PSRAM that keeping every weight would take. Instructions that read the same weights share them.
std::int64_t all_weight_bytes(const WeightForm& form, const std::vector<Draft>& drafts,
                              const Placement& placement) {
  std::set<std::vector<ValueId>> seen;
  std::int64_t needed = 0;
  for (std::size_t i = 0; i < drafts.size(); ++i)
    if (seen.insert(drafts[i].weights).second) needed += weight_bytes_of(placement.classes_of_drafts[i], form);
  return needed;
}

/// pass `pin`: weights that all fit in PSRAM stay there; else the program's first ones stay in its pinned part,
/// whole instructions only. Returns all_weight_bytes.
std::int64_t pin(const Machine& machine, const std::vector<Draft>& drafts, Placement& placement, Program& program) {
  const WeightForm form = weight_form(machine);
  const std::int64_t needed = all_weight_bytes(form, drafts, placement);
  const bool all = machine.weight_storage != WeightStorage::hard_coded && needed <= machine.psram_bytes;
  std::int64_t left = all ? machine.psram_bytes : machine.psram_pinned_bytes;
  std::map<std::vector<ValueId>, std::pair<bool, Bytes>> shared;  // pinned, offset: by what an instruction reads
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    InstructionClass& c = placement.classes_of_drafts[i];
    Instruction& instruction = placement.instructions[i];
    const std::int64_t bytes = weight_bytes_of(c, form);
    if (bytes == 0) continue;
    instruction.weight_bytes = Bytes(stored_bytes(bytes, form));
    program.weight_bytes += instruction.weight_bytes;
    const std::pair first{bytes <= left, program.distinct_weight_bytes};
    const auto [entry, fresh] = shared.try_emplace(drafts[i].weights, first);
    std::tie(c.pinned, instruction.weight_offset) = entry->second;
    if (!fresh) continue;
    program.distinct_weight_bytes += instruction.weight_bytes;
    if (!c.pinned) continue;
    left -= bytes;
    program.pinned_bytes += Bytes(bytes);
  }
  return needed;
}

/// pass `classify`: instructions of equal cost share one class.
void classify(Placement&& placement, Program& program) {
  std::map<InstructionClass, std::int32_t> numbers;
  program.instructions = std::move(placement.instructions);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const auto [entry, fresh] =
        numbers.try_emplace(placement.classes_of_drafts[i], static_cast<std::int32_t>(numbers.size()));
    if (fresh) program.classes.push_back(entry->first);
    program.instructions[i].instruction_class = entry->second;
  }
}

void count_input_output(const Graph& graph, Role role, const Lives& lives, const std::vector<ValueId>& roots,
                        Program& program) {
  const ValueId latent = latent_input(graph);
  for (const ValueId v : graph.inputs) {
    const Life& life = lives[static_cast<std::size_t>(v)];
    if (is_scalar(graph.values[static_cast<std::size_t>(v)])) continue;
    if (life.in_dram) program.input_bytes += Bytes(life.bytes);
    const bool on_chip = !life.in_dram && !life.spilled && !life.uses.empty();
    if (role == Role::core && v != latent && on_chip) program.context_bytes += Bytes(life.bytes);
  }
  for (const ValueId v : graph.outputs) {
    const Life& life = lives[static_cast<std::size_t>(roots[static_cast<std::size_t>(v)])];
    if (role == Role::core || role == Role::encoder)
      program.latent_bytes += Bytes(life.bytes);
    else
      program.output_bytes += Bytes(life.bytes);
  }
}

/// What DRAM keeps: the fetched bytes, with lookup tables whole.
Bytes stored_weights(const Graph& graph, const Machine& machine, Bytes fetched) {
  const WeightForm form = weight_form(machine);
  std::int64_t more = 0;
  std::vector<ValueId> tables;
  for (const Node& node : graph.nodes) {
    if (node.op->type != "Gather" || node.outputs.empty() || node.inputs.empty() || node.inputs[0] == none)
      continue;
    const Value& table = graph.values[static_cast<std::size_t>(node.inputs[0])];
    const Value& result = graph.values[static_cast<std::size_t>(node.outputs[0])];
    if (table.kind != ValueKind::weight || result.kind != ValueKind::activation) continue;
    if (std::ranges::find(tables, node.inputs[0]) != tables.end()) continue;
    tables.push_back(node.inputs[0]);
    more += std::max<std::int64_t>(0, element_count(table.operand.shape) - element_count(result.operand.shape));
  }
  return fetched + Bytes(stored_bytes(ceil_div(more * form.bits, 8), form));
}

/// Work beyond 2^50 MACs or elements an instruction is refused: sums over a program then fit 64 bits.
std::optional<std::string> uncountable(const Graph& graph, const std::vector<Draft>& drafts) {
  for (const Draft& draft : drafts) {
    const LoopNest& n = draft.work.nest;
    double work = 1;
    if (is_nest(draft.work.family)) {
      for (const std::int64_t size :
           {n.groups, n.batch, n.out_channels, n.in_channels, n.out_h, n.out_w, n.kernel_h, n.kernel_w})
        work *= static_cast<double>(size);
    } else {
      for (const std::int64_t size : {draft.work.rows, draft.work.row_length, draft.work.passes})
        work *= static_cast<double>(size);
    }
    if (work > 0x1p50)
      return graph.nodes[static_cast<std::size_t>(draft.node)].name +
             ": more than 2^50 multiplications or elements";
  }
  return std::nullopt;
}

std::optional<std::string> compile_stage(const Stage& stage, const Machine& machine, CompiledStage& compiled) {
  compiled.role = stage.role;
  compiled.name = stage.name;
  std::vector<ValueId> roots;
  std::vector<Draft> drafts = lower(stage.graph, machine, roots);
  if (drafts.empty()) return "no instruction: every output is a constant or a view of an input";
  if (auto reason = uncountable(stage.graph, drafts)) return reason;
  if (machine.fusion == Fusion::pointwise) fuse_pointwise(stage.graph, drafts, roots);
  Lives lives = lives_of(stage.graph, stage.role, machine, drafts, roots);
  Placement placement;
  if (auto reason = place(stage.graph, machine, drafts, lives, placement)) return reason;
  const std::int64_t needed = pin(machine, drafts, placement, compiled.program);
  if (machine.weight_storage == WeightStorage::resident && needed > machine.psram_bytes)
    return "resident weights need " + std::to_string(needed) + " B of PSRAM, which has " +
           std::to_string(machine.psram_bytes);
  compiled.program.stored_weight_bytes =
      stored_weights(stage.graph, machine, compiled.program.distinct_weight_bytes);
  classify(std::move(placement), compiled.program);
  count_input_output(stage.graph, stage.role, lives, roots, compiled.program);
  return std::nullopt;
}

}  // namespace

std::string_view place_text(Place place) {
  constexpr std::string_view names[] = {"-", "dsram", "stackram", "dram", "psram", "register"};
  return names[static_cast<std::size_t>(place)];
}

std::string_view role_text(Role role) {
  constexpr std::string_view names[] = {"text_encoder", "encoder", "core", "decoder", "network"};
  return names[static_cast<std::size_t>(role)];
}

Application compile(const Workload& workload, const Machine& machine) {
  Application application;
  application.name = workload.name;
  for (const Stage& stage : workload.stages) {
    CompiledStage& compiled = application.stages.emplace_back();
    const auto reason = compile_stage(stage, machine, compiled);
    if (!reason) continue;
    application.feasible = false;
    application.reason = stage.name + ": " + *reason;
    return application;
  }
  return application;
}

}  // namespace sdip
