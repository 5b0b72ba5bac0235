// Are a report's metrics, stages, energies and areas those that follow from what the executor counts?
#include "tests/core/cost/counted_frame.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/machine/rate.h"
#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

/// The same to within rounding of sums made in another order.
void expect_near(double told, double counted, std::string_view what) {
  if (std::isnan(counted)) {
    EXPECT_TRUE(std::isnan(told)) << what;
  } else {
    EXPECT_NEAR(told, counted, 1e-9 * std::abs(counted)) << what;
  }
}

void expect_parts(const Breakdown& told, const std::map<std::string, double>& counted, double least = 0) {
  std::map<std::string, double> parts;
  for (const auto& [name, value] : told) parts[name] += value;
  for (const auto& [name, value] : counted) expect_near(parts[name], value, name);
  for (const auto& [name, value] : parts) EXPECT_TRUE(value == least || counted.contains(name)) << name;
}

void expect_instruction(const InstructionCost& told, const InstructionCounts& i, const CountedStage& stage,
                        double joules) {
  const std::int64_t active = stage.active_cores;
  EXPECT_EQ(told.start.value, i.start);
  EXPECT_EQ(told.end.value, i.end);
  EXPECT_EQ(told.stall_weights.value, i.stall_weights);
  EXPECT_EQ(told.stall_activations.value, i.stall_activations);
  EXPECT_EQ(told.stall_program.value, i.stall_program);
  EXPECT_EQ(told.waiting.value, i.waiting);
  EXPECT_EQ(told.dram_weights.value, i.weight_bytes);
  EXPECT_EQ(told.dram_program.value, i.program_bytes);
  EXPECT_EQ(told.dram_activations_in.value, i.activation_in_bytes / active);
  EXPECT_EQ(told.dram_activations_out.value, i.activation_out_bytes / active);
  const std::array<Cycles, resource_count>& busy = told.busy;
  EXPECT_EQ(busy[static_cast<std::size_t>(Resource::compute)].value, i.compute_cycles);
  EXPECT_LE(busy[static_cast<std::size_t>(Resource::dsram_read)].value, i.dsram_read_beats);
  EXPECT_EQ(busy[static_cast<std::size_t>(Resource::dsram_write)].value, i.dsram_write_beats);
  EXPECT_EQ(busy[static_cast<std::size_t>(Resource::stackram_read)].value, i.stackram_read_beats);
  EXPECT_EQ(busy[static_cast<std::size_t>(Resource::stackram_write)].value, i.stackram_write_beats);
  EXPECT_EQ(busy[static_cast<std::size_t>(Resource::psram_read)].value, i.psram_read_beats);
  EXPECT_EQ(busy[static_cast<std::size_t>(Resource::weight_stream)].value, i.stall_weights);
  EXPECT_EQ(busy[static_cast<std::size_t>(Resource::activation_stream)].value, i.stall_activations);
  EXPECT_EQ(busy[static_cast<std::size_t>(Resource::program_stream)].value, i.stall_program);
  for (const Cycles& other : busy) EXPECT_LE(other, busy[static_cast<std::size_t>(told.limiter)]);
  expect_near(told.energy_j, joules, "energy of an instruction");
}

