// Does the estimate count what the executor counts? Difference 0, on random programs and on tiny-sd.
#include <gmock/gmock.h>

#include "core/cost/price/stage.h"
#include "core/exec/clock/operations.h"
#include "core/exec/clock/step.h"
#include "core/program/kinds.h"
#include "core/program/traffic.h"
#include "tests/core/cost/counted.h"
#include "tests/core/cost/random_program.h"
#include "tests/core/cost/tiny_sd.h"
#include "tests/core/exec/pass_sum.h"
#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

void expect_equal_needs(const ClassCost& cost, const std::vector<exec::Operation>& operations,
                        bool counts_lanes = true) {
  exec::Needs sum;
  std::int64_t cycles = 0, lane_operations = 0, scalings = 0, commands = 0, dispatched = 0;
  for (const auto& o : operations) {
    sum += o.needs;
    cycles += o.cycles();
    lane_operations += o.lane_operations;
    scalings += o.scalings;
    commands += o.commands;
  }
  for (const TileCost& tile : cost.shapes) dispatched += tile.times * tile.micro_operations;
  EXPECT_EQ(dispatched, commands);
  if (cost.plan.nest && counts_lanes) {
    EXPECT_EQ(cost.lane_operations, lane_operations);
    EXPECT_EQ(cost.scalings, scalings);
  }
  EXPECT_EQ(cost.busy[Resource::compute], sum.compute);
  EXPECT_EQ(cost.busy[Resource::dsram_read], sum[exec::Port::dsram_read]);
  EXPECT_EQ(cost.busy[Resource::dsram_write], sum[exec::Port::dsram_write]);
  EXPECT_EQ(cost.busy[Resource::stackram_read], sum[exec::Port::stackram_read]);
  EXPECT_EQ(cost.busy[Resource::stackram_write], sum[exec::Port::stackram_write]);
  EXPECT_EQ(cost.busy[Resource::psram_read], sum[exec::Port::psram_read]);
  for (std::size_t pair = 0; pair < pair_families; ++pair)
    EXPECT_EQ(cost.busy.other_pairs.beats[pair], sum[exec::other_pair(static_cast<Family>(pair))])
        << "pair " << pair;
  std::int64_t without_transfers = 0;
  for (const TileCost& tile : cost.shapes) without_transfers += tile.cycles * tile.times;
  EXPECT_EQ(without_transfers, cycles);
  EXPECT_EQ(cost.operations, static_cast<std::int64_t>(operations.size()));
}

void expect_equal_pass(const PassCost& pass, const std::vector<InstructionCounts>& stepped) {
  const InstructionCounts sum = sum_of(stepped);
  EXPECT_EQ(pass.cycles, sum.end);
  EXPECT_EQ(pass.stall_weights, sum.stall_weights);
  EXPECT_EQ(pass.stall_activations, sum.stall_activations);
  EXPECT_EQ(pass.weight_bytes, sum.weight_bytes);
  EXPECT_EQ(pass.activation_in_bytes, sum.activation_in_bytes);
  EXPECT_EQ(pass.activation_out_bytes, sum.activation_out_bytes);
  EXPECT_EQ(pass.stall_program, sum.stall_program);
  EXPECT_EQ(pass.program_bytes, sum.program_bytes);
  EXPECT_EQ(pass.turns, sum.turns);
}

