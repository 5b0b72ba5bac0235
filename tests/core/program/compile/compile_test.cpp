// What becomes of a graph: instructions, fusions, views, and graphs that are odd.
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/graph/rewrite/passes.h"
#include "core/program/compile/passes.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST(lower, views_make_no_instruction_and_a_transpose_makes_one_unless_it_is_dynamic) {
  onnx::ModelProto model = model_of_x({2, 12});
  add_node(model, "Relu", {"x"}, "a");
  add_ints(model, "shape", {2, 3, 4});
  add_node(model, "Reshape", {"a", "shape"}, "b");
  set_ints(add_node(model, "Transpose", {"b"}, "c"), "perm", {0, 2, 1});
  add_node(model, "Relu", {"c"}, "y");
  add_output(model, "y");
  Machine m;
  EXPECT_THAT(mnemonics(compiled(model, m)), ElementsAre("relu", "transpose", "relu"));
  m.transposition = Transposition::dynamic_transposition;
  const Application dynamic = compiled(model, m);
  EXPECT_THAT(mnemonics(dynamic), ElementsAre("relu", "relu"));
  EXPECT_THAT(sources_at(dynamic, 1), ElementsAre(Place::dsram));
}

TEST(lower, a_split_is_one_copy_for_each_output_that_someone_uses) {
  onnx::ModelProto model = model_of_x({1, 12});
  add_node(model, "Relu", {"x"}, "a");
  add_ints(model, "sizes", {4, 4, 4});
  auto& split = add_node(model, "Split", {"a", "sizes"}, "b");
  set_int(split, "axis", 1);
  split.add_output("c");
  split.add_output("unused");
  add_node(model, "Add", {"b", "c"}, "y");
  add_output(model, "y");
  const Application application = compiled(model, Machine{});
  const auto names = mnemonics(application);
  ASSERT_GE(names.size(), 4U);
  EXPECT_EQ(names.front(), "relu");
  EXPECT_EQ(names.back(), "add");
  EXPECT_EQ(class_at(application, 1).out_elements, 4);
  EXPECT_EQ(class_at(application, 1).fetches.at(0).elements, 4);
}

/// conv2d, sigmoid-like activation, and a residual of x's own size added.
onnx::ModelProto residual_model() {
  onnx::ModelProto model = model_of_x({1, 8, 6, 6});
  add_weight(model, "w", {8, 8, 1, 1});
  add_node(model, "Relu", {"x"}, "a");
  add_node(model, "Conv", {"a", "w"}, "b");
  add_node(model, "Tanh", {"b"}, "c");
  add_node(model, "Add", {"c", "a"}, "y");
  add_output(model, "y");
  return model;
}

TEST(lower, an_instruction_lists_each_weight_that_it_reads_once) {
  onnx::ModelProto model = model_of_x({1, 8, 6, 6});
  add_weight(model, "w", {8, 8, 1, 1});
  add_weight(model, "bias", {8});
  add_node(model, "Conv", {"x", "w", "bias"}, "y");
  add_output(model, "y");
  const Graph graph = import_model(model);
  const Application application = compiled(graph, Machine{});
  std::vector<std::string> names;
  for (const std::int32_t v : application.stages.at(0).program.instructions.at(0).weights)
    names.push_back(graph.values.at(static_cast<std::size_t>(v)).name);
  EXPECT_THAT(names, ElementsAre("w", "bias"));
}

TEST(fusion, joins_pointwise_operators_to_the_one_before_and_fetches_their_other_operands) {
  Machine m;
  EXPECT_THAT(mnemonics(compiled(residual_model(), m)), ElementsAre("relu", "conv2d", "tanh", "add"));
  m.fusion = Fusion::pointwise;
  const Application fused = compiled(residual_model(), m);
  EXPECT_THAT(mnemonics(fused), ElementsAre("relu", "conv2d+tanh+add"));
  EXPECT_EQ(class_at(fused, 1).fused_operators, 2);
  EXPECT_EQ(class_at(fused, 1).fused_passes, 1);
  ASSERT_EQ(class_at(fused, 1).fetches.size(), 1U);
  EXPECT_TRUE(class_at(fused, 1).fetches[0].per_fold);
}

TEST(fusion, leaves_a_result_alone_that_another_operator_or_the_output_uses) {
  onnx::ModelProto model = model_of_x({1, 8});
  add_node(model, "Relu", {"x"}, "a");
  add_node(model, "Tanh", {"a"}, "b");
  add_node(model, "Add", {"b", "a"}, "y");
  add_output(model, "y");
  add_output(model, "b");
  Machine m;
  m.fusion = Fusion::pointwise;
  EXPECT_THAT(mnemonics(compiled(model, m)), ElementsAre("relu", "tanh", "add"));
}