void expect_stage(const StageReport& told, const CountedStage& s, const Machine& m) {
  SCOPED_TRACE(told.name);
  const Program& program = s.stage->program;
  EXPECT_EQ(told.name, s.stage->name);
  EXPECT_EQ(told.role, s.stage->role);
  EXPECT_EQ(told.cold_cycles.value, s.cold_cycles);
  EXPECT_EQ(told.steady_cycles.value, s.pass.end);
  EXPECT_EQ(told.bound_cycles.value, s.bound_cycles);
  EXPECT_EQ(told.bound_dram_bytes.value, s.bound_dram_bytes);
  EXPECT_EQ(told.stall_weights.value, s.pass.stall_weights);
  EXPECT_EQ(told.stall_activations.value, s.pass.stall_activations);
  EXPECT_EQ(told.stall_program.value, s.pass.stall_program);
  const bool overlaps = m.operator_dsram == OperatorDsram::per_operator;
  EXPECT_EQ(told.running.value, overlaps ? s.pass.start + s.pass.stall_program : s.pass.end);
  EXPECT_EQ(told.waiting.value, overlaps ? s.pass.waiting : 0);
  EXPECT_EQ(told.dram_weights.value, s.pass.weight_bytes);
  EXPECT_EQ(told.dram_activations.value, s.pass.activation_in_bytes + s.pass.activation_out_bytes);
  EXPECT_EQ(told.dram_program.value, s.pass.program_bytes);
  EXPECT_EQ(told.weight_bytes, program.stored_weight_bytes);
  EXPECT_EQ(told.psram_peak.value, s.psram_peak_bytes);
  EXPECT_EQ(told.macs.value, s.macs);
  EXPECT_EQ(told.passes_per_frame, s.stage->role == Role::core ? m.steps : 1);
  double joules = 0;
  for (const Joules8* part : {&s.own, &s.shared})
    for (const auto& [name, value] : *part) joules += value;
  expect_near(told.energy_j, joules, "energy of a stage");
  Bytes dsram, stackram;
  ASSERT_EQ(told.instructions.size(), program.instructions.size());
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    expect_instruction(told.instructions[i], s.steady[i], s, s.instruction_joules[i]);
    EXPECT_EQ(told.instructions[i].dsram_read_side, instruction.dsram_read_side);
    EXPECT_EQ(told.instructions[i].dsram_write_side, instruction.dsram_write_side);
    EXPECT_EQ(told.instructions[i].stackram, instruction.stackram);
    dsram = std::max({dsram, instruction.dsram_read_side, instruction.dsram_write_side});
    stackram = std::max(stackram, instruction.stackram);
  }
  EXPECT_EQ(told.dsram_peak, dsram);
  EXPECT_EQ(told.stackram_peak, stackram);
}

/// Latency by stage, and the time to fill IMEM and DRAM.
void expect_times(const Report& report, const CountedFrame& frame, const Machine& m) {
  const double hertz = static_cast<double>(m.core_clock_mhz) * 1e6;
  std::map<std::string, double> seconds;
  std::int64_t loaded = 0;
  for (std::size_t s = 0; s < frame.stages.size(); ++s) {
    const CountedStage& stage = frame.stages[s];
    const Role role = stage.stage->role;
    loaded += report.stages[s].imem_bytes.value;
    if (!hard_coded(m, role)) loaded += stage.stage->program.stored_weight_bytes.value;
    if (m.vae_stage == VaeStage::off_chip && (role == Role::encoder || role == Role::decoder)) continue;
    seconds[stage.stage->name] += static_cast<double>(stage.alone_cycles) / hertz;
    const std::int64_t links = role == Role::core ? stage.active_cores : stage.stage->part.count > 1 ? 1 : 0;
    if (links > 0) seconds["link"] += static_cast<double>(links * stage.link_cycles) / hertz;
  }
  expect_parts(report.latency_s, seconds);
  EXPECT_EQ(report.load_cycles, dram_rate(m, Decimal{100}).time_for(Bytes(loaded)));
}

void expect_frame(const Application& application, const Machine& m, std::int64_t& settled) {
  const CountedFrame frame = counted_frame(application, m);
  if (!frame.settled) return;
  ++settled;
  const Report report = estimate(application, m);
  ASSERT_TRUE(report.outcome.feasible) << report.outcome.reason;
  for (const auto& [metric, counted] : frame.metrics)
    expect_near(report.outcome.values[static_cast<std::size_t>(metric)], counted,
                metrics()[static_cast<std::size_t>(metric)].name);
  EXPECT_EQ(frame.metrics.size(), metric_count);
  expect_parts(report.energy_j, frame.joules);
  expect_parts(report.area_mm2, frame.area_mm2);
  expect_times(report, frame, m);
  ASSERT_EQ(report.stages.size(), frame.stages.size());
  for (std::size_t s = 0; s < frame.stages.size(); ++s) expect_stage(report.stages[s], frame.stages[s], m);
}

