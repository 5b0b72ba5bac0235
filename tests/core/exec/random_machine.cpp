// Random machines whose memories are too small for what they run.
#include "tests/core/exec/random_machine.h"

#include <algorithm>

namespace sdip {

Machine random_machine(Draw& draw) {
  Machine m;
  m.weight_format = m.activation_format = m.accumulator_format = NumberFormat::fp32;
  if (draw.one_in(2)) m.accumulator_format = NumberFormat::int32;  // exact sums
  m.dsram_bytes = draw.between(100, 1500);
  m.stackram_bytes = draw.one_in(3) ? 0 : draw.between(0, 6000);
  m.psram_bytes = draw.between(200, 4000);
  const auto either = [&](auto a, auto b) { return draw.one_in(2) ? a : b; };
  m.weight_buffering = either(Buffering::single_buffer, Buffering::double_buffer);
  m.tile_buffering = either(Buffering::single_buffer, Buffering::double_buffer);
  m.activation_memory = either(ActivationMemory::separate, ActivationMemory::unified);
  m.stack_discipline = either(StackDiscipline::stack, StackDiscipline::allocator);
  m.fusion = draw.one_in(3) ? Fusion::norm : either(Fusion::no_fusion, Fusion::pointwise);
  if (m.fusion == Fusion::norm) m.norm_statistics = either(NormStatistics::own_pass, NormStatistics::producer);
  m.transposition = draw.one_in(3)
                        ? Transposition::static_transposition
                        : either(Transposition::explicit_instruction, Transposition::dynamic_transposition);
  m.skip_handling = draw.one_in(4) ? SkipHandling::spill : SkipHandling::hold;
  if (draw.one_in(6)) m.skip_handling = SkipHandling::recompute;
  m.fused_attention = either(FusedAttention::off, FusedAttention::on);
  m.schedule = either(ScheduleOrder::given, ScheduleOrder::least_live);
  m.branches = static_cast<Branches>(draw.between(0, 2));
  if (draw.one_in(6)) m.weight_storage = WeightStorage::hard_coded;
  if (m.psram_bytes % 5 == 0) m.in_memory_weights = InMemoryWeights::fefet;  // of floats: their order of sums, too
  if (draw.one_in(3)) m.strips = either(Strips::halo_recompute, Strips::line_buffers);
  if (m.fusion == Fusion::norm && m.strips != Strips::off && draw.one_in(2))
    m.norm_statistics = NormStatistics::recompute;
  if (m.activation_memory == ActivationMemory::separate && m.dsram_bytes % 2 == 0)
    m.operator_dsram = OperatorDsram::per_operator;
  if (m.dsram_bytes % 3 == 1) {
    m.conv2d_dsram_bytes = m.psram_bytes % 2 * m.dsram_bytes * 2;
    m.linear_dsram_bytes = m.psram_bytes % 4 / 2 * m.dsram_bytes;
    m.vector_dsram_bytes = m.psram_bytes % 7 % 2 * (m.dsram_bytes + m.psram_bytes);
    m.norm_dsram_bytes = m.psram_bytes % 5 % 2 * (m.dsram_bytes / 2 + m.psram_bytes);
    m.transpose_dsram_bytes = m.psram_bytes % 3 % 2 * (m.dsram_bytes * 2 / 3 + 100);
  }
  if (m.activation_memory == ActivationMemory::separate && m.psram_bytes % 3 == 0)
    m.memory_hierarchy = MemoryHierarchy::writable_psram;
  if (m.psram_bytes % 2 == 0) {
    m.accumulator_folds = 1 + m.psram_bytes % 7;
    m.weight_registers = 1 + m.dsram_bytes % 4;
  }
  m.attention_parts = 1 + m.dsram_bytes % 3;
  if (m.dsram_bytes % 5 < 2) m.split_products = SplitProducts::on;
  if (m.dsram_bytes % 7 < 4) m.part_views = PartViews::on;
  if (m.psram_bytes % 5 < 2) m.fused_chains = FusedChains::on;
  const bool on_dies = m.memory_hierarchy == MemoryHierarchy::private_memories && m.branches == Branches::serial;
  if (on_dies && m.dsram_bytes % 3 == 0) {
    m.dies = 2 + m.psram_bytes % 3;
    m.die_link_bits = 8 + m.dsram_bytes % 300;
    m.die_link_cycles = 1 + m.psram_bytes % 20;
  }
  return m;
}

void draw_formats(Draw& draw, Machine& m) {
  using enum NumberFormat;
  const std::vector<NumberFormat> formats{fp32, fp16, bf16, fp8_e4m3, fp8_e5m2, int16,
                                          int8, int4, q7_8, uint8,    uint4};  // unsigned ones have a zero point
  m.weight_format = draw.of(formats);
  m.activation_format = draw.of(formats);
  m.accumulator_format = int32;
  if (m.activation_format == int16 || m.activation_format == q7_8)
    m.accumulator_format = q15_16;  // exact, too: 32 bits of sums of two 16-bit codes would wrap
  m.scale_granularity = draw.one_in(2) ? ScaleGranularity::tensor : ScaleGranularity::channel;
  if (!draw.one_in(3)) return;
  m.sparsity = draw.one_in(2) ? Sparsity::skipping : Sparsity::gating;
  m.weight_density = Decimal{draw.between(10, 100)};
  if (draw.one_in(2)) m.sparsity_group = draw.between(2, 9);
}

Application compiled_on(Machine& machine, const MadeNetwork& network, Role role) {
  Workload workload;
  workload.stages.push_back({role, "net", std::make_shared<const Graph>(network.graph), {}});
  Application application = compile(workload, machine);
  for (int i = 0; i < 6 && !application.feasible; ++i) {  // the least that one tile needs
    machine.dsram_bytes *= 2;
    for (std::int64_t Machine::*row :
         {&Machine::conv2d_dsram_bytes, &Machine::linear_dsram_bytes, &Machine::vector_dsram_bytes,
          &Machine::norm_dsram_bytes, &Machine::transpose_dsram_bytes})
      machine.*row *= 2;
    machine.psram_bytes *= 2;
    application = compile(workload, machine);
  }
  return application;
}

std::vector<std::int32_t> random_order(Draw& draw, const Program& program) {
  std::vector<std::int32_t> order, left;
  std::vector<char> retired(program.instructions.size(), 0);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) left.push_back(static_cast<std::int32_t>(i));
  const bool last_first = draw.one_in(3);  // as far from the program's order as the marks let it
  while (!left.empty()) {
    std::vector<std::size_t> ready;
    for (std::size_t k = 0; k < left.size(); ++k)
      if (std::ranges::all_of(program.instructions[static_cast<std::size_t>(left[k])].after,
                              [&](std::int32_t j) { return retired[static_cast<std::size_t>(j)] != 0; }))
        ready.push_back(k);
    const auto last = static_cast<std::int64_t>(ready.size()) - 1;
    const std::size_t next = ready.at(static_cast<std::size_t>(last_first ? last : draw.between(0, last)));
    order.push_back(left[next]);
    retired[static_cast<std::size_t>(left[next])] = 1;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return order;
}

namespace {

void draw_mapping(Draw& draw, InstructionClass& c) {
  const LoopNest& n = c.work.nest;
  const bool weighted = c.operand_b == Place::psram;
  const auto part = [&](std::int64_t size) { return draw.one_in(3) ? size : draw.between(1, size); };
  if (c.work.family == Family::softmax || c.work.family == Family::norm) {
    const bool chunks = draw.one_in(2);
    c.mapping.tile_rows = chunks ? 1 : part(c.work.rows);
    c.mapping.tile_channels = chunks ? part(c.work.row_length) : c.work.row_length;
    return;
  }
  c.mapping.tile_rows = part(n.out_h);
  c.mapping.tile_columns = part(n.out_w);
  c.mapping.tile_channels =
      weighted && draw.one_in(2) ? n.out_channels * draw.between(1, n.groups) : part(n.out_channels);
  c.mapping.tile_sums = part(n.in_channels);
  for (std::size_t i = 4; i-- > 1;)
    std::swap(c.mapping.order[i],
              c.mapping.order[static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(i)))]);
}

}  // namespace