TEST(place, an_input_of_a_network_comes_from_dram_and_its_result_goes_there) {
  onnx::ModelProto model = model_of_x({1, 64});
  add_node(model, "Relu", {"x"}, "y");
  add_output(model, "y");
  const Application network = compiled(model, Machine{});
  EXPECT_THAT(sources_at(network, 0), ElementsAre(Place::dram));
  EXPECT_TRUE(class_at(network, 0).to_dram);
  EXPECT_EQ(network.stages[0].program.input_bytes, Bytes(128));
  EXPECT_EQ(network.stages[0].program.output_bytes, Bytes(128));
  const Application core = compiled(model, Machine{}, Role::core);
  EXPECT_THAT(sources_at(core, 0), ElementsAre(Place::stackram)) << "a context: x has no picture's rank";
  EXPECT_FALSE(class_at(core, 0).to_dram);
  EXPECT_EQ(core.stages[0].program.latent_bytes, Bytes(128));
  EXPECT_EQ(core.stages[0].program.input_bytes, Bytes(0));
}

TEST(place, a_core_s_context_lies_on_stackram_and_travels_with_its_frame) {
  onnx::ModelProto model = model_of_x({1, 4, 2, 2});
  add_input(model, "tau", {1, 4, 4});
  add_input(model, "t", {1});
  add_ints(model, "flat", {1, 4, 4});
  add_node(model, "Mul", {"x", "t"}, "a");
  add_node(model, "Reshape", {"a", "flat"}, "b");
  add_node(model, "Add", {"b", "tau"}, "y");
  add_output(model, "y");
  const Application core = compiled(model, Machine{}, Role::core);
  EXPECT_THAT(sources_at(core, 1), ElementsAre(Place::dsram, Place::stackram));
  EXPECT_EQ(core.stages[0].program.context_bytes, Bytes(32));
  EXPECT_EQ(core.stages[0].program.latent_bytes, Bytes(32));
}

TEST(place, a_context_stays_for_the_next_step_and_is_never_popped) {
  onnx::ModelProto model = model_of_x({1, 4, 4});
  add_input(model, "tau", {1, 4, 4});
  add_node(model, "Add", {"x", "tau"}, "a");
  add_node(model, "Relu", {"a"}, "y");
  add_output(model, "y");
  const Application core = compiled(model, Machine{}, Role::core);
  EXPECT_THAT(sources_at(core, 0), ElementsAre(Place::dsram, Place::stackram)) << "read where it waits";
  for (const Instruction& i : core.stages[0].program.instructions) EXPECT_EQ(i.stackram, Bytes(32));
}

TEST(place, two_inputs_that_are_whole_at_the_start_share_dsram_or_one_leaves) {
  onnx::ModelProto model = model_of_x({1, 64, 64});
  add_input(model, "tau", {1, 64, 64});
  add_node(model, "Add", {"x", "tau"}, "y");
  add_output(model, "y");
  Machine m;
  m.dsram_bytes = 2 * 8192;
  EXPECT_THAT(sources_at(compiled(model, m, Role::decoder), 0), ElementsAre(Place::dsram, Place::dsram));
  --m.dsram_bytes;
  const Application application = compiled(model, m, Role::decoder);
  ASSERT_TRUE(application.feasible) << application.reason;
  EXPECT_THAT(sources_at(application, 0), UnorderedElementsAre(Place::dsram, Place::dram));
  EXPECT_LE(application.stages[0].program.instructions[0].dsram_read_side, Bytes(m.dsram_bytes));
  m.stackram_bytes = 8191;
  EXPECT_THAT(sources_at(compiled(model, m, Role::core), 0), UnorderedElementsAre(Place::dsram, Place::dram));
}

TEST(place, of_more_inputs_than_are_weighed_at_once_the_largest_lie_elsewhere) {
  onnx::ModelProto model = model_of_x({1, 64, 1});
  std::vector<std::string> names{"x"};
  for (int width = 2; width <= 13; ++width)
    add_input(model, names.emplace_back("tau" + std::to_string(width)), {1, 64, width});
  set_int(add_node(model, "Concat", names, "y"), "axis", 2);
  add_output(model, "y");
  const std::vector<Place> sources = sources_at(compiled(model, Machine{}, Role::decoder), 0);
  ASSERT_EQ(sources.size(), 13u);
  EXPECT_EQ(std::ranges::count(sources, Place::dsram), 10);
  EXPECT_EQ(std::ranges::count(sources.begin() + 10, sources.end(), Place::dram), 3);
}

