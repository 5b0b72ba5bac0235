// Do estimate and executor do what the diagrams drawn by hand in docs/model/diagrams.md show? A third witness of
// both.
#include "tests/core/cost/explain/diagrams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/cost/time/timeline.h"
#include "core/exec/clock/operations.h"
#include "core/exec/clock/step.h"

namespace sdip {
namespace {

std::vector<Diagram> drawn() {
  std::ifstream file(SDIP_SOURCE_DIR "/docs/model/diagrams.md");
  std::stringstream text;
  text << file.rdbuf();
  return diagrams_in(text.str());
}

std::int64_t count_of(const std::string& lane, char c) { return std::ranges::count(lane, c); }

/// What a lane of the DRAM shows of one instruction, in bytes; -1 when there is no such lane.
std::int64_t bytes_drawn(const Diagram& d, const std::string& lane, std::size_t instruction) {
  const bool any = std::ranges::any_of(d.lanes, [](const auto& one) {
    return one.first.size() == 1 && std::string("WAOP").find(one.first[0]) != std::string::npos;
  });
  if (!any) return -1;
  const auto found = d.lanes.find(lane);
  if (found == d.lanes.end()) return 0;
  return count_of(found->second, static_cast<char>('0' + instruction)) * d.dram_bytes_hundredths / 100;
}

/// What is drawn of an instruction; counts that are not drawn are those given.
InstructionCounts counts_drawn(const Diagram& d, std::size_t i, const InstructionCounts& given) {
  const std::string& lane = d.lanes.at("i" + std::to_string(i));
  InstructionCounts drawn = given;
  const auto issued = static_cast<std::int64_t>(lane.find_first_not_of(' '));
  drawn.waiting = count_of(lane, 'v');
  drawn.start = issued + drawn.waiting;
  drawn.end = static_cast<std::int64_t>(lane.size());
  drawn.stall_weights = count_of(lane, 'w');
  drawn.stall_activations = count_of(lane, 'a');
  drawn.stall_program = count_of(lane, 'p');
  if (bytes_drawn(d, "W", i) >= 0) {
    drawn.weight_bytes = bytes_drawn(d, "W", i);
    drawn.activation_in_bytes = bytes_drawn(d, "A", i);
    drawn.activation_out_bytes = bytes_drawn(d, "O", i);
    drawn.program_bytes = bytes_drawn(d, "P", i);
  }
  const auto beats = [&](const char* name, std::int64_t& count) {
    if (const auto found = d.lanes.find(name); found != d.lanes.end()) count = count_of(found->second, '#');
  };
  beats("compute", drawn.compute_cycles);
  beats("read", drawn.dsram_read_beats);
  beats("write", drawn.dsram_write_beats);
  beats("pop", drawn.stackram_read_beats);
  beats("push", drawn.stackram_write_beats);
  beats("weights", drawn.psram_read_beats);
  return drawn;
}

std::string text_of(const InstructionCounts& c) {
  std::ostringstream text;
  text << "start " << c.start << " end " << c.end << " stalls " << c.stall_weights << '/' << c.stall_activations
       << '/' << c.stall_program << " waiting " << c.waiting << " bytes " << c.weight_bytes << '/'
       << c.activation_in_bytes << '/' << c.activation_out_bytes << '/' << c.program_bytes << " compute "
       << c.compute_cycles << " beats " << c.dsram_read_beats << '/' << c.dsram_write_beats << '/'
       << c.stackram_read_beats << '/' << c.stackram_write_beats << '/' << c.psram_read_beats;
  return text.str();
}

/// How long each tile operation is drawn: runs of its digit, stalls between them apart.
std::vector<std::int64_t> operations_drawn(const std::string& lane) {
  std::vector<std::int64_t> cycles;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    if (lane[i] < '0' || lane[i] > '9') continue;
    if (i == 0 || lane[i] != lane[i - 1]) cycles.push_back(0);
    ++cycles.back();
  }
  return cycles;
}

TEST(diagrams, there_are_twenty_seven) { EXPECT_EQ(drawn().size(), 27U); }

TEST(diagrams, the_executor_does_what_is_drawn) {
  for (const Diagram& d : drawn()) {
    SCOPED_TRACE(d.title);
    const auto pass = static_cast<std::size_t>(d.pass);
    const StepCounts run = step(d.program, d.machine, Decimal{100}, d.cores, pass);
    for (std::size_t i = 0; i < d.program.instructions.size(); ++i) {
      const InstructionCounts& counted = run.passes[pass - 1][i];
      EXPECT_EQ(text_of(counted), text_of(counts_drawn(d, i, counted))) << "instruction " << i;
      if (d.machine.dma_port == DmaPort::shared) continue;  // operations last longer by what is moved for them
      std::vector<std::int64_t> cycles;
      for (const exec::Operation& o : exec::expand(d.program.classes[i], d.machine)) cycles.push_back(o.cycles());
      EXPECT_EQ(cycles, operations_drawn(d.lanes.at("i" + std::to_string(i)))) << "instruction " << i;
    }
  }
}

TEST(diagrams, the_estimate_says_what_is_drawn) {
  for (const Diagram& d : drawn()) {
    SCOPED_TRACE(d.title);
    List<ClassCost> costs;
    for (const InstructionClass& c : d.program.classes) costs.push_back(class_cost(c, d.machine));
    std::vector<InstructionTime> trace;
    run_timeline(d.program, costs, timeline_rules(d.machine, Decimal{100}, d.cores, Bytes(0)), d.pass, &trace);
    for (std::size_t i = 0; i < trace.size(); ++i) {
      const InstructionTime& t = trace[i];
      const Busy& busy = costs[i].busy;
      InstructionCounts said;
      said.start = t.start, said.end = t.end, said.waiting = t.waiting;
      said.stall_weights = t.stall_weights, said.stall_activations = t.stall_activations;
      said.stall_program = t.stall_program;
      said.weight_bytes = t.weight_bytes, said.program_bytes = t.program_bytes;
      said.activation_in_bytes = t.activation_in_bytes, said.activation_out_bytes = t.activation_out_bytes;
      said.compute_cycles = busy[Resource::compute], said.psram_read_beats = busy[Resource::psram_read];
      said.dsram_read_beats = busy.all_dsram_reads(), said.dsram_write_beats = busy[Resource::dsram_write];
      said.stackram_read_beats = busy[Resource::stackram_read],
      said.stackram_write_beats = busy[Resource::stackram_write];
      EXPECT_EQ(text_of(said), text_of(counts_drawn(d, i, said))) << "instruction " << i;
      std::int64_t drawn_cycles = 0;
      for (const std::int64_t cycles : operations_drawn(d.lanes.at("i" + std::to_string(i))))
        drawn_cycles += cycles;
      EXPECT_EQ(costs[i].cycles, drawn_cycles) << "instruction " << i;
    }
  }
}

}  // namespace
}  // namespace sdip