Machine frame_machine(Dice& dice) {
  Machine m = random_machine(dice);
  m.dram_burst_bytes = 1;
  m.weight_compression = Decimal{100};
  m.weight_storage = dice.one_in(3) ? WeightStorage::hard_coded : WeightStorage::streamed;
  m.hard_coded_part =
      dice.one_of({HardCodedPart::all, HardCodedPart::text_encoder, HardCodedPart::vae, HardCodedPart::core});
  m.core_clock_mhz = dice.between(1, 3000);
  m.cores = dice.between(1, 5);
  m.steps = dice.between(1, 9);
  m.batch = dice.between(1, 3);
  m.prompt_per_frame = dice.one_in(2);
  m.vae_stage = dice.one_of({VaeStage::core, VaeStage::off_chip});
  m.mode = dice.one_of({Mode::text_to_image, Mode::image_to_image});
  m.encoder_dram_share = Decimal{dice.between(1, 40)};
  m.decoder_dram_share = Decimal{dice.between(1, 40)};
  m.technology_node = dice.one_of({TechnologyNode::n7, TechnologyNode::n45});
  m.dram_kind = dice.one_of({DramKind::lpddr4, DramKind::ddr4, DramKind::gddr6, DramKind::hbm2});
  m.sram_banks = dice.between(1, 20);
  m.dsram_bytes = dice.between(1024, 1 << 22);
  m.stackram_bytes = dice.between(0, 1 << 22);
  m.sram_floor_plan_factor = Decimal{dice.between(100, 300)};
  m.mac_floor_plan_factor = Decimal{dice.between(100, 900)};
  m.fused_attention = dice.one_of({FusedAttention::off, FusedAttention::on});
  m.fusion = dice.one_of({Fusion::no_fusion, Fusion::pointwise, Fusion::norm});
  m.branches = dice.one_of({Branches::serial, Branches::parallel});
  return m;
}

Program frame_program(Dice& dice, const Machine& like, Machine& room) {
  for (;;) {
    Machine m = like;
    Program program = random_program(dice, m);
    bool strips = false;
    for (InstructionClass& c : program.classes) {
      strips |= c.compound == Compound::strips;
      c.pinned = false;
    }
    if (strips) continue;
    program.pinned_bytes = Bytes(0);
    const auto bytes = [&](std::int64_t most) { return Bytes(dice.between(0, most)); };
    program.stored_weight_bytes = bytes(5000);
    program.distinct_weight_bytes = bytes(2 * m.psram_bytes);
    program.input_bytes = dice.one_in(4) ? Bytes(0) : bytes(900);
    program.output_bytes = dice.one_in(4) ? Bytes(0) : bytes(900);
    program.latent_bytes = bytes(300);
    program.context_bytes = bytes(300);
    for (Instruction& i : program.instructions) {
      i.dsram_read_side = bytes(100);
      i.dsram_write_side = bytes(100);
      i.stackram = bytes(100);
    }
    room.psram_bytes = std::max(room.psram_bytes, m.psram_bytes);
    room.imem_bytes = std::max(room.imem_bytes, m.imem_bytes);
    return program;
  }
}

/// An application of stages of these roles; of networks several in series.
Application application_of(Dice& dice, const std::vector<Role>& roles, Machine& m) {
  Application application;
  m.psram_bytes = m.imem_bytes = 1;
  const Machine like = m;
  for (const Role role : roles) {
    CompiledStage& stage = application.stages.emplace_back();
    stage.role = role;
    stage.name = "stage " + std::to_string(application.stages.size());
    stage.program = frame_program(dice, like, m);
    const auto count = static_cast<std::int32_t>(roles.size());
    if (role != Role::network || count == 1) continue;
    stage.part = {static_cast<std::int32_t>(application.stages.size()) - 1, count};
    stage.dram_thousandths = 10 * dice.between(1, 60);
  }
  if (m.program_storage == ProgramStorage::held) m.imem_bytes = std::int64_t{1} << 20;
  return application;
}

void expect_frames(std::uint64_t first, const std::vector<std::vector<Role>>& all) {
  std::int64_t settled = 0;
  for (std::uint64_t seed = first; seed < first + 30 * all.size(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Machine m = frame_machine(dice);
    const Application application = application_of(dice, all[seed % all.size()], m);
    expect_frame(application, m, settled);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(settled, static_cast<std::int64_t>(20 * all.size()));
}

constexpr Role text = Role::text_encoder, encoder = Role::encoder, core = Role::core, decoder = Role::decoder,
               network = Role::network;

TEST(counted_frame, of_a_diffusion_pipeline_s_stages_is_what_the_report_says) {
  expect_frames(1, {{core}, {text, core, decoder}, {text, encoder, core, decoder}});
}

TEST(counted_frame, of_a_network_is_what_the_report_says) { expect_frames(1001, {{network}}); }

TEST(counted_frame, of_a_network_s_parts_in_series_is_what_the_report_says) {
  expect_frames(2001, {{network, network}, {network, network, network}});
}

TEST(counted_frame, of_stages_without_cores_is_what_the_report_says) { expect_frames(3001, {{text}, {decoder}}); }

}  // namespace
}  // namespace sdip