TEST(place, what_did_not_fit_beside_other_inputs_fits_later) {
  onnx::ModelProto model = model_of_x({1, 64, 64});
  add_input(model, "tau", {1, 64, 64});
  add_node(model, "Add", {"x", "tau"}, "a");
  add_node(model, "Relu", {"a"}, "b");
  add_node(model, "Add", {"b", "b"}, "c");
  add_node(model, "Relu", {"c"}, "y");
  add_output(model, "y");
  Machine m;
  m.dsram_bytes = 2 * 8192 - 1;
  const Application application = compiled(model, m, Role::core);
  ASSERT_TRUE(application.feasible) << application.reason;
  EXPECT_THAT(sources_at(application, 0), UnorderedElementsAre(Place::dsram, Place::stackram));
  EXPECT_THAT(sources_at(application, 2), ElementsAre(Place::dsram, Place::dsram)) << "b alone, read twice";
}

TEST(odd_graphs, an_output_that_is_an_input_is_no_instruction_but_where_there_would_be_none) {
  onnx::ModelProto model = model_of_x({1, 4, 8});
  add_node(model, "Relu", {"x"}, "y");
  add_output(model, "y");
  add_output(model, "x");
  for (const Role role : {Role::network, Role::core}) {
    const Application application = compiled(model, Machine{}, role);
    EXPECT_TRUE(application.feasible) << application.reason;
    EXPECT_THAT(mnemonics(application), ElementsAre("relu"));
  }
  onnx::ModelProto nothing = model_of_x({1, 8});
  add_output(nothing, "x");
  EXPECT_THAT(mnemonics(compiled(nothing, Machine{})), ElementsAre("copy"));
}

TEST(odd_graphs, an_output_named_twice_and_an_operand_used_twice_are_compiled) {
  onnx::ModelProto model = model_of_x({4, 4});
  add_node(model, "Relu", {"x"}, "a");
  add_node(model, "MatMul", {"a", "a"}, "b");
  add_node(model, "Add", {"b", "b"}, "y");
  add_output(model, "y");
  add_output(model, "y");
  for (const Fusion fusion : {Fusion::no_fusion, Fusion::pointwise}) {
    Machine m;
    m.fusion = fusion;
    const Application application = compiled(model, m);
    ASSERT_TRUE(application.feasible) << application.reason;
    EXPECT_THAT(mnemonics(application), ElementsAre("relu", "matmul", "add"));
    EXPECT_THAT(sources_at(application, 1), ElementsAre(Place::dsram, Place::dsram));
  }
}

TEST(odd_graphs, a_value_of_no_elements_makes_no_instruction) {
  onnx::ModelProto model = model_of_x({1, 8});
  add_node(model, "Relu", {"x"}, "a");
  add_ints(model, "from", {0});
  add_ints(model, "to", {0});
  add_ints(model, "axis", {1});
  add_node(model, "Slice", {"a", "from", "to", "axis"}, "empty");
  add_node(model, "Relu", {"empty"}, "still_empty");
  set_int(add_node(model, "Concat", {"a", "still_empty"}, "y"), "axis", 1);
  add_output(model, "y");
  const Application application = compiled(model, Machine{});
  ASSERT_TRUE(application.feasible) << application.reason;
  EXPECT_THAT(mnemonics(application), ElementsAre("relu", "copy"));
}

TEST(odd_graphs, a_constant_times_an_activation_is_copied_first) {
  onnx::ModelProto model = model_of_x({4, 4});
  add_weight(model, "w", {4, 4});
  add_node(model, "MatMul", {"w", "x"}, "y", "/product");
  add_output(model, "y");
  const Application application = compiled(model, Machine{});
  ASSERT_TRUE(application.feasible) << application.reason;
  EXPECT_THAT(mnemonics(application), ElementsAre("copy", "matmul"));
  EXPECT_EQ(application.stages[0].program.instructions[0].name, "/product/load");
}

TEST(odd_graphs, a_convolution_whose_kernel_is_computed_is_compiled) {
  onnx::ModelProto model = model_of_x({1, 4, 6, 6});
  add_input(model, "k", {4, 4, 3, 3});
  add_node(model, "Relu", {"k"}, "kernel");
  add_node(model, "Conv", {"x", "kernel"}, "y");
  add_output(model, "y");
  const Application application = compiled(model, Machine{});
  ASSERT_TRUE(application.feasible) << application.reason;
  EXPECT_EQ(application.stages[0].program.weight_bytes, Bytes(0));
}

TEST(classes, instructions_of_equal_cost_share_one) {
  onnx::ModelProto model = model_of_x({1, 64});
  for (int i = 0; i < 6; ++i)
    add_node(model, "Relu", {i == 0 ? "x" : "v" + std::to_string(i - 1)}, "v" + std::to_string(i));
  add_output(model, "v5");
  const Program program = compiled(model, Machine{}).stages[0].program;
  EXPECT_EQ(program.instructions.size(), 6U);
  EXPECT_EQ(program.classes.size(), 3U);  // from DRAM, between, to DRAM
}

