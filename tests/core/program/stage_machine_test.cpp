// The machine that a stage runs on, by its role.
#include <gtest/gtest.h>

#include "core/program/workload.h"

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
    m.vae_vector_lanes = 3;
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

TEST(stage_machine, of_a_circuit_has_the_lanes_that_are_its_own) {
  Machine m = with_circuits();
  m.vae_conv_lanes_in = 2, m.vae_conv_lanes_out = 3, m.vae_conv_lanes_pixel = 5;
  m.vae_matmul_lanes_m = 7, m.vae_matmul_lanes_n = 11, m.vae_matmul_lanes_k = 13;
  m.vae_vector_lanes = 17;
  const Machine its = machine_of_stage(m, Role::encoder);
  EXPECT_EQ(its.conv_lanes_in, 2);
  EXPECT_EQ(its.conv_lanes_out, 3);
  EXPECT_EQ(its.conv_lanes_pixel, 5);
  for (const std::int64_t lanes : {its.linear_lanes_m, its.matmul_lanes_m}) EXPECT_EQ(lanes, 7);
  for (const std::int64_t lanes : {its.linear_lanes_n, its.matmul_lanes_n}) EXPECT_EQ(lanes, 11);
  for (const std::int64_t lanes : {its.linear_lanes_k, its.matmul_lanes_k}) EXPECT_EQ(lanes, 13);
  for (const std::int64_t lanes : {its.vector_lanes, its.softmax_lanes, its.norm_lanes, its.transpose_lanes})
    EXPECT_EQ(lanes, 17);
}

TEST(stage_machine, is_the_given_one_itself_where_no_circuit_is_made) {
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
