// The machine that a stage runs on, by its role.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/machine/stage_rows.h"
#include "core/program/program.h"

namespace sdip {
namespace {

constexpr Role roles[] = {Role::text_encoder, Role::encoder, Role::core, Role::decoder, Role::network};

Machine with_circuits() {
  Machine m;
  m.vae_stage = VaeStage::circuit;
  m.sequencer = Sequencer::host;
  m.host_operators = HostOperators::softmax_and_norm;
  m.program_storage = ProgramStorage::streamed;
  return m;
}

TEST(stage_machine, is_another_for_encoder_and_decoder_as_circuits_alone) {
  for (const VaeStage where : {VaeStage::core, VaeStage::off_chip}) {
    Machine m = with_circuits();
    m.vae_stage = where;
    for (const Role role : roles) {
      EXPECT_FALSE(is_circuit(m, role));
      EXPECT_EQ(machine_of_stage(m, role), m);
    }
  }
  for (const Role role : {Role::text_encoder, Role::core, Role::network})
    EXPECT_EQ(machine_of_stage(with_circuits(), role), with_circuits());
  EXPECT_TRUE(is_circuit(with_circuits(), Role::encoder));
  EXPECT_TRUE(is_circuit(with_circuits(), Role::decoder));
}

TEST(stage_machine, of_a_circuit_is_issued_for_nothing_and_leaves_nothing_to_a_host) {
  const Machine its = machine_of_stage(with_circuits(), Role::decoder);
  EXPECT_EQ(its.sequencer, Sequencer::central);
  EXPECT_EQ(its.dispatch_cycles, 0);
  EXPECT_EQ(its.host_operators, HostOperators::no_operators);
  EXPECT_EQ(its.program_storage, ProgramStorage::held);
  EXPECT_EQ(machine_of_stage(its, Role::decoder), its) << "of itself";
  EXPECT_EQ(its.conv_lanes_in, Machine().conv_lanes_in) << "lanes as the cores have";
  EXPECT_EQ(its.norm_lanes, Machine().norm_lanes);
}

Role role_of_own(OwnStage stage) {
  return stage == OwnStage::text_encoder  ? Role::text_encoder
         : stage == OwnStage::vae_encoder ? Role::encoder
                                          : Role::decoder;
}

/// A row of a stage has the name of the cores' row in whose place it stands, with the stage's before it; all rows
/// of its group are in the list.
TEST(stage_machine, has_each_row_of_its_own_in_place_of_the_cores) {
  for (const OwnStage stage : own_stages) {
    const std::string before = std::string(own_stage_text(stage)) + "_";
    std::size_t found = 0;
    for (const ParameterRow& row : parameters()) {
      if (row.group != own_stage_text(stage)) continue;
      ++found;
      ASSERT_TRUE(row.name.starts_with(before)) << row.name;
      const ParameterRow* cores = find_parameter(row.name.substr(before.size()));
      ASSERT_NE(cores, nullptr) << row.name;
      Machine m;
      const std::int64_t value = 8 * 64;
      row.write(m, value);
      for (const Role role : roles) {
        const bool its = role == role_of_own(stage);
        EXPECT_EQ(is_own_block(m, role), its) << row.name << " " << role_text(role);
        Machine expected;
        if (its) cores->write(expected, value);
        if (its && stage == OwnStage::text_encoder) expected.cores = 1;
        EXPECT_EQ(machine_of_stage(m, role), expected) << row.name << " " << role_text(role);
      }
      const Machine its = machine_of_stage(m, role_of_own(stage));
      EXPECT_EQ(machine_of_stage(its, role_of_own(stage)), its) << "of itself";
    }
    EXPECT_EQ(found, stage_rows(stage).size());
  }
}

TEST(stage_machine, of_a_vae_off_chip_has_no_rows_of_its_own) {
  Machine m;
  m.vae_stage = VaeStage::off_chip;
  m.vae_encoder_dsram_bytes = m.vae_decoder_dsram_bytes = m.text_encoder_dsram_bytes = 4096;
  for (const Role role : {Role::encoder, Role::decoder}) {
    EXPECT_FALSE(has_own_rows(m, role));
    EXPECT_EQ(machine_of_stage(m, role).dsram_bytes, m.dsram_bytes);
  }
  EXPECT_EQ(machine_of_stage(m, Role::text_encoder).dsram_bytes, 4096);
}

/// What a program is found by says what each stage's program is found by, whatever rows make of its machine.
TEST(stage_machine, has_a_key_that_follows_from_that_of_the_whole_machine) {
  std::mt19937_64 draws(1);
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(draws() % static_cast<std::uint64_t>(end));
  };
  const auto other_value = [&](const ParameterRow& row) {
    if (below(3) == 0) return row.least;
    return std::min(row.most, row.least + below(row.choices.empty() ? 2 * row.standard + 64 : row.most + 1));
  };
  std::int64_t compared = 0;
  for (int i = 0; i < 2000; ++i) {
    Machine m;
    for (const ParameterRow& row : parameters())
      if (below(4) == 0) row.write(m, other_value(row));
    for (const ParameterRow& row : parameters()) {
      if (changes_program(row) || below(4) != 0) continue;
      Machine other = m;
      row.write(other, other_value(row));
      if (compile_key(other) != compile_key(m)) continue;
      ++compared;
      for (const Role role : roles)
        ASSERT_EQ(compile_key(machine_of_stage(other, role)), compile_key(machine_of_stage(m, role)))
            << row.name << " " << row.read(m) << " -> " << row.read(other) << ", " << role_text(role);
    }
  }
  EXPECT_GT(compared, 10'000);
}

/// Programs are kept by the key of the stage's own machine: rows of others are none of it.
TEST(stage_machine, has_a_key_that_other_stages_rows_do_not_touch) {
  const Machine plain;
  Machine m;
  m.vae_decoder_dsram_bytes = 4096;
  for (const Role role : {Role::text_encoder, Role::encoder, Role::core, Role::network})
    EXPECT_EQ(compile_key(machine_of_stage(m, role)), compile_key(plain)) << role_text(role);
  Machine decoders = plain;
  decoders.dsram_bytes = 4096;
  EXPECT_EQ(compile_key(machine_of_stage(m, Role::decoder)), compile_key(decoders));
  EXPECT_NE(compile_key(m), compile_key(plain));
}

TEST(stage_machine, says_whose_psram_a_stage_runs_from) {
  Machine m;
  m.text_encoder_vector_lanes = m.vae_decoder_vector_lanes = 3;
  EXPECT_FALSE(has_own_psram(m, Role::text_encoder)) << "the cores', which rest";
  for (const Role role : {Role::encoder, Role::decoder}) EXPECT_TRUE(has_own_psram(m, role));
  for (const Role role : {Role::core, Role::network}) EXPECT_FALSE(has_own_psram(m, role));
  m.memory_hierarchy = MemoryHierarchy::writable_psram;
  EXPECT_TRUE(has_own_psram(m, Role::text_encoder)) << "for its stack";
  m.memory_hierarchy = MemoryHierarchy::private_memories;
  m.text_encoder_psram_port_bits = 64;
  EXPECT_TRUE(has_own_psram(m, Role::text_encoder));
  EXPECT_TRUE(follows_psram_bytes(m, Role::text_encoder)) << "of the cores' size";
  m.text_encoder_psram_bytes = 4096;
  EXPECT_FALSE(follows_psram_bytes(m, Role::text_encoder));
  EXPECT_TRUE(follows_psram_bytes(m, Role::core));
}

TEST(stage_machine, with_a_dsram_size_of_its_own_has_no_sizes_of_operators) {
  Machine m;
  m.operator_dsram = OperatorDsram::per_operator;
  m.conv2d_dsram_bytes = 1 << 16;
  EXPECT_EQ(dsram_bytes_of(m, Family::conv2d), 1 << 16);
  EXPECT_EQ(dsram_bytes_of(m, Family::softmax), m.dsram_bytes);
  EXPECT_EQ(largest_dsram_bytes(m), m.dsram_bytes);
  EXPECT_TRUE(has_own_pairs(m));
  m.vae_decoder_vector_lanes = 8;
  EXPECT_EQ(dsram_bytes_of(machine_of_stage(m, Role::decoder), Family::conv2d), 1 << 16);
  m.vae_decoder_dsram_bytes = 4096;
  const Machine its = machine_of_stage(m, Role::decoder);
  EXPECT_EQ(dsram_bytes_of(its, Family::conv2d), 4096);
  EXPECT_FALSE(has_own_pairs(its));
  m.operator_dsram = OperatorDsram::common;
  EXPECT_EQ(dsram_bytes_of(m, Family::conv2d), m.dsram_bytes) << "one for all";
}

TEST(stage_machine, is_the_given_one_itself_where_no_block_is_made) {
  const Machine m = with_circuits();
  const StageMachine core(m, Role::core), decoder(m, Role::decoder);
  EXPECT_EQ(&*core, &m) << "not a copy";
  EXPECT_NE(&*decoder, &m);
  EXPECT_EQ(*decoder, machine_of_stage(m, Role::decoder));
  const StageMachine copied = decoder;
  EXPECT_EQ(*copied, *decoder);
}

}  // namespace
}  // namespace sdip
