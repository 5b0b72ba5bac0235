// Notes of a report.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "core/cost/price/stage.h"
#include "core/machine/stage_rows.h"
#include "core/program/kinds.h"
#include "core/program/weight_form.h"

namespace sdip {
namespace {

using Notes = std::vector<std::string>;

std::string whole(double value) { return std::to_string(std::llround(value)); }

/// Whether the circuits surely stand the clock; empty when they do, and where they do not, which is why the machine
/// is infeasible.
std::string clock_note(const ClockLimit& limit, const Machine& m) {
  const auto clock = static_cast<double>(m.core_clock_mhz);
  if (clock <= limit.least_mhz || clock > limit.mhz) return {};
  const std::string range =
      fmt::format("{} MHz ({} to {})", whole(limit.mhz), whole(limit.least_mhz), whole(limit.most_mhz));
  return fmt::format(
      "core_clock_mhz = {} may be beyond the fastest clock of {} with {} pipeline stages in this process: {}.",
      m.core_clock_mhz, limit.circuit, m.pipeline_stages, range);
}

/// Whether a scanner surely exposes each die; empty when it does, and where it does not, which is why the machine
/// is infeasible.
std::string size_note(const Report& report, const Machine& m) {
  if (report.dies.empty()) return {};
  const double exposed = exposed_area(process_of(m)).value;
  const auto most =
      std::ranges::max_element(report.dies, {}, [](const DieReport& die) { return die.area_mm2.most; });
  if (most->area_mm2.most <= exposed) return {};
  const bool fits =
      std::ranges::all_of(report.dies, [&](const DieReport& die) { return die.area_mm2.value <= exposed; });
  if (!fits) return {};
  return "The largest die, " + whole(most->area_mm2.value) + " mm2 (" + whole(most->area_mm2.least) + " to " +
         whole(most->area_mm2.most) + "), may be more than a scanner exposes: " + whole(exposed) + " mm2.";
}

/// Which figures of the technology table are the user's; empty when none is.
std::string own_figures_note(const Machine& m) {
  constexpr std::size_t most_named = 8;
  const auto own = m.technology.figures();
  if (own.empty()) return {};
  std::string note = std::to_string(own.size()) + (own.size() == 1 ? " technology figure is the user's: "
                                                                   : " technology figures are the user's: ");
  for (std::size_t i = 0; i < std::min(own.size(), most_named); ++i) {
    const ParameterRow& row = technology_parameters()[own[i].row];
    note += fmt::format("{}{} = {}{} ({})", i == 0 ? "" : ", ", row.name.substr(technology_prefix.size()),
                        value_text(row, row.read(m)), row.unit.empty() ? "" : " " + std::string(row.unit),
                        value_text(row, row.standard));
  }
  if (own.size() > most_named) note += fmt::format(", and {} more", own.size() - most_named);
  return note + ".";
}

/// Densities, in hundredths, by which all weights of each group stay though places are stored.
std::set<std::int64_t> whole_groups(const std::vector<const StageRun*>& runs, const Machine& m) {
  std::set<std::int64_t> densities;
  for (const StageRun* run : runs)
    for (const InstructionClass& c : run->stage->program.classes) {
      const WeightForm form = weight_form(machine_for(c, m));
      if (!multiplies_weights(c) || form.group == 0) continue;
      if (group_pattern(form.group, form.density_hundredths).stay == form.group)
        densities.insert(form.density_hundredths);
    }
  return densities;
}

/// Notes of options that act on products: what they suppose, and where they do nothing.
void note_products(const std::vector<const StageRun*>& runs, const Machine& m, Notes& notes) {
  const auto in_rom = [&](const StageRun* run) { return hard_coded(m, run->stage->role); };
  const bool fefet = m.in_memory_weights == InMemoryWeights::fefet;
  if (fefet && std::ranges::any_of(runs, std::not_fn(in_rom)))
    notes.emplace_back(
        "Products in FeFET memories: converters lose nothing and cells do not vary; accuracy with real ones is "
        "outside the model's validity, as are writing the cells and wearing them.");
  else if (fefet)
    notes.emplace_back("in_memory_weights=fefet does nothing: all weights are in ROM.");
  if (m.composable_macs == ComposableMacs::on &&
      std::ranges::all_of(runs, [](const StageRun* run) { return run->work.products_in_mac == 1; }))
    notes.emplace_back(
        "composable_macs=on changes products that fit several times into a MAC; here none does: it takes its area "
        "and energy and does nothing.");
  for (const std::int64_t density : whole_groups(runs, m)) {
    const std::string group = std::to_string(m.sparsity_group);
    notes.push_back("sparsity_group = " + group + ": of a density of " +
                    value_text(*find_parameter("weight_density"), density) + " " + group + " of " + group +
                    " weights stay: none is pruned, and places are stored all the same.");
  }
  if (m.activation_density.hundredths < 100)
    notes.push_back("activation_density = " +
                    value_text(*find_parameter("activation_density"), m.activation_density.hundredths) +
                    " is the user's assumption; it changes energy alone.");
}

/// Why a product of weights stays on one core though it has groups, or channels, that several could share; empty:
/// it does not, or has none.
std::string kept_by(const InstructionClass& c, WeightPlace weights, const Machine& m) {
  const auto shareable = [&](const auto& product) -> std::int64_t {
    const LoopNest& nest = product.work.nest;
    if (product.operand_b != Place::psram) return 1;
    return nest.groups == 1 && m.branches == Branches::channels ? nest.out_channels : nest.groups;
  };
  if (c.compound == Compound::strips) {
    const bool any = std::ranges::any_of(c.parts, [&](const Part& part) { return shareable(part) > 1; });
    return any ? "in strips, whose rows go from part to part on one core" : "";
  }
  const std::int64_t parts = shareable(c);
  if (parts == 1 || c.spread_cores > 1) return {};
  if (weights == WeightPlace::fefet) return "in FeFET memories, which multiply where the weights lie";
  if (c.prologue_passes + c.statistics_passes > 0) return "with sums of a norm, which are of all channels";
  for (std::int64_t few = 2; few <= std::min(m.cores, parts); ++few)
    if (parts % few == 0) return "with operands of which no rule says what each core reads";
  const char* what = c.work.nest.groups > 1 ? "groups" : "channels";
  return fmt::format("whose {} no number of cores up to {} divides", what, m.cores);
}

void note_products_on_one_core(const StageRun& run, const Machine& m, Notes& notes) {
  std::map<std::string, std::int64_t> kept;
  const Program& program = run.stage->program;
  for (const Instruction& i : program.instructions) {
    const InstructionClass& c = program.classes[i.instruction_class];
    const std::string why = kept_by(c, weight_place(m, run.stage->role), m);
    if (!why.empty()) ++kept[why];
  }
  const char* what = m.branches == Branches::channels ? ": products of weights" : ": products of grouped weights";
  for (const auto& [why, count] : kept)
    notes.push_back(fmt::format("{}{} stay on one core in {}{}{}.", run.stage->name, what, count,
                                count == 1 ? " instruction " : " instructions ", why));
}

/// Notes which operands are copied although part_views is on.
void note_copies(const StageRun& run, Notes& notes) {
  std::int64_t parts = 0, wholes = 0;
  for (const Instruction& i : run.stage->program.instructions) {
    if (i.nodes.empty()) continue;
    const Graph& graph = *run.stage->graph;
    const Node& node = graph.nodes[i.nodes.front()];
    const auto is_weight = [&](ValueId v) { return v != none && graph.values[v].kind == ValueKind::weight; };
    const auto is = [&](std::string_view type) { return node.op->domain.empty() && node.op->type == type; };
    const bool one_place = is("Gather") && element_count(graph.values[node.inputs[1]].operand.shape) == 1;
    parts += (is("Split") || is("Slice") || one_place) && !is_weight(node.inputs[0]);
    wholes += is("Concat") && std::ranges::none_of(node.inputs, is_weight);
  }
  std::string what;
  if (parts > 0) what = "parts of Split, Slice and Gather: " + std::to_string(parts);
  if (wholes > 0) what += (what.empty() ? "" : ", ") + ("Concats: " + std::to_string(wholes));
  if (what.empty()) return;
  notes.push_back(run.stage->name + ": copies stay, of " + what +
                  ". Readers cannot take them in place, or it would move more.");
}

/// Notes of options that change nothing in a stage, and of how a network runs.
void note_stage(const StageRun& run, const Machine& m, Notes& notes) {
  const SeriesPart part = run.stage->part;
  const bool network = run.stage->role == Role::network, parallel = m.branches != Branches::serial;
  const bool by_channels = m.branches == Branches::channels;
  if (m.part_views == PartViews::on) note_copies(run, notes);
  if (part.count > 1 && part.first())
    notes.push_back(run.stage->name + " to " + std::to_string(part.count) +
                    ": parts of one network in series, one a core, each with its own weights and PSRAM and a "
                    "fixed share of the DRAM channel.");
  if (!network && m.core_weights == CoreWeights::per_core)
    notes.push_back(run.stage->name + ": core_weights=per_core is for networks; its weights stay common.");
  if (network && !parallel && part.count == 1)
    notes.push_back(run.stage->name +
                    " runs as one network: a frame is one pass, on each of the cores another frame.");
  if (network && parallel)
    notes.push_back(run.stage->name + " runs as one network: a frame is one pass, its attention heads and groups" +
                    (by_channels ? ", or output channels," : "") + " of products of weights on up to " +
                    std::to_string(run.work.spread_cores) + " cores.");
  const bool text = run.stage->role == Role::text_encoder && !has_own_rows(m, Role::text_encoder);
  if (parallel && m.cores > 1 && (network || text)) {
    notes.push_back(run.stage->name +
                    ": branches of different instructions (projections of q, k and v, a projected shortcut, the "
                    "paths of an Inception block) run one after the other" +
                    (by_channels ? ", the products of each on several cores." : " on the first core."));
    note_products_on_one_core(run, m, notes);
  }
  if (parallel && !network && run.stage->role != Role::text_encoder)
    notes.push_back(run.stage->name + ": branches=" + (by_channels ? "channels" : "parallel") +
                    " changes nothing where each core has a frame of its own.");
}

/// Notes where encoder and decoder as circuits, or stages with rows of their own, are asked for and there are none.
void note_own_blocks(const std::vector<StageRun>& runs, const Machine& m, Notes& notes) {
  const bool circuits = m.vae_stage == VaeStage::circuit;
  if (circuits && std::ranges::none_of(runs, [&](const StageRun& r) { return is_circuit(m, r.stage->role); }))
    notes.emplace_back("vae_stage=circuit does nothing: the workload has no VAE.");
  constexpr Role roles[own_stages.size()] = {Role::text_encoder, Role::encoder, Role::decoder};
  for (const OwnStage stage : own_stages) {
    const Role role = roles[at(stage)];
    const std::string which = "The rows of " + std::string(own_stage_text(stage));
    if (!says_rows(m, stage)) continue;
    if (!on_chip(role, m))
      notes.push_back(which + " do nothing: the stage is off chip.");
    else if (std::ranges::none_of(runs, [&](const StageRun& r) { return r.stage->role == role; }))
      notes.push_back(which + " do nothing: the workload has no such stage.");
    else if (role == Role::text_encoder)
      notes.push_back(
          which +
          " make it a block of its own beside the cores, which still works before they do, with the whole "
          "DRAM channel.");
  }
}

}  // namespace

std::vector<std::string> notes_of(const std::vector<StageRun>& runs, const Report& report, const Machine& m) {
  Notes notes{
      "Leakage, clock tree, control and what else a die holds follow published chips by ratios "
      "(docs/model/energy.md, "
      "docs/model/area.md).",
      "Where no source gives a figure it is an assumption with a range: energy, area and clock are given with the "
      "ends of their ranges."};
  if (m.vae_stage == VaeStage::off_chip)
    notes.emplace_back("VAE stages are off chip: their time, energy and area are not included.");
  note_own_blocks(runs, m, notes);
  const bool fpga = is_fpga(m.technology_node);
  std::vector<const StageRun*> built;
  for (const StageRun& run : runs)
    if (on_chip(run.stage->role, m)) built.push_back(&run);
  note_products(built, m, notes);
  for (const std::string& note : {own_figures_note(m), clock_note(report.clock_limit, m), size_note(report, m)})
    if (!note.empty()) notes.push_back(note);
  if (fpga)
    notes.emplace_back(
        "Area on an FPGA is that of programmable logic of its node, not of the part; what the machine takes of the "
        "part is listed in DSP blocks, RAM blocks and LUTs.");
  if (m.host_operators != HostOperators::no_operators)
    notes.emplace_back(
        "Operators on the host: its energy, area and memory are outside the model's validity and not included; its "
        "speed is host_cycles_per_element, whatever the operator.");
  const bool has_cores = std::ranges::any_of(runs, [](const StageRun& r) { return r.stage->role == Role::core; });
  if (has_crossbar(m) && !has_cores)
    notes.emplace_back(
        "memory_hierarchy=crossbar changes frames that denoise; here it takes its area and does nothing.");
  for (const StageRun& run : runs) note_stage(run, m, notes);
  for (const StageRun& run : runs)
    if (!run.stream.repeats)
      notes.push_back(fmt::format("{}: no steady state within {} passes; the last pass stands for it.",
                                  run.stage->name, most_simulated_passes));
  return notes;
}

}  // namespace sdip
