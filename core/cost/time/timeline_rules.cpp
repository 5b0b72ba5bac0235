// The input and the output of a timeline: the channel's and memories' rules, sums of passes, and whether they fit
// 64 bits.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/cost/time/timeline.h"
#include "core/cost/work/micro_operations.h"
#include "core/machine/dies.h"
#include "core/machine/dram.h"

namespace sdip {

namespace {

constexpr std::int64_t PassCost::*counts[] = {
    &PassCost::cycles,       &PassCost::stall_weights,       &PassCost::stall_activations,
    &PassCost::weight_bytes, &PassCost::activation_in_bytes, &PassCost::activation_out_bytes,
    &PassCost::turns,        &PassCost::weight_psram_bytes,  &PassCost::stall_program,
    &PassCost::program_bytes};
static_assert(sizeof(PassCost) == std::size(counts) * sizeof(std::int64_t), "all counts are listed");

}  // namespace

PassCost& PassCost::operator+=(const PassCost& other) {
  for (const auto count : counts) this->*count += other.*count;
  return *this;
}

PassCost operator*(const PassCost& a, std::int64_t times) {
  PassCost product = a;
  for (const auto count : counts) product.*count *= times;
  return product;
}

TimelineRules timeline_rules(const Machine& m, Decimal share, std::int64_t active_cores, Bytes pinned, Role role,
                             std::int64_t thousandths) {
  TimelineRules rules;
  rules.rate = dram_rate(m, share, thousandths);
  rules.burst_bytes = dram_channels(m).access_bytes;
  rules.decompressor_bytes = m.weight_compression.hundredths > 100 ? m.decompressor_bytes_per_cycle : 0;
  if (!weights_in_place(m, role)) rules.psram_bytes = m.psram_bytes - m.psram_pinned_bytes;
  rules.pinned_bytes = pinned.value;
  rules.weights_double_buffered = m.weight_buffering == Buffering::double_buffer;
  rules.tiles_double_buffered = m.tile_buffering == Buffering::double_buffer;
  rules.dispatch_cycles = m.dispatch_cycles + (m.sequencer == Sequencer::host ? m.host_command_cycles : 0);
  rules.dispatch_overlaps = m.sequencer == Sequencer::distributed;
  if (m.sequencer != Sequencer::host) rules.host_command_cycles = m.host_command_cycles;
  rules.dispatches_tiles = m.granularity != Granularity::per_operator;
  rules.overlaps = has_pairs(m);
  rules.granularity = m.granularity;
  if (m.program_storage == ProgramStorage::streamed) rules.imem_bytes = m.imem_bytes;
  rules.pipeline_stages = m.pipeline_stages;
  rules.cores = active_cores;
  if (m.dies > 1) {
    rules.channel_cores = cores_on_channels(die_line(m), active_cores);
    rules.gathered_bits = m.die_link_bits;
  }
  return rules;
}

ClassUses class_uses(const Program& program) {
  ClassUses uses{std::vector<std::int64_t>(program.classes.size(), 0)};
  const ClassCost unneeded;
  for (const Instruction& instruction : program.instructions) {
    ++uses.of[at(instruction.instruction_class)];
    uses.words_bytes += static_cast<double>(instruction_bytes(instruction, unneeded, Granularity::per_operator));
  }
  return uses;
}

double longest_pass(const Program& program, const ClassUses& uses, const List<ClassCost>& costs,
                    const TimelineRules& rules) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const double cycles_a_byte = real(rules.rate.q) / real(rules.rate.p);
  const double waited = real(rules.rate.latency_cycles) + real(rules.rate.turn_cycles);  // for a transfer
  const auto moved = [&](std::int64_t bytes, double copies) {
    return bytes == 0 ? 0.0 : (real(bytes) + real(rules.burst_bytes)) * copies * (cycles_a_byte + 1) + waited;
  };
  const auto issue = [&](const ClassCost& cost, const TileCost& tile) {
    return real(rules.dispatch_cycles) * real(tile.micro_operations) + real(rules.pipeline_stages) +
           (cost.on_host ? real(rules.host_command_cycles) : 0);
  };
  double sum = 0;
  for (std::size_t c = 0; c < costs.size(); ++c) {
    const ClassCost& cost = costs[c];
    const double cores = real(rules.on_channel()) * real(cost.cores);
    double window = 0, operations = 0;
    for (const WindowBytes& bytes : cost.windows) window = std::max(window, moved(bytes.all, cores));
    for (const TileCost& tile : cost.shapes)
      operations += real(tile.times) * ((rules.dispatches_tiles ? issue(cost, tile) : 0) + window +
                                        moved(tile.weight_bytes, real(cost.weight_parts)) +
                                        moved(tile.b_bytes, cores) + moved(tile.split_in_bytes, cores) +
                                        moved(tile.partial_in_bytes, cores) + moved(tile.out_bytes, cores));
    sum += real(uses.of[c]) * (operations + moved(cost.held_weight_bytes, 1) + real(cost.cycles) +
                               issue(cost, cost.shapes[0]) + real(cost.link_in_cycles + cost.link_out_cycles));
  }
  if (rules.imem_bytes > 0)
    for (const Instruction& instruction : program.instructions) {
      const ClassCost& cost = costs[instruction.instruction_class];
      sum += moved(instruction_bytes(instruction, cost, rules.granularity), 1);
    }
  sum += 8 * real((program.latent_bytes + program.context_bytes).value);  // over a link of a bit a cycle at least
  return sum;
}

bool countable(const Program& program, const List<ClassCost>& costs, const TimelineRules& rules,
               std::int64_t passes) {
  return std::ilogb(longest_pass(program, class_uses(program), costs, rules) * static_cast<double>(passes)) < 58;
}

}  // namespace sdip