/// Every counter of a program, pass by pass, and two passes beyond the one whose state repeats.
void expect_equal(const Program& program, const Machine& given, Decimal share, std::int64_t cores,
                  std::int64_t passes, Role role = Role::network) {
  const Machine machine = machine_of_stage(given, role), its = machine_of_stage(given, role, cores);
  List<ClassCost> costs;
  for (const InstructionClass& c : program.classes) {
    costs.push_back(class_cost(c, its, role));
    const bool counts_lanes = c.compound != Compound::attention && c.spread_cores == 1;
    expect_equal_needs(costs.back(), exec::expand(c, its, role), counts_lanes);
  }
  std::vector<InstructionTime> trace;
  const TimelineRules rules = timeline_rules(machine, share, cores, program.pinned_bytes, role);
  const TimelineResult result = run_timeline(program, costs, rules, passes, &trace);
  const auto simulated = result.passes.size();
  const StepCounts run = step(program, machine, share, cores, simulated + (result.repeats ? 2 : 0), role);
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    SCOPED_TRACE("pass " + std::to_string(i));
    expect_equal_pass(result.passes[std::min(i, simulated - 1)], run.passes[i]);
  }
  const InstructionCounts last = sum_of(run.passes[simulated - 1]);
  const bool beside = machine.operator_dsram == OperatorDsram::per_operator;  // words are waited for before begin
  EXPECT_EQ(result.running_cycles, last.start + (beside ? last.stall_program : 0));
  EXPECT_EQ(result.waiting_cycles, last.waiting);
  for (std::size_t i = 0; i < trace.size(); ++i)
    EXPECT_TRUE(counted(trace[i], costs[static_cast<std::size_t>(program.instructions[i].instruction_class)]) ==
                run.passes[simulated - 1][i])
        << "instruction " << i;
  EXPECT_EQ(result.psram_peak_bytes, run.psram_peak_bytes);
}

/// What lies on a core's stack, moved through PSRAM's port beside weights, by one to five cores at once.
TEST(differential, random_programs_count_the_same_where_psram_holds_the_stacks) {
  std::int64_t stacked = 0, with_weights = 0, spread = 0;
  for (std::uint64_t seed = 4001; seed <= 5000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Machine machine = random_machine(dice);
    machine.activation_memory = ActivationMemory::separate;
    machine.memory_hierarchy = MemoryHierarchy::writable_psram;
    machine.dies = 1;
    const Program program = random_program(dice, machine);
    const std::int64_t cores = dice.between(1, 5);
    expect_equal(program, machine, Decimal{dice.between(1, 100)}, cores, 8);
    if (testing::Test::HasFailure()) return;
    for (const InstructionClass& c : program.classes) {
      const ClassCost cost = class_cost(c, machine_of_stage(machine, Role::network, cores));
      EXPECT_EQ(cost.busy[Resource::stackram_read] + cost.busy[Resource::stackram_write], 0);
      EXPECT_EQ(cost.busy.psram_stacks, cores * c.spread_cores * cost.busy.psram_stack);
      stacked += cost.busy.psram_stack > 0;
      with_weights += cost.busy.psram_stack > 0 && cost.busy.weight_beats() > 0;
      spread += cost.busy.psram_stack > 0 && c.spread_cores > 1;
    }
  }
  EXPECT_GT(stacked, 1000);
  EXPECT_GT(with_weights, 300);
  EXPECT_GT(spread, 50);
}

TEST(differential, random_pairs_stream_programs_split_tile_operations_and_give_the_host_work) {
  std::int64_t streamed = 0, waited = 0, split = 0, hosted = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Dice dice(seed);
    Machine machine = random_machine(dice);
    const Program program = random_program(dice, machine);
    const StepCounts run = step(program, machine, Decimal{50}, 1, 2);
    const InstructionCounts sum = sum_of(run.passes[1]);
    streamed += sum.program_bytes > 0;
    waited += sum.stall_program > 0;
    bool splits = false, hosts = false;
    for (const InstructionClass& c : program.classes)
      for (const auto& o : exec::expand(c, machine)) {
        splits |= o.commands > 1;
        hosts |= o.on_host;
      }
    split += splits;
    hosted += hosts;
  }
  EXPECT_GT(streamed, 100);
  EXPECT_GT(waited, 80);
  EXPECT_GT(split, 80);
  EXPECT_GT(hosted, 60);
}

TEST(differential, random_programs_on_random_machines_count_the_same_by_formula_and_by_stepping) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Machine machine = random_machine(dice);
    const Program program = random_program(dice, machine);
    expect_equal(program, machine, Decimal{dice.between(1, 100)}, dice.between(1, 5), 12);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(differential, random_programs_count_the_same_where_instructions_run_side_by_side) {
  for (std::uint64_t seed = 3001; seed <= 3600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Machine machine = random_machine(dice);
    machine.operator_dsram = OperatorDsram::per_operator;
    machine.activation_memory = ActivationMemory::separate;
    machine.granularity = Granularity::per_operator;
    const Program program = random_program(dice, machine);
    expect_equal(program, machine, Decimal{dice.between(1, 100)}, dice.between(1, 5), 12);
    if (testing::Test::HasFailure()) return;
  }
}

