// Narrow formats and pruned weights: the program computes the graph with the same losses written out.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "tests/core/exec/random_machine.h"
#include "tests/core/exec/written_out.h"

namespace sdip {
namespace {

TEST(random, lossy_programs_compute_their_graphs_with_the_losses_written_out) {
  const std::uint64_t pairs = pair_count(1000);
  std::uint64_t run = 0, changed = 0, equal = 0;
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 100000);
    MadeNetwork network = random_network(draw, draw.between(3, 20));
    network.graph.outputs.resize(1);
    Machine machine = random_machine(draw);
    draw_formats(draw, machine);
    machine.fused_attention = FusedAttention::off;  // whose bits differ before they are rounded
    Application application = compiled_on(machine, network, Role::network);
    if (!application.feasible) continue;
    if (draw.one_in(2)) draw_mappings(draw, application.stages[0], machine);
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const ActivationScales scales =
        activation_scales(*application.stages[0].graph, machine, network.inputs, stored);
    const MadeNetwork lossy = written_out(network, application.stages[0], machine, scales);
    const std::vector<Tensor> want =
        compute(lossy.graph, network.inputs, [&](const Value& v) { return lossy.stored(v); });
    const std::vector<Tensor> exact = compute(network.graph, network.inputs, stored);
    const sdip::Run got = execute(application.stages[0], machine, network.inputs, stored, scales);
    ++run;
    changed += want[0].floats != exact[0].floats ? 1U : 0U;
    equal += got.outputs[0].floats == want[0].floats ? 1U : 0U;
    EXPECT_LE(ulps_apart(got.outputs[0], want[0]), 64)
        << static_cast<int>(machine.weight_format) << " " << static_cast<int>(machine.activation_format) << "\n"
        << graph_text(application.stages[0]);
  }
  EXPECT_GT(run, pairs / 2);
  EXPECT_GT(changed, run * 3 / 4);
  EXPECT_EQ(equal, run);
}

}  // namespace
}  // namespace sdip
