// Parts and Concats that are read where their bytes lie: programs compute their graphs, and move what they are
// charged.
#include <gtest/gtest.h>

#include <iostream>

#include "core/exec/clock/charges.h"
#include "core/exec/clock/step.h"
#include "core/program/form/parse.h"
#include "tests/core/exec/clock/moved.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

/// Feature maps of whole words of 64 elements a channel: convolutions, norms, activations; channels that are cut
/// and joined, with what was made before, too.
class Maps {
 public:
  explicit Maps(Draw& draw) : draw_(draw), make_(draw) {
    made_.push_back(make_.input({draw.between(1, 2), 2 * draw.between(1, 3), 8, 8 * draw.between(1, 2)}));
  }

  MadeNetwork network() {
    for (std::int64_t i = draw_.between(3, 10); i > 0; --i) add(layer());
    return make_.finish({conv(draw_.of(made_), 2), conv(made_.back(), 2)}, false);
  }

 private:
  std::int64_t channels(ValueId v) const { return make_.shape(v)[1]; }
  void add(ValueId v) { made_.push_back(v); }

  ValueId conv(ValueId x, std::int64_t out) {
    const std::int64_t kernel = draw_.one_in(2) ? 3 : 1;
    return make_.node("Conv", {x, make_.weight({out, channels(x), kernel, kernel}, channels(x) * kernel * kernel)},
                      {{"pads", std::vector<std::int64_t>(4, kernel / 2)}});
  }
  ValueId norm(ValueId x) {
    const std::int64_t c = channels(x);
    const ValueId y =
        make_.nodes("sdip", "GroupNorm", {x, make_.weight({c}, 1), make_.weight({c}, 1)},
                    {{"num_groups", c % 2 == 0 ? std::int64_t{2} : std::int64_t{1}}, {"epsilon", 0.01}})[0];
    return draw_.one_in(2) ? make_.nodes("sdip", "Silu", {y})[0] : y;
  }
  ValueId cut(ValueId x) {
    const std::int64_t c = channels(x), at = draw_.between(1, std::max<std::int64_t>(1, c - 1));
    if (c < 2) return make_.node("Relu", {x});
    const std::int64_t how = draw_.between(0, 3);
    if (how == 0) return make_.node("Gather", {x, make_.ints({at})}, {{"axis", std::int64_t{1}}});
    if (how == 1) return make_.node("Slice", {x, make_.ints({at}), make_.ints({c}), make_.ints({1})});
    const auto parts = make_.nodes("", "Split", {x, make_.ints({at, c - at})}, {{"axis", std::int64_t{1}}}, 2);
    add(parts[0]);
    return parts[1];
  }
  ValueId joined(ValueId x) {
    std::vector<ValueId> parts{x};
    for (std::int64_t i = draw_.between(1, 2); i > 0; --i) {
      const ValueId other = draw_.of(made_);
      parts.insert(draw_.one_in(2) ? parts.begin() : parts.end(), other);
    }
    return make_.node("Concat", parts, {{"axis", std::int64_t{1}}});
  }
  ValueId layer() {
    const ValueId x = draw_.one_in(3) ? draw_.of(made_) : made_.back();
    switch (draw_.between(0, 6)) {
      case 0:
      case 1:
        return conv(x, draw_.between(1, 6));
      case 2:
        return norm(x);
      case 3:
        return make_.node("Relu", {x});
      case 4:
        return cut(x);
      default:
        return joined(x);
    }
  }

  Draw& draw_;
  NetworkMaker make_;
  std::vector<ValueId> made_;
};

struct DrawnMaps {
  MadeNetwork network;
  Machine machine;
  Application application;
};
std::optional<DrawnMaps> drawn_maps(std::uint64_t seed) {
  Draw draw(seed);
  DrawnMaps d{Maps(draw).network(), random_machine(draw), {}};
  d.machine.part_views = PartViews::on;
  d.machine.dsram_bytes = draw.between(200, 6000);
  d.machine.stackram_bytes = draw.between(0, 6000);
  d.application = compiled_on(d.machine, d.network, Role::network);
  return d.application.feasible ? std::optional(std::move(d)) : std::nullopt;
}

struct InPlace {
  std::int64_t parts = 0, joined = 0;
  void count(const Graph& graph) {
    for (const Node& node : graph.nodes)
      if (node.in_place) ++(node.op->type == "Concat" ? joined : parts);
  }
};

TEST(part_views, compute_their_graphs_and_come_back_from_their_texts) {
  InPlace seen;
  std::int64_t run = 0, equal = 0;
  for (std::uint64_t seed = 0; seed < pair_count(600); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::optional<DrawnMaps> d = drawn_maps(seed + 2'000'000);
    if (!d) continue;
    ++run;
    const CompiledStage& stage = d->application.stages[0];
    seen.count(*stage.graph);
    const auto stored = [&](const Value& v) { return d->network.stored(v); };
    const std::vector<Tensor> want = compute(d->network.graph, d->network.inputs, stored);
    const sdip::Run got = execute(stage, d->machine, d->network.inputs, stored);
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_LE(ulps_apart(got.outputs[i], want[i]), 64) << graph_text(stage);
      equal += got.outputs[i].floats == want[i].floats;
    }
    const std::string text = graph_text(stage);
    EXPECT_EQ(graph_text(parse_graph_text(text)), text);
  }
  std::cout << run << " programs, " << seen.parts << " cut and " << seen.joined << " joined in place, " << equal
            << " results equal bit for bit\n";
  EXPECT_GT(run, 300);
  EXPECT_GT(seen.parts, 100);
  EXPECT_GT(seen.joined, 100);
}

TEST(part_views, move_what_they_are_charged) {
  InPlace seen;
  for (std::uint64_t seed = 0; seed < pair_count(200); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::optional<DrawnMaps> d = drawn_maps(seed + 2'100'000);
    if (!d) continue;
    const CompiledStage& stage = d->application.stages[0];
    seen.count(*stage.graph);
    const auto moved = transfers_of(stage, d->machine, d->network);
    for (std::size_t i = 0; i < moved.size(); ++i)
      EXPECT_EQ(difference_of(stage, d->machine, i, moved[i]), "") << stage.program.instructions[i].mnemonic;
    if (moved.empty()) continue;
    const StepCounts charged = step(stage, d->machine, Decimal{100}, 1, 2);
    const StepCounts counted = step(stage, d->machine, Decimal{100}, 1, 2, moved);
    EXPECT_EQ(counted.passes, charged.passes);
  }
  EXPECT_GT(seen.parts, 30);
  EXPECT_GT(seen.joined, 30);
}

}  // namespace
}  // namespace sdip