/// All operands of a nest through DRAM, byte by byte.
InstructionClass streamed(InstructionClass c) {
  c.operand_a = Place::dram;
  if (c.operand_b != Place::psram) c.operand_b = Place::dram;
  c.to_dsram = c.push = false;
  c.to_dram = true;
  c.fetches.clear();
  c.weight_elements = c.bias_elements_per_channel = 0;
  c.pinned = false;
  c.spread_cores = 1;
  return c;
}

TEST(differential, a_nest_moves_the_words_that_the_compiler_counts) {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.scale_granularity = ScaleGranularity::tensor;
  m.dram_burst_bytes = 1;
  std::int64_t nests = 0, with_partials = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Machine drawn = random_machine(dice);
    Program program;
    program.instructions.resize(1);
    for (const InstructionClass& c : random_program(dice, drawn).classes) {
      if (!is_nest(c.work.family) || c.compound != Compound::single || c.spread_cores > 1) continue;
      program.classes = {streamed(c)};
      program.classes[0].prologue_passes = program.classes[0].statistics_passes = 0;
      const Traffic moved = traffic({c.work.nest, c.operand_b == Place::psram}, c.mapping);
      const List<ClassCost> costs{class_cost(program.classes[0], m)};
      const PassCost pass = run_timeline(program, costs, timeline_rules(m, Decimal{100}, 1, Bytes(0)), 1).passes[0];
      const bool weighted = costs[0].weighted;
      ++nests;
      with_partials += moved.partials_read > 0;
      EXPECT_EQ(pass.activation_in_bytes, moved.a + (weighted ? 0 : moved.b) + 4 * moved.partials_read);
      EXPECT_EQ(pass.weight_bytes, weighted ? moved.b : 0);
      EXPECT_EQ(pass.activation_out_bytes, moved.out + 4 * moved.partials_written);
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(nests, 500);
  EXPECT_GT(with_partials, 50);
}

TEST(differential, random_attentions_on_random_machines_count_the_same_by_formula_and_by_stepping) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Machine machine = random_machine(dice);
    const Program program = random_attentions(dice, machine);
    expect_equal(program, machine, Decimal{dice.between(1, 100)}, dice.between(1, 5), 12);
    if (testing::Test::HasFailure()) return;
  }
}

void expect_equal_application(const Machine& machine) {
  const Application application = compile(tiny_sd(machine), machine);
  ASSERT_TRUE(application.feasible) << application.reason;
  for (const CompiledStage& stage : application.stages) {
    SCOPED_TRACE(stage.name);
    expect_equal(stage.program, machine, Decimal{100}, stage.role == Role::core ? machine.cores : 1, 5, stage.role);
  }
}

/// Streams the program through an IMEM of 1.5 times the longest instruction of all stages.
Machine streaming(Machine machine, const Application& application) {
  std::int64_t longest = 1;
  for (const CompiledStage& stage : application.stages)
    longest = std::max(longest, program_size(stage, machine).longest_bytes);
  machine.program_storage = ProgramStorage::streamed;
  machine.imem_bytes = longest + longest / 2;
  return machine;
}

TEST(differential, tiny_sd_counts_the_same_with_instructions_of_any_size_streamed) {
  for (const Granularity granularity :
       {Granularity::per_operator, Granularity::per_tile, Granularity::micro_operation}) {
    SCOPED_TRACE(static_cast<int>(granularity));
    Machine machine;
    machine.granularity = granularity;
    machine.host_operators = HostOperators::softmax_and_norm;
    machine.psram_bytes = 96 * 1024;
    machine.dsram_bytes = 32 * 1024;
    const Application application = compile(tiny_sd(machine), machine);
    ASSERT_TRUE(application.feasible) << application.reason;
    expect_equal_application(streaming(machine, application));
  }
}

