// Do small networks that others draw validate: every counter, every layer, and the whole program's tensors?
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "core/explore/validate/validate.h"
#include "core/explore/validate/validate_tensors.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

/// What a lossless machine computes beside the graph.
std::string results_apart(const Application& application, const Machine& machine, const MadeNetwork& network) {
  const bool lossless = machine.activation_format == NumberFormat::fp32 &&
                        machine.weight_format == NumberFormat::fp32 && machine.sparsity == Sparsity::dense &&
                        machine.low_rank == LowRank::off;
  if (!lossless || application.stages.size() > 1) return "";
  const StoredTensors stored = [&](const Value& v) { return network.stored(v); };
  const std::vector<Tensor> want = compute(network.graph, network.inputs, stored);
  std::vector<Tensor> got;
  try {
    got = execute(application.stages[0], machine, network.inputs, stored).outputs;
  } catch (const Error& error) {
    if (error.code == "not_modelled") return "";  // skipping of weights that no rule tells apart
    throw;
  }
  std::string text;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (const double apart = ulps_apart(got.at(i), want[i]); !(apart <= 64))
      text += "output " + std::to_string(i) + " is " + std::to_string(apart) + " ulps apart\n";
  return text;
}

/// What differs, of a network as a user's file; "" when nothing does. Nothing of one that does not fit.
std::optional<std::string> difference_on(const Machine& machine, const MadeNetwork& network,
                                         Role role = Role::network) {
  Workload workload;
  workload.stages.push_back({role, "net", std::make_shared<const Graph>(network.graph), {}});
  const Application application = compile(workload, machine);
  if (!application.feasible) return std::nullopt;
  const StoredTensors stored = [&](const Value& v) { return network.stored(v); };
  std::string text;
  for (const StageCounters& stage : validate_counters(application, machine)) {
    if (!stage.failure.empty()) text += stage.stage + ": " + stage.failure + "\n";
    if (stage.first)
      text += stage.stage + ": pass " + std::to_string(stage.first->pass) + " " + stage.first->layer + " " +
              stage.first->counter + ": " + std::to_string(stage.first->values.estimated) + " estimated, " +
              std::to_string(stage.first->values.executed) + " executed\n";
  }
  for (const CompiledStage& stage : application.stages)
    for (const LayerTensors& layer : validate_tensors(stage, machine, stored).layers) {
      if (!layer.failure.empty()) text += stage.name + ": " + layer.layer + ": " + layer.failure + "\n";
      if (layer.result.differing > 0 && !layer.overflows)
        text += stage.name + ": " + layer.layer + " " + layer.mnemonic + ": element " +
                std::to_string(layer.result.first->element) + " is " +
                std::to_string(layer.result.first->executed) + ", expected " +
                std::to_string(layer.result.first->expected) + "\n";
    }
  return text + results_apart(application, machine, network);
}

void expect_valid_everywhere(const MadeNetwork& network) {
  int feasible = 0;
  for (const Preset& preset : presets())
    for (int dataflow = 0; dataflow < 3; ++dataflow) {
      SCOPED_TRACE(std::string(preset.name) + " dataflow " + std::to_string(dataflow));
      Machine machine = preset.machine;
      machine.dataflow = static_cast<Dataflow>(dataflow);
      try {
        const auto difference = difference_on(machine, network);
        if (!difference) continue;
        ++feasible;
        EXPECT_EQ(*difference, "");
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  EXPECT_GT(feasible, 6);
}

using Ints = std::vector<std::int64_t>;

TEST(made_whole, a_turned_value_beside_a_constant_that_broadcasts_both_ways_is_read_where_it_stands) {
  Draw draw(1);
  NetworkMaker make(draw);
  const ValueId x = make.node("Relu", {make.input({2, 3})});
  const ValueId turned = make.node("Transpose", {x}, {{"perm", Ints{1, 0}}});
  const ValueId row = make.node("Reshape", {turned, make.ints({1, 6})});
  expect_valid_everywhere(make.finish({make.node("Add", {row, make.weight({5, 1})})}, false));
}

struct Layer {
  const char* type;
  std::int64_t gates;
};

/// A layer of two sequences of three steps, of whose outputs those of the bits of `used` are read. `given`: lengths
/// and states: none; constants; inputs, batch first.
enum class Given { none, constants, inputs };
MadeNetwork recurrent_network(const Layer& layer, const char* direction, unsigned used, Given given) {
  Draw draw(7);
  NetworkMaker make(draw);
  const bool lstm = layer.gates == 4, batch_first = given == Given::inputs;
  const std::int64_t d = direction[0] == 'b' ? 2 : 1, hidden = 8, inputs = 5, rows = layer.gates * hidden;
  const ValueId x = make.input(batch_first ? Shape{2, 3, inputs} : Shape{3, 2, inputs});
  std::vector<ValueId> operands{x, make.weight({d, rows, inputs}, inputs), make.weight({d, rows, hidden}, hidden),
                                make.weight({d, 2 * rows}, 4)};
  const Shape state = batch_first ? Shape{2, d, hidden} : Shape{d, 2, hidden};
  if (given != Given::none) operands.push_back(make.ints({3, 2}));
  for (int i = 0; i < (lstm ? 2 : 1) && given != Given::none; ++i)
    operands.push_back(given == Given::constants ? make.weight(state) : make.input(state));
  const auto outputs = make.nodes(
      "", layer.type, operands,
      {{"direction", std::string(direction)}, {"hidden_size", hidden}, {"layout", std::int64_t{batch_first}}},
      lstm ? 3 : 2);
  std::vector<ValueId> ends;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if ((used >> i & 1U) != 0) ends.push_back(make.node("Relu", {outputs[i]}));
  return make.finish(ends, false);
}

TEST(made_whole, recurrent_layers_count_their_weights_once_and_all_their_outputs_may_be_used) {
  for (const Layer layer : {Layer{"RNN", 1}, Layer{"GRU", 3}, Layer{"LSTM", 4}})
    for (const char* direction : {"forward", "reverse", "bidirectional"})
      for (unsigned used = 1; used < (layer.gates == 4 ? 8U : 4U); ++used)
        for (const Given given : {Given::none, Given::constants, Given::inputs}) {
          SCOPED_TRACE(std::string(layer.type) + " " + direction + " used " + std::to_string(used));
          expect_valid_everywhere(recurrent_network(layer, direction, used, given));
        }
}

TEST(made_whole, weights_of_a_recurrent_layer_are_as_many_as_its_products_have_and_the_bias_comes_with_them) {
  const MadeNetwork network = recurrent_network({"LSTM", 4}, "bidirectional", 1, Given::none);
  Workload workload;
  workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(network.graph), {}});
  const Application application = compile(workload, Machine());
  const InstructionClass& c = application.stages.at(0).program.classes.at(0);
  EXPECT_EQ(c.weight_elements_per_channel, 5 + 8);
  EXPECT_EQ(c.bias_elements_per_channel, 2);
  const std::int64_t elements = 2 * 4 * 8 * (5 + 8 + 2);
  EXPECT_EQ(application.stages[0].program.weight_bytes, Bytes(2 * elements)) << "fp16";
}

