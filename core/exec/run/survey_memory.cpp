// How much memory an execution takes, told beforehand.
//
// Example: two values of 300,000 bytes at addresses 0 and 300,000 of DRAM touch pages 0 to 2 of 262,144 bytes:
// 786,432 bytes.
#include <algorithm>
#include <map>
#include <set>

#include "core/base/units.h"
#include "core/exec/chip/execute.h"
#include "core/exec/chip/memory.h"
#include "core/program/kinds.h"
#include "core/program/program.h"

namespace sdip {
namespace {

using namespace exec;

constexpr std::int64_t page_bytes = 1 << 18;  // what is counted as taken when a byte of it is

/// Pages of each kind of memory; both sides of DSRAM may hold what lies at an address of it.
struct Pages {
  std::map<Place, std::set<std::int64_t>> touched{};
  std::int64_t sides = 2;

  void touch(Place place, std::int64_t address, std::int64_t bytes) {
    for (std::int64_t page = address / page_bytes; bytes > 0 && page <= (address + bytes - 1) / page_bytes; ++page)
      touched[place].insert(page);
  }
  std::int64_t bytes() const {
    std::int64_t all = 0;
    for (const auto& [place, pages] : touched)
      all += std::ssize(pages) * page_bytes * (place == Place::dsram ? sides : 1);
    return all;
  }
};

/// Elements of the largest tile of a nest: both operands, its sums, and its results in pieces of float and double.
std::int64_t tile_bytes(const InstructionClass& c, std::int64_t copies_at_once) {
  const LoopNest& n = c.work.nest;
  const Mapping& m = c.mapping;
  const auto rows = std::min(m.tile_rows, n.out_h), columns = std::min(m.tile_columns, n.out_w);
  const std::int64_t channels = std::min(m.tile_channels, n.groups * n.out_channels);
  const std::int64_t sums = std::min(m.tile_sums, n.in_channels);
  const auto reach = [](std::int64_t count, std::int64_t stride, std::int64_t dilation, std::int64_t kernel,
                        std::int64_t size) {
    return std::min(size, (count - 1) * stride + (kernel - 1) * dilation + 1);
  };
  const std::int64_t window = reach(rows, n.stride_h, n.dilation_h, n.kernel_h, n.in_h) *
                              reach(columns, n.stride_w, n.dilation_w, n.kernel_w, n.in_w);
  const std::int64_t groups = std::max<std::int64_t>(1, channels / n.out_channels);
  const std::int64_t a = sums * window * groups, b = sums * channels * n.kernel_h * n.kernel_w;
  return copies_at_once * (4 * (a + b) + (4 + 4 + 8) * rows * columns * channels);
}

std::int64_t tiles_of(const InstructionClass& c, std::int64_t results) {
  if (!is_nest(c.work.family)) {
    const std::int64_t rows = std::max<std::int64_t>(1, std::min(c.mapping.tile_rows, c.work.rows));
    return std::min(results, rows * std::min(c.mapping.tile_channels, c.work.row_length)) * (4 + 8);
  }
  const LoopNest& n = c.work.nest;
  const bool weighted = c.operand_b == Place::psram;
  const bool whole = c.mapping.tile_rows >= n.out_h && c.mapping.tile_columns >= n.out_w &&
                     (weighted || c.mapping.tile_channels >= n.out_channels);
  return tile_bytes(c, whole ? n.batch * (weighted ? 1 : n.groups) : 1);
}

}  // namespace

ExecutionMemory execution_memory(const CompiledStage& stage, const Machine& machine) {
  const Graph& graph = *stage.graph;
  ExecutionMemory memory;
  Pages pages{{}, is_unified(machine) ? 1 : has_pairs(machine) ? 2 * static_cast<std::int64_t>(pair_families) : 2};
  const auto bytes_of = [&](ValueId v) { return value_bytes(graph.values[v], machine); };
  std::map<std::int64_t, std::pair<std::int64_t, std::size_t>> regions;  // of weights: bytes, last use
  std::map<std::int64_t, std::size_t> first_use;
  for (std::size_t i = 0; i < stage.program.instructions.size(); ++i) {
    const Instruction& instruction = stage.program.instructions[i];
    const InstructionClass& c = stage.program.classes[instruction.instruction_class];
    for (const PlacedOperand& source : instruction.sources)
      if (source.place != Place::scalar) pages.touch(source.place, source.address.value, bytes_of(source.value));
    for (const Destination& to : destinations_of(instruction, c, machine))
      pages.touch(to.place, to.address, bytes_of(instruction.destination));
    for (const MemorySpan* span : {&instruction.read_tiles, &instruction.write_tiles})
      pages.touch(Place::dsram, span->address.value, span->bytes.value);
    const std::int64_t results = element_count(graph.values[instruction.destination].operand.shape);
    memory.tiles_bytes = std::max(memory.tiles_bytes, tiles_of(c, results));
    std::int64_t held = 0;  // a double each while it is made, and its code
    for (const ValueId v : instruction.weights) held += element_count(graph.values[v].operand.shape) * (8 + 8 + 4);
    auto& region = regions[instruction.weight_offset.value];
    region = {std::max(region.first, held), i};
    first_use.try_emplace(instruction.weight_offset.value, i);
  }
  for (std::size_t i = 0; i < stage.program.instructions.size(); ++i) {
    std::int64_t held = 0;
    for (const auto& [offset, region] : regions)
      if (first_use.at(offset) <= i && i <= region.second) held += region.first;
    memory.weights_bytes = std::max(memory.weights_bytes, held);
  }
  memory.memories_bytes = pages.bytes();
  return memory;
}

}  // namespace sdip
