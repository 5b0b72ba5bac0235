// Small applications drawn from a seed.
#include "tests/core/cost/random_application.h"
#include "core/machine/dram.h"

#include <algorithm>

#include "core/machine/stage_rows.h"
#include "core/machine/technology.h"

namespace sdip {
namespace {

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

const ParameterRow& find_row(std::int64_t Machine::*field) {
  static const Machine standard;
  Machine changed;
  changed.*field = -1;
  return *std::ranges::find_if(parameters(),
                               [&](const ParameterRow& row) { return row.read(changed) != row.read(standard); });
}

}  // namespace

Machine random_frame_machine(Dice& dice) {
  Machine m = random_machine(dice);
  m.accumulator_format =
      dice.one_of({NumberFormat::fp32, NumberFormat::int32, NumberFormat::fp16, NumberFormat::int16});
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
  m.technology_node = dice.one_of({TechnologyNode::n7, TechnologyNode::n45, TechnologyNode::n5, TechnologyNode::n16,
                                   TechnologyNode::n28, TechnologyNode::n65});
  m.dram_kind = dram_kinds()[static_cast<std::size_t>(dice.between(0, std::ssize(dram_kinds()) - 1))].kind;
  m.dram_rate_mtps = std::min(m.dram_rate_mtps, dram_kinds()[static_cast<std::size_t>(m.dram_kind)].greatest_mtps);
  m.sram_banks = dice.between(1, 20);
  m.dsram_bytes = dice.between(1024, 1 << 22);
  m.stackram_bytes = dice.between(0, 1 << 22);
  m.sram_floor_plan_factor = Decimal{dice.between(100, 300)};
  m.mac_floor_plan_factor = Decimal{dice.between(100, 900)};
  m.fused_attention = dice.one_of({FusedAttention::off, FusedAttention::on});
  m.fusion = dice.one_of({Fusion::no_fusion, Fusion::pointwise, Fusion::norm});
  m.branches = dice.one_of({Branches::serial, Branches::parallel, Branches::channels});
  if (m.branches != Branches::serial) m.dies = 1;
  return m;
}

Application random_application(Dice& dice, const std::vector<Role>& roles, Machine& m) {
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
  if (m.program_storage == ProgramStorage::held) m.imem_bytes = std::int64_t{1} << 24;
  return application;
}

void set_hierarchy(std::uint64_t n, Machine& m) {
  constexpr MemoryHierarchy all[] = {MemoryHierarchy::private_memories, MemoryHierarchy::crossbar,
                                     MemoryHierarchy::writable_psram};
  m.memory_hierarchy = all[n % 3];
  m.dies = 1;
  const bool stack = m.activation_memory == ActivationMemory::separate;
  if (!stack && m.memory_hierarchy == MemoryHierarchy::writable_psram)
    m.memory_hierarchy = MemoryHierarchy::private_memories;
}

void set_dies(std::uint64_t n, Machine& m) {
  const bool can = m.memory_hierarchy == MemoryHierarchy::private_memories && m.branches == Branches::serial &&
                   m.core_weights == CoreWeights::common && !m.host_memory && !is_fpga(m.technology_node);
  m.dies = 1;
  if (!can || n % 4 == 0) return;
  m.dies = 1 + static_cast<std::int64_t>(n % 5);
  m.die_link_bits = 8 + static_cast<std::int64_t>(n * 37 % 300);
  m.die_link_cycles = 1 + static_cast<std::int64_t>(n * 13 % 50);
}

void set_circuits(std::uint64_t n, Machine& m) {
  if (n % 3 == 1) m.vae_stage = VaeStage::circuit;
  if (n % 3 == 2) set_own_rows(n / 3, m);
  if (n % 3 != 1) return;
  std::uint64_t lanes = n / 3;
  for (const OwnStage stage : {OwnStage::vae_encoder, OwnStage::vae_decoder})
    for (const StageRow& row : stage_rows(stage))
      if (find_row(row.own).unit == "lanes") m.*row.own = static_cast<std::int64_t>(lanes++ % 7);
}

void set_own_rows(std::uint64_t n, Machine& m) {
  for (const OwnStage stage : own_stages) {
    std::uint64_t value = n++;
    if (value % 4 == 3) continue;
    for (const StageRow& row : stage_rows(stage)) {
      const std::string_view unit = find_row(row.own).unit;
      const auto drawn = static_cast<std::int64_t>(++value % 7);
      if (row.cores == &Machine::psram_bytes)
        m.*row.own = drawn % 2 * (m.psram_bytes + 100 * drawn);
      else
        m.*row.own = unit == "lanes" ? drawn : unit == "bit" ? 8 * drawn : 300'000 * drawn;
    }
  }
  std::uint64_t pair = n;
  for (std::int64_t Machine::*bytes :
       {&Machine::conv2d_dsram_bytes, &Machine::linear_dsram_bytes, &Machine::matmul_dsram_bytes,
        &Machine::vector_dsram_bytes, &Machine::softmax_dsram_bytes, &Machine::norm_dsram_bytes,
        &Machine::transpose_dsram_bytes})
    m.*bytes = n % 2 == 0 ? 0 : 100'000 * static_cast<std::int64_t>(pair++ % 5);
}

std::vector<Role> application_roles(std::uint64_t n) {
  constexpr Role text = Role::text_encoder, encoder = Role::encoder, core = Role::core, decoder = Role::decoder,
                 network = Role::network;
  const std::vector<Role> kinds[application_kinds] = {{core},
                                                      {text, core, decoder},
                                                      {text, encoder, core, decoder},
                                                      {network},
                                                      {network, network},
                                                      {network, network, network},
                                                      {text},
                                                      {decoder},
                                                      {core, decoder}};
  return kinds[n % application_kinds];
}

}  // namespace sdip