TEST(differential, tiny_sd_counts_the_same_on_every_preset) {
  for (const Preset& preset : diffusion_presets()) {
    SCOPED_TRACE(std::string(preset.name));
    expect_equal_application(preset.machine);
    Machine fusing = preset.machine;
    fusing.fused_attention = FusedAttention::on;
    expect_equal_application(fusing);
    fusing.transposition = Transposition::static_transposition;
    expect_equal_application(fusing);
  }
}

bool draws_noise(const Program& program) {
  return std::ranges::any_of(program.instructions,
                             [](const Instruction& i) { return i.mnemonic.starts_with("rand"); });
}

TEST(differential, tiny_sd_counts_the_same_with_each_sampler) {
  for (const Sampler sampler : {Sampler::ddim, Sampler::ddpm, Sampler::euler}) {
    SCOPED_TRACE(static_cast<int>(sampler));
    Machine machine = find_preset("edge")->machine;
    machine.sampler = sampler;
    expect_equal_application(machine);
    const Application application = compile(tiny_sd(machine), machine);
    const auto core = std::ranges::find(application.stages, Role::core, &CompiledStage::role);
    ASSERT_NE(core, application.stages.end());
    EXPECT_EQ(draws_noise(core->program), sampler == Sampler::ddpm);
  }
}

Machine paired(Machine machine) {
  machine.operator_dsram = OperatorDsram::per_operator;
  machine.activation_memory = ActivationMemory::separate;
  machine.granularity = Granularity::per_operator;
  return machine;
}

TEST(differential, tiny_sd_counts_the_same_with_a_dsram_for_each_operator_on_every_preset) {
  for (const Preset& preset : diffusion_presets()) {
    SCOPED_TRACE(std::string(preset.name));
    Machine machine = paired(preset.machine);
    expect_equal_application(machine);
    machine.sequencer = Sequencer::distributed;
    machine.fused_attention = FusedAttention::on;
    machine.transposition = Transposition::static_transposition;
    expect_equal_application(machine);
    machine.fused_attention = FusedAttention::off;
    machine.host_operators = HostOperators::softmax_and_norm;
    machine.dsram_bytes = 32 * 1024;
    machine.psram_bytes = 96 * 1024;
    const Application application = compile(tiny_sd(machine), machine);
    ASSERT_TRUE(application.feasible) << application.reason;
    expect_equal_application(streaming(machine, application));
  }
}

TEST(differential, random_graphs_compiled_for_a_dsram_for_each_operator_count_the_same) {
  std::int64_t feasible = 0, marked = 0, other_pairs = 0, streamed = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphDice graph_dice(seed);
    Dice dice(seed);
    const Machine drawn = random_machine(dice);
    Workload workload;
    workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(random_graph(graph_dice)), {}});
    Machine machine = paired(random_compile_machine(graph_dice));
    machine.sequencer = drawn.sequencer;
    machine.mac_sharing = drawn.mac_sharing;
    machine.dispatch_cycles = drawn.dispatch_cycles;
    machine.host_command_cycles = drawn.host_command_cycles;
    machine.host_operators = drawn.host_operators;
    machine.host_bus_bits = drawn.host_bus_bits;
    machine.dsram_port_bits = drawn.dsram_port_bits;
    machine.imem_bytes = std::int64_t{1} << 20;
    const Application application = compile(workload, machine);
    if (!application.feasible) continue;
    ++feasible;
    const Program& program = application.stages[0].program;
    for (const Instruction& i : program.instructions) marked += !i.after.empty();
    for (const InstructionClass& c : program.classes) other_pairs += class_cost(c, machine).busy.other_pairs.any;
    const bool streams = dice.one_in(2);
    streamed += streams;
    expect_equal(program, streams ? streaming(machine, application) : machine, Decimal{100}, 1, 4);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(feasible, 150);
  EXPECT_GT(marked, 800);
  EXPECT_GT(other_pairs, 400);
  EXPECT_GT(streamed, 50);
}

