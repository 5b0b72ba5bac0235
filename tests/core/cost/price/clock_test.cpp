// Which circuit or memory is the slowest that is built, and how fast it may be clocked.
#include "core/cost/price/clock.h"

#include <gtest/gtest.h>

namespace sdip {
namespace {

Application of_one_core_stage() {
  Application application;
  application.stages.emplace_back().role = Role::core;
  return application;
}

Machine with_slow_memories() {
  Machine m;
  m.cores = 1;
  m.dsram_bytes = m.stackram_bytes = 1 << 10;
  return m;
}

TEST(slowest_circuit, is_a_memory_by_the_bytes_of_its_fullest_bank) {
  Machine m = with_slow_memories();
  m.sram_banks = 3;
  for (const std::int64_t bytes : {std::int64_t{3} << 30, (std::int64_t{3} << 30) + 1}) {
    m.psram_bytes = bytes;
    const SlowestCircuit slowest = slowest_circuit(of_one_core_stage(), widest_formats(m), m);
    EXPECT_EQ(slowest.name, "psram");
    EXPECT_EQ(slowest.mhz, sram_clock_limit_mhz(process_of(m), Bytes((bytes + 2) / 3)));
  }
}

/// PSRAM then holds nothing else.
TEST(slowest_circuit, of_a_stack_in_psram_is_psram) {
  Machine m = with_slow_memories();
  m.memory_hierarchy = MemoryHierarchy::writable_psram;
  m.in_memory_weights = InMemoryWeights::fefet;
  m.stackram_bytes = std::int64_t{1} << 34;
  const SlowestCircuit slowest = slowest_circuit(of_one_core_stage(), widest_formats(m), m);
  EXPECT_EQ(slowest.name, "psram");
  EXPECT_EQ(slowest.mhz, sram_clock_limit_mhz(process_of(m), Bytes(ceil_div(m.stackram_bytes, m.sram_banks))));
}

}  // namespace
}  // namespace sdip
