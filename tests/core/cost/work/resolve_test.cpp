// What options make of a machine for a class, by hand.
#include "core/cost/work/resolve.h"

#include <gtest/gtest.h>

namespace sdip {
namespace {

/// The worked example of resolve.h.
TEST(resolve, splits_macs_and_keeps_groups_whole) {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.linear_lanes_k = 24;
  InstructionClass c;
  c.work.family = Family::linear;
  c.operand_b = Place::psram;
  c.formats = {NumberFormat::int4, NumberFormat::int8, NumberFormat::int8};
  EXPECT_EQ(resolve(c, m).form.bits, 4);
  EXPECT_EQ(resolve(c, m).arrays[Family::linear].sum, 24);
  m.composable_macs = ComposableMacs::on;
  EXPECT_EQ(resolve(c, m).arrays[Family::linear].sum, 48);
  m.scale_granularity = ScaleGranularity::group_32;
  EXPECT_EQ(resolve(c, m).arrays[Family::linear].sum, 32);
}

TEST(resolve, has_ports_of_what_holds_the_stack) {
  Machine m;
  m.dsram_port_bits = 16, m.stackram_port_bits = 24, m.psram_port_bits = 32;
  const auto stack_bits = [&] { return resolve(InstructionClass(), m).read_bits(Place::stackram); };
  EXPECT_EQ(stack_bits(), 24);
  m.memory_hierarchy = MemoryHierarchy::writable_psram;
  EXPECT_EQ(stack_bits(), 32);
  m.memory_hierarchy = MemoryHierarchy::private_memories;
  m.activation_memory = ActivationMemory::unified;
  EXPECT_EQ(stack_bits(), 16);
}

TEST(resolve, counts_cores_that_share_a_class_and_leaves_the_host_no_part_of_a_compound) {
  Machine m;
  m.cores = 3;
  m.host_operators = HostOperators::softmax;
  InstructionClass c;
  c.spread_cores = 4;
  EXPECT_EQ(resolve(c, m).cores, 12);
  EXPECT_EQ(resolve(c, m).host_operators, HostOperators::softmax);
  c.compound = Compound::attention;
  EXPECT_EQ(resolve(c, m).host_operators, HostOperators::no_operators);
}

}  // namespace
}  // namespace sdip