TEST(made_whole, pipelines_with_residuals) {
  Draw draw(1);
  NetworkMaker make(draw);
  const ValueId x = make.input({4, 8});
  ValueId y = make.node("Relu", {x});
  const ValueId kept = y;
  y = make.node("Neg", {y});
  y = make.node("Exp", {y});
  y = make.node("Add", {y, kept});
  const MadeNetwork network = make.finish({y}, false);
  for (int cores = 1; cores < 6; ++cores) {
    SCOPED_TRACE(cores);
    Machine machine;
    machine.cores = cores;
    machine.core_weights = CoreWeights::per_core;
    EXPECT_EQ(difference_on(machine, network).value_or("infeasible"), "");
  }
}

TEST(made_whole, a_number_that_a_part_in_series_multiplies_by_is_in_a_register) {
  Draw draw(1);
  NetworkMaker make(draw);
  const ValueId x = make.node("Relu", {make.input({1, 1})});
  const MadeNetwork network = make.finish({make.node("MatMul", {x, make.weight({1, 8})})}, false);
  Machine machine;
  machine.cores = 2;
  machine.core_weights = CoreWeights::per_core;
  EXPECT_EQ(difference_on(machine, network).value_or("infeasible"), "");
}

TEST(made_whole, a_context_that_the_first_instruction_alone_reads_waits_where_it_is_read) {
  Draw draw(1);
  NetworkMaker make(draw);
  const ValueId latent = make.input({1, 4, 2, 2}), context = make.input({1, 4, 2, 2});
  const MadeNetwork network = make.finish({make.node("Relu", {make.node("Add", {latent, context})})}, false);
  for (const ActivationMemory memory : {ActivationMemory::separate, ActivationMemory::unified}) {
    Machine machine;
    machine.activation_memory = memory;
    EXPECT_EQ(difference_on(machine, network, Role::core).value_or("infeasible"), "");
  }
}

/// Some of the options drawn, those that may stand together.
void draw_options(Draw& draw, Machine& machine) {
  for (const ParameterRow& row : parameters()) {
    if (row.type != ParameterType::choice || !draw.one_in(6)) continue;
    const std::int64_t before = row.read(machine), value = draw.between(0, std::ssize(row.choices) - 1);
    row.write(machine, value);
    try {
      check_machine(machine);
    } catch (const Error&) {
      row.write(machine, before);
    }
  }
}

/// A machine of any kind; now and then a pipeline.
Machine foreign_machine(Draw& draw) {
  Machine machine = random_machine(draw);
  if (draw.one_in(3)) machine = draw.of(std::vector<Preset>(presets().begin(), presets().end())).machine;
  machine.dataflow = static_cast<Dataflow>(draw.between(0, 2));
  if (machine.dataflow == Dataflow::input_stationary) machine.accumulator_folds = machine.weight_registers = 0;
  if (draw.one_in(3)) {
    machine.cores = draw.between(2, 6);
    machine.core_weights = CoreWeights::per_core;
    machine.branches = Branches::serial;
    machine.memory_hierarchy = MemoryHierarchy::private_memories;
  }
  if (draw.one_in(2)) draw_options(draw, machine);
  return machine;
}

TEST(made_whole, networks_of_strangers_validate_on_random_machines) {
  std::int64_t compared = 0, pipelines = 0;
  for (std::uint64_t seed = 0; seed < pair_count(300); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 31000);
    const MadeNetwork network = random_foreign_network(draw, draw.between(2, 12));
    Machine machine = foreign_machine(draw);
    for (int i = 0; i < 8; ++i, machine.dsram_bytes *= 2, machine.psram_bytes *= 2) {
      std::optional<std::string> difference;
      try {
        difference = difference_on(machine, network);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
        break;
      }
      if (!difference) continue;
      EXPECT_EQ(*difference, "");
      ++compared;
      pipelines += machine.core_weights == CoreWeights::per_core;
      break;
    }
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(pipelines, 40);
}

}  // namespace
}  // namespace sdip
