// Where a report differs from what the executor's counts make of an application.
#include "tests/core/cost/frame_difference.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/machine/rate.h"

namespace sdip {
namespace {

/// Keeps the first difference.
class Comparison {
 public:
  void in(const std::string& where) { where_ = where; }
  void counts(std::string_view what, std::int64_t told, std::int64_t counted) {
    if (told != counted) tell(what, told, counted);
  }
  void sums(std::string_view what, double told, double counted) {
    const bool same = std::isnan(counted) ? std::isnan(told) : std::abs(told - counted) <= 1e-9 * std::abs(counted);
    if (!same) tell(what, told, counted);
  }
  void holds(std::string_view what, bool held) {
    if (!held) tell(what, 0, 1);
  }
  const std::string& first() const { return first_; }

 private:
  template <class T>
  void tell(std::string_view what, T told, T counted) {
    if (!first_.empty()) return;
    std::ostringstream text;
    text << where_ << what << ": " << told << ", " << counted;
    first_ = text.str();
  }
  std::string where_, first_;
};

void compare_parts(std::string_view what, const Breakdown& told, const std::map<std::string, double>& counted,
                   Comparison& compared) {
  std::map<std::string, double> parts;
  for (const auto& [name, value] : told) parts[name] += value;
  for (const auto& [name, value] : counted) compared.sums(std::string(what) + " " + name, parts[name], value);
  for (const auto& [name, value] : parts)
    compared.holds(std::string(what) + " knows " + name, value == 0 || counted.contains(name));
}

/// The channel where the instruction waits, and its stalls or transfers are more than every other need; else the
/// largest of these.
void compare_limiter(const InstructionCost& told, const InstructionCounts& i, Comparison& compared) {
  const std::int64_t stalls[] = {i.stall_weights, i.stall_activations, i.stall_program};
  std::int64_t waited = 0, streamed = 0, most = 0;
  constexpr auto first = static_cast<std::size_t>(Resource::weight_stream);
  for (std::size_t r = 0; r < resource_count; ++r) {
    if (r < first)
      most = std::max(most, told.busy[r].value);
    else
      streamed += told.busy[r].value, waited += stalls[r - first];
  }
  const auto limiter = static_cast<std::size_t>(told.limiter);
  const bool channel = waited > 0 && std::max(waited, streamed) > most;
  compared.holds("limiter", channel == (limiter >= first));
  compared.counts("limiter", channel ? stalls[limiter - first] : told.busy[limiter].value,
                  channel ? *std::ranges::max_element(stalls) : most);
}

void compare_instruction(const InstructionCost& told, const InstructionCounts& i, const CountedStage& stage,
                         std::size_t number, Comparison& compared) {
  const Instruction& instruction = stage.stage->program.instructions[number];
  const InstructionClass& c = stage.stage->program.classes[static_cast<std::size_t>(instruction.instruction_class)];
  const std::int64_t active = stage.active_cores;
  compared.counts("start", told.start.value, i.start);
  compared.counts("end", told.end.value, i.end);
  compared.counts("stall_weights", told.stall_weights.value, i.stall_weights);
  compared.counts("stall_activations", told.stall_activations.value, i.stall_activations);
  compared.counts("stall_program", told.stall_program.value, i.stall_program);
  compared.counts("waiting", told.waiting.value, i.waiting);
  compared.counts("dram_weights", told.dram_weights.value, i.weight_bytes);
  compared.counts("dram_program", told.dram_program.value, i.program_bytes);
  compared.counts("dram_activations_in", told.dram_activations_in.value, i.activation_in_bytes / active);
  compared.counts("dram_activations_out", told.dram_activations_out.value, i.activation_out_bytes / active);
  compared.counts("all_activations_in", told.all_activations_in.value, i.activation_in_bytes);
  compared.counts("all_activations_out", told.all_activations_out.value, i.activation_out_bytes);
  const auto busy = [&](Resource resource) { return told.busy[static_cast<std::size_t>(resource)].value; };
  compared.counts("compute", busy(Resource::compute), i.compute_cycles);
  const bool pairs = c.pair_a || c.pair_b ||
                     std::ranges::any_of(c.fetches, [](const Fetch& f) { return !!f.pair; }) || !c.parts.empty();
  const std::int64_t read = i.dsram_read_beats + i.dma_read_beats;
  compared.holds("dsram_read", pairs ? busy(Resource::dsram_read) <= read : busy(Resource::dsram_read) == read);
  compared.counts("dsram_write", busy(Resource::dsram_write), i.dsram_write_beats + i.dma_write_beats);
  compared.counts("stackram_read", busy(Resource::stackram_read), i.stackram_read_beats);
  compared.counts("stackram_write", busy(Resource::stackram_write), i.stackram_write_beats);
  compared.counts("psram_read", busy(Resource::psram_read), i.psram_read_beats + i.dma_psram_beats);
  compared.counts("dma_read_beats", told.dma_read_beats, i.dma_read_beats);
  compared.counts("dma_write_beats", told.dma_write_beats, i.dma_write_beats);
  compared.counts("dma_psram_beats", told.dma_psram_beats, i.dma_psram_beats);
  compared.counts("accumulator_writes", told.accumulator_writes, i.accumulator_writes);
  compared.counts("accumulator_reads", told.accumulator_reads, i.accumulator_reads);
  compared.counts("register_writes", told.register_writes, i.register_writes);
  compare_limiter(told, i, compared);
  compared.counts("dsram_read_side", told.dsram_read_side.value, instruction.dsram_read_side.value);
  compared.counts("dsram_write_side", told.dsram_write_side.value, instruction.dsram_write_side.value);
  compared.counts("stackram", told.stackram.value, instruction.stackram.value);
  compared.sums("energy_j", told.energy_j, stage.instruction_joules[number]);
}

void compare_stage(const StageReport& told, const CountedStage& s, const Machine& m, Comparison& compared) {
  const Program& program = s.stage->program;
  compared.in(s.stage->name + " ");
  compared.holds("name and role", told.name == s.stage->name && told.role == s.stage->role);
  compared.counts("cold_cycles", told.cold_cycles.value, s.cold_cycles);
  compared.counts("steady_cycles", told.steady_cycles.value, s.pass.end);
  compared.counts("bound_cycles", told.bound_cycles.value, s.bound_cycles);
  compared.counts("bound_dram_bytes", told.bound_dram_bytes.value, s.bound_dram_bytes);
  compared.counts("stall_weights", told.stall_weights.value, s.pass.stall_weights);
  compared.counts("stall_activations", told.stall_activations.value, s.pass.stall_activations);
  compared.counts("stall_program", told.stall_program.value, s.pass.stall_program);
  const bool overlaps = m.operator_dsram == OperatorDsram::per_operator;
  compared.counts("running", told.running.value, overlaps ? s.pass.start + s.pass.stall_program : s.pass.end);
  compared.counts("waiting", told.waiting.value, overlaps ? s.pass.waiting : 0);
  compared.counts("dram_weights", told.dram_weights.value, s.pass.weight_bytes);
  compared.counts("dram_activations", told.dram_activations.value,
                  s.pass.activation_in_bytes + s.pass.activation_out_bytes);
  compared.counts("dram_program", told.dram_program.value, s.pass.program_bytes);
  compared.counts("weight_bytes", told.weight_bytes.value, program.stored_weight_bytes.value);
  compared.counts("psram_peak", told.psram_peak.value, s.psram_peak_bytes);
  compared.counts("macs", told.macs.value, s.macs);
  compared.counts("passes_per_frame", told.passes_per_frame, s.stage->role == Role::core ? m.steps : 1);
  double joules = 0;
  for (const Joules8* part : {&s.own, &s.shared})
    for (const auto& [name, value] : *part) joules += value;
  compared.sums("energy_j", told.energy_j, joules);
  Bytes dsram, stackram;
  std::int64_t macs = 0;
  compared.counts("instructions", std::ssize(told.instructions), std::ssize(program.instructions));
  for (std::size_t i = 0; i < program.instructions.size() && i < told.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    compared.in(s.stage->name + " instruction " + std::to_string(i) + " ");
    compare_instruction(told.instructions[i], s.steady[i], s, i, compared);
    macs += told.instructions[i].macs.value;
    dsram = std::max({dsram, instruction.dsram_read_side, instruction.dsram_write_side});
    stackram = std::max(stackram, instruction.stackram);
  }
  compared.in(s.stage->name + " ");
  compared.counts("macs of its instructions", macs, s.macs);
  compared.counts("dsram_peak", told.dsram_peak.value, dsram.value);
  compared.counts("stackram_peak", told.stackram_peak.value, stackram.value);
}

/// Latency by stage, and the time to fill IMEM and DRAM.
void compare_times(const Report& report, const CountedFrame& frame, const Machine& m, Comparison& compared) {
  const double hertz = static_cast<double>(m.core_clock_mhz) * 1e6;
  std::map<std::string, double> seconds;
  std::int64_t loaded = 0;
  for (std::size_t s = 0; s < frame.stages.size(); ++s) {
    const CountedStage& stage = frame.stages[s];
    const Role role = stage.stage->role;
    if (m.vae_stage == VaeStage::off_chip && (role == Role::encoder || role == Role::decoder)) continue;
    const std::int64_t words = report.stages[s].imem_bytes.value;
    const bool in_dram = m.program_storage == ProgramStorage::streamed && words > m.imem_bytes;
    if (!in_dram || !m.host_memory) loaded += words;
    const bool fefet = m.in_memory_weights == InMemoryWeights::fefet;
    if (!hard_coded(m, role) && (fefet || !m.host_memory)) loaded += stage.stage->program.stored_weight_bytes.value;
    seconds[stage.stage->name] += static_cast<double>(stage.alone_cycles) / hertz;
    const std::int64_t links = role == Role::core ? stage.cores_of_frame : stage.stage->part.count > 1 ? 1 : 0;
    if (links > 0) seconds["link"] += static_cast<double>(links * stage.link_cycles) / hertz;
  }
  compare_parts("latency", report.latency_s, seconds, compared);
  compared.counts("load.cycles", report.load.cycles.value,
                  dram_rate(m, Decimal{100}).time_for(Bytes(loaded)).value);
}

}  // namespace

std::string frame_difference(const Report& report, const CountedFrame& frame, const Machine& machine) {
  if (!report.outcome.counted()) return "infeasible: " + report.outcome.reason;
  if (report.stages.size() != frame.stages.size()) return "stages";
  Comparison compared;
  for (const auto& [metric, counted] : frame.metrics)
    compared.sums(metrics()[static_cast<std::size_t>(metric)].name,
                  report.outcome.values[static_cast<std::size_t>(metric)], counted);
  compare_parts("energy", report.energy_j, frame.joules, compared);
  compare_parts("area", report.area_mm2, frame.area_mm2, compared);
  compare_times(report, frame, machine, compared);
  for (std::size_t s = 0; s < frame.stages.size(); ++s)
    compare_stage(report.stages[s], frame.stages[s], machine, compared);
  return compared.first();
}

}  // namespace sdip