constexpr Role roles[] = {Role::text_encoder, Role::encoder, Role::core, Role::decoder, Role::network};
constexpr HardCodedPart hard_coded_parts[] = {HardCodedPart::all, HardCodedPart::text_encoder, HardCodedPart::vae,
                                              HardCodedPart::core};

TEST(differential, random_programs_count_the_same_in_any_role_with_any_part_hard_coded) {
  for (std::uint64_t seed = 2001; seed <= 2200; ++seed) {
    Dice dice(seed);
    Machine machine = random_machine(dice);
    machine.weight_storage = WeightStorage::hard_coded;
    const Program program = random_program(dice, machine);
    machine.hard_coded_part = hard_coded_parts[seed % 4];
    const Role role = roles[seed % 5];
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_equal(program, machine, Decimal{100}, dice.between(1, 5), 8, role);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(differential, tiny_sd_counts_the_same_with_any_part_hard_coded) {
  for (const HardCodedPart part : hard_coded_parts) {
    SCOPED_TRACE(static_cast<int>(part));
    Machine machine;
    machine.weight_storage = WeightStorage::hard_coded;
    machine.hard_coded_part = part;
    machine.psram_bytes = 512 * 1024;  // what is not in ROM streams
    expect_equal_application(machine);
  }
}

/// Small memories, so that everything is tiled, spilled and waited for.
Machine cramped_machine(Dice& dice) {
  Machine m = random_machine(dice);
  m.psram_bytes = dice.between(4, 64) * 1024;
  m.dsram_bytes = dice.between(4, 64) * 1024;
  m.stackram_bytes = dice.between(0, 64) * 1024;
  if (m.weight_storage == WeightStorage::resident) m.psram_bytes = std::int64_t{1} << 30;
  if (dice.one_in(3)) m.psram_pinned_bytes = m.psram_bytes / 2;
  m.stack_discipline = dice.one_of({StackDiscipline::stack, StackDiscipline::allocator});
  m.skip_handling = dice.one_of({SkipHandling::hold, SkipHandling::spill});
  m.fusion = dice.one_of({Fusion::no_fusion, Fusion::pointwise, Fusion::norm});
  if (m.fusion == Fusion::norm && dice.one_in(2)) m.norm_statistics = NormStatistics::producer;
  m.strips = dice.one_of({Strips::off, Strips::halo_recompute, Strips::line_buffers});
  if (m.fusion == Fusion::norm && m.strips != Strips::off && dice.one_in(3))
    m.norm_statistics = NormStatistics::recompute;
  m.fused_attention = dice.one_of({FusedAttention::off, FusedAttention::on});
  m.split_products = dice.one_of({SplitProducts::off, SplitProducts::on});
  m.part_views = dice.one_of({PartViews::off, PartViews::on});
  m.fused_chains = dice.one_of({FusedChains::off, FusedChains::on});
  m.transposition = dice.one_of({Transposition::explicit_instruction, Transposition::static_transposition,
                                 Transposition::dynamic_transposition});
  m.guidance = dice.one_of({Guidance::off, Guidance::batch, Guidance::two_passes});
  m.sampler = dice.one_of({Sampler::ddim, Sampler::ddpm, Sampler::euler});
  m.cores = dice.between(1, 4);
  m.program_storage = ProgramStorage::held;  // or streamed, once its size is known
  return m;
}

TEST(differential, tiny_sd_s_unet_counts_the_same_on_cramped_random_machines) {
  std::int64_t feasible = 0;
  for (std::uint64_t seed = 1; seed <= 36; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Machine machine = cramped_machine(dice);
    if (seed > 24) machine = paired(machine);
    Workload workload;
    workload.stages.push_back(built_in_stage(Role::core, "tiny-sd-unet", machine));
    const Application application = compile(workload, machine);
    if (!application.feasible) continue;
    ++feasible;
    const Machine run = dice.one_in(2) ? machine : streaming(machine, application);
    expect_equal(application.stages[0].program, run, Decimal{100}, run.cores, 3);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(feasible, 8);
}

}  // namespace
}  // namespace sdip
