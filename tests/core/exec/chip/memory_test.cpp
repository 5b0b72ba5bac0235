// The shadow of a memory: what may be read, and what a failure says.
#include "core/exec/chip/memory.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/core/exec/random_graph.h"

namespace sdip::exec {
namespace {

using testing::HasSubstr;

/// A graph of values named value0, value1, ...; only their names count here.
Graph named(std::size_t count) {
  Graph graph;
  for (std::size_t v = 0; v < count; ++v) graph.values.emplace_back().name = "v" + std::to_string(v);
  return graph;
}

Tensor numbers(std::vector<double> floats) {
  return {ElementType::float32, {std::ssize(floats)}, {}, std::move(floats)};
}

std::string failure(const Memory& memory, ValueId v, std::int64_t address, std::vector<std::int64_t> at) {
  try {
    read(memory, {{v, Place::dsram}, address, named(9), "instruction 7 'add'"}, at);
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "execution_failed");
    return error.what();
  }
  return "";
}

/// A value of 16-bit elements.
Layout halves(std::int64_t count) { return {NumberFormat::fp16, ElementType::float32, count}; }

TEST(memory, holds_what_was_written_where_it_was_written) {
  Memory memory{"DSRAM0", 8};
  open_region(memory, {3, Place::dsram}, 4, halves(2), "test");
  write(memory, {3, Place::dsram}, std::vector<std::int64_t>{1, 0}, numbers({5, 6}));
  EXPECT_EQ(read(memory, {{3, Place::dsram}, 4, named(9), "test"}, Elements::first(2)).floats,
            (std::vector<double>{6, 5}));
}

TEST(memory, an_element_whose_bytes_another_value_took_is_told_with_instruction_and_address) {
  Memory memory{"DSRAM0", 8};
  open_region(memory, {3, Place::dsram}, 4, halves(2), "test");
  write(memory, {3, Place::dsram}, std::vector<std::int64_t>{0, 1}, numbers({6, 5}));
  open_region(memory, {5, Place::dsram}, 6, halves(1), "test");
  EXPECT_EQ(failure(memory, 3, 4, {1}), "");  // nothing is written there yet
  write(memory, {5, Place::dsram}, std::vector<std::int64_t>{0}, numbers({1}));
  EXPECT_EQ(failure(memory, 3, 4, {0}), "");
  EXPECT_EQ(failure(memory, 3, 4, {1}),
            "instruction 7 'add' reads element 1 of 'v3' in DSRAM0 at address 6: it was overwritten by 'v5'");
}

TEST(memory, an_element_that_was_never_written_is_told) {
  Memory memory{"DSRAM0", 8};
  open_region(memory, {3, Place::dsram}, 0, halves(2), "test");
  write(memory, {3, Place::dsram}, std::vector<std::int64_t>{0}, numbers({6}));
  EXPECT_THAT(failure(memory, 3, 0, {1}), HasSubstr("address 2: it was never written"));
  EXPECT_THAT(failure(memory, 4, 0, {0}), HasSubstr("it was never there"));
}

TEST(memory, a_value_that_lies_elsewhere_is_told) {
  Memory memory{"DSRAM0", 8};
  open_region(memory, {3, Place::dsram}, 4, halves(1), "test");
  write(memory, {3, Place::dsram}, std::vector<std::int64_t>{0}, numbers({6}));
  EXPECT_THAT(failure(memory, 3, 2, {0}), HasSubstr("it lies at address 4"));
}

TEST(memory, a_value_fits_at_capacity_and_not_one_byte_beyond) {
  Memory memory{"STACKRAM", 8};
  EXPECT_NO_THROW(open_region(memory, {1, Place::dsram}, 4, halves(2), "x"));
  EXPECT_THROW(open_region(memory, {1, Place::dsram}, 5, halves(2), "x"), Error);
  EXPECT_THROW(open_region(memory, {1, Place::dsram}, -1, halves(2), "x"), Error);
}

TEST(memory, four_bit_elements_share_bytes) {
  Memory memory{"DRAM", 2};
  open_region(memory, {1, Place::dsram}, 0, {NumberFormat::int4, ElementType::float32, 3}, "x");
  write(memory, {1, Place::dsram}, std::vector<std::int64_t>{0, 1, 2}, numbers({1, 2, 3}));
  open_region(memory, {2, Place::dsram}, 1, {NumberFormat::int4, ElementType::float32, 2}, "x");
  write(memory, {2, Place::dsram}, std::vector<std::int64_t>{1}, numbers({9}));
  EXPECT_EQ(failure(memory, 1, 0, {0, 1, 2}), "");  // 2's second is the nibble behind 1's third
  write(memory, {2, Place::dsram}, std::vector<std::int64_t>{0}, numbers({9}));
  EXPECT_THAT(failure(memory, 1, 0, {2}), HasSubstr("overwritten by 'v2'"));
}

}  // namespace
}  // namespace sdip::exec