void draw_mappings(Draw& draw, CompiledStage& stage, Machine& machine) {
  std::vector<char> drawn(stage.program.classes.size(), 0);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    InstructionClass& c = stage.program.classes[i];
    const Family family = c.work.family;
    const bool nest = family == Family::conv2d || family == Family::linear || family == Family::matmul;
    const bool passes = (family == Family::softmax || family == Family::norm) && c.compound == Compound::single;
    if (!nest && !passes) continue;
    draw_mapping(draw, c);
    drawn[i] = nest && c.compound == Compound::single;
  }
  const bool unified = machine.activation_memory == ActivationMemory::unified;
  const std::int64_t dsram = unified ? machine.dsram_bytes : largest_dsram_bytes(machine);
  const std::int64_t end = (unified ? 2 : 1) * dsram + (unified ? machine.stackram_bytes : 0);
  std::int64_t more = 0;
  for (Instruction& instruction : stage.program.instructions) {
    const auto number = static_cast<std::size_t>(instruction.instruction_class);
    if (drawn[number] == 0) continue;
    const std::int64_t bytes = 4 * stage.program.classes[number].out_elements;
    instruction.write_tiles = {Bytes(end), Bytes(bytes)};
    more = std::max(more, bytes);
  }
  machine = without_own_pairs(machine);
  machine.dsram_bytes = dsram + more;
}

CompiledStage stage_of_node(const MadeNetwork& network, const Machine& m, std::int64_t address) {
  CompiledStage stage;
  stage.graph = std::make_shared<const Graph>(network.graph);
  Instruction& instruction = stage.program.instructions.emplace_back();
  InstructionClass& c = stage.program.classes.emplace_back();
  c.work = work_of(network.graph, network.graph.nodes[0]);
  c.operand_a = c.operand_b = Place::dram;
  c.to_dsram = false;
  c.to_dram = true;
  instruction.name = network.graph.nodes[0].name;
  instruction.mnemonic = "test";
  instruction.nodes = {0};
  for (const ValueId v : network.graph.inputs) {
    instruction.sources.push_back({Place::dram, v, false, Bytes(address), {}});
    address += bits_of(m.activation_format) / 8 *
               element_count(network.graph.values[static_cast<std::size_t>(v)].operand.shape);
  }
  instruction.dram_address = Bytes(address);
  for (std::size_t v = 0; v < network.graph.values.size(); ++v)
    if (network.graph.values[v].bytes) instruction.weights.push_back(static_cast<ValueId>(v));
  if (!instruction.weights.empty()) c.operand_b = Place::psram;
  instruction.destination = network.graph.outputs[0];
  return stage;
}

double ulps_apart(const Tensor& got, const Tensor& want) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < want.floats.size(); ++i) {
    largest = std::max(largest, std::fabs(want.floats[i]));
    apart = std::max(apart, std::fabs(got.floats[i] - want.floats[i]));
  }
  return largest == 0 ? apart : apart / std::ldexp(largest, -23);
}

}  // namespace sdip