/// A predictor: prediction = relu(latent) + t.
Graph predictor(std::int64_t batch) {
  onnx::ModelProto model = model_of_x({batch, 4, 8, 8});
  add_input(model, "t", {1});
  add_node(model, "Relu", {"x"}, "a");
  add_node(model, "Add", {"a", "t"}, "y");
  add_output(model, "y");
  return import_model(model);
}

std::vector<std::string> step_of(Guidance guidance, Sampler sampler) {
  Machine m;
  m.guidance = guidance;
  m.sampler = sampler;
  Graph graph = predictor(guidance == Guidance::batch ? 2 : 1);
  append_step(graph, m);
  return mnemonics(compiled(std::move(graph), m, Role::core));
}

TEST(step, without_guidance_is_the_network_and_the_sampler_s_update) {
  EXPECT_THAT(step_of(Guidance::off, Sampler::euler), ElementsAre("relu", "add", "mul", "add"));
  EXPECT_THAT(step_of(Guidance::off, Sampler::ddim), ElementsAre("relu", "add", "mul", "mul", "add"));
  EXPECT_THAT(step_of(Guidance::off, Sampler::ddpm),
              ElementsAre("relu", "add", "mul", "mul", "add", "rand", "mul", "add"));
}

TEST(step, guided_as_a_batch_doubles_the_latent_and_combines_the_halves) {
  const auto names = step_of(Guidance::batch, Sampler::euler);
  ASSERT_EQ(names.size(), 1U + 2 + 2 + 3 + 2);
  EXPECT_EQ(std::vector(names.begin() + 5, names.end()),
            (std::vector<std::string>{"sub", "mul", "add", "mul", "add"}));
}

TEST(step, guided_in_two_passes_runs_the_network_twice) {
  EXPECT_THAT(step_of(Guidance::two_passes, Sampler::euler),
              ElementsAre("relu", "add", "relu", "add", "sub", "mul", "add", "mul", "add"));
}

TEST(step, what_is_no_noise_predictor_is_refused) {
  onnx::ModelProto model = model_of_x({1, 4, 8, 8});
  set_int(add_node(model, "Concat", {"x", "x"}, "y"), "axis", 1);
  add_output(model, "y");
  Graph graph = import_model(model);
  EXPECT_THROW(append_step(graph, Machine{}), Error);
}

TEST(hoist, takes_out_what_follows_from_the_context_alone) {
  onnx::ModelProto model = model_of_x({1, 4, 4});
  add_input(model, "tau", {1, 4, 4});
  add_weight(model, "w", {4, 4});
  add_node(model, "MatMul", {"tau", "w"}, "k");
  set_ints(add_node(model, "Transpose", {"k"}, "kt"), "perm", {0, 2, 1});
  add_node(model, "MatMul", {"x", "kt"}, "y");
  add_output(model, "y");
  Stage core{Role::core, "net", std::make_shared<const Graph>(import_model(model)), {}};
  const auto context = hoist_context(core);
  ASSERT_TRUE(context);
  EXPECT_THAT(mnemonics(compiled(*context->graph, Machine{}, context->role)), ElementsAre("matmul", "transpose"));
  const Application step = compiled(*core.graph, Machine{}, Role::core);
  EXPECT_THAT(mnemonics(step), ElementsAre("matmul"));
  EXPECT_THAT(sources_at(step, 0), ElementsAre(Place::dsram, Place::stackram));
  EXPECT_EQ(step.stages[0].program.weight_bytes, Bytes(0));
  EXPECT_FALSE(hoist_context(core));  // nothing is left to take out
}

TEST(compile, asks_before_each_pass_and_each_layer_and_does_no_more_once_told_to_end) {
  Workload workload;
  Graph graph = import_bytes(residual_model().SerializeAsString());
  rewrite(graph);
  workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(std::move(graph)), {}});
  std::size_t all = 0, done = 0;
  CompileOptions options;
  options.after_pass = [&](std::string_view, std::string_view, const Compilation&) { ++done; };
  options.stop = [&] { return ++all == 0; };
  const Application application = compile(workload, Machine{}, options);
  ASSERT_TRUE(application.feasible);
  ASSERT_EQ(done, passes().size());
  EXPECT_GE(all, passes().size() + application.stages.at(0).program.instructions.size());
  std::size_t inside = 0;  // of questions those in a pass
  for (std::size_t last = 1; last <= all; ++last) {
    std::size_t asked = done = 0;
    options.stop = [&] { return ++asked >= last; };
    try {
      compile(workload, Machine{}, options);
      ADD_FAILURE() << "went on after question " << last;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "cancelled");
    }
    EXPECT_EQ(asked, last);
    EXPECT_LT(done, last);
    inside += done + 1 < last;
  }
  EXPECT_GT(inside, 0U);
}

}  // namespace
}  // namespace sdip
