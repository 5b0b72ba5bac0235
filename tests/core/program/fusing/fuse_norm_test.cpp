// What becomes of norms: prologues, sums, and what stays.
#include <gmock/gmock.h>

#include "core/onnx/import.h"
#include "core/workload/workload.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;

Machine fusing_norms(NormStatistics statistics = NormStatistics::own_pass) {
  Machine m;
  m.fusion = Fusion::norm;
  m.norm_statistics = statistics;
  return m;
}

void add_group_norm(onnx::ModelProto& model, const char* x, const char* y, std::int64_t channels) {
  const std::string gamma = std::string(y) + "_gamma", beta = std::string(y) + "_beta";
  add_weight(model, gamma.c_str(), {channels});
  add_weight(model, beta.c_str(), {channels});
  auto& node = add_node(model, "GroupNormalization", {x, gamma.c_str(), beta.c_str()}, y);
  set_int(node, "num_groups", 4);
}

/// The worked example: conv, group norm, silu's stand-in, conv; the first result is added at the end when
/// `residual`.
onnx::ModelProto norm_model(bool residual) {
  onnx::ModelProto model = model_of_x({1, 8, 6, 6});
  model.mutable_opset_import(0)->set_version(21);
  add_weight(model, "w", {8, 8, 3, 3});
  const auto conv = [&](const char* x, const char* y) {
    set_ints(add_node(model, "Conv", {x, "w"}, y), "pads", {1, 1, 1, 1});
  };
  conv("x", "a");
  add_group_norm(model, "a", "b", 8);
  add_node(model, "Tanh", {"b"}, "c");
  conv("c", "d");
  if (residual) add_node(model, "Add", {"d", "a"}, "y");
  add_output(model, residual ? "y" : "d");
  return model;
}

TEST(fuse_norm, a_norm_and_its_activation_become_the_prologue_of_the_convolution_behind) {
  const Application own = compiled(norm_model(true), fusing_norms());
  EXPECT_THAT(mnemonics(own), ElementsAre("conv2d", "groupnorm_sums", "groupnorm+tanh+conv2d+add"));
  EXPECT_EQ(class_at(own, 1).work.passes, 1);
  EXPECT_EQ(class_at(own, 1).out_elements, 0) << "sums go to registers";
  EXPECT_EQ(class_at(own, 2).prologue_passes, 2) << "normalise, tanh";
  EXPECT_EQ(class_at(own, 2).weight_elements, 16) << "gamma and beta";
  const Graph& graph = *own.stages[0].graph;
  const Instruction& conv = own.stages[0].program.instructions[2];
  EXPECT_EQ(graph.values.at(static_cast<std::size_t>(conv.sources.at(0).value)).name, "a");
  EXPECT_EQ(conv.nodes.size(), 4U) << "norm, tanh, convolution, add";
}

TEST(fuse_norm, the_producer_of_its_operand_may_make_the_sums) {
  const Application application = compiled(norm_model(true), fusing_norms(NormStatistics::producer));
  EXPECT_THAT(mnemonics(application), ElementsAre("conv2d", "groupnorm+tanh+conv2d+add"));
  EXPECT_EQ(class_at(application, 0).statistics_passes, 1);
}

TEST(fuse_norm, a_norm_whose_result_leaves_stays_and_reads_once_when_its_sums_are_there) {
  onnx::ModelProto model = norm_model(false);
  add_output(model, "c");
  const Application own = compiled(model, fusing_norms());
  EXPECT_THAT(mnemonics(own), ElementsAre("conv2d", "groupnorm+tanh", "conv2d"));
  EXPECT_EQ(class_at(own, 1).work.passes, 2);
  const Application producer = compiled(model, fusing_norms(NormStatistics::producer));
  EXPECT_THAT(mnemonics(producer), ElementsAre("conv2d", "groupnorm+tanh", "conv2d"));
  EXPECT_EQ(class_at(producer, 1).work.passes, 1);
  EXPECT_EQ(class_at(producer, 0).statistics_passes, 1);
}

TEST(fuse_norm, a_norm_of_an_input_has_no_producer_and_takes_a_pass_of_its_own) {
  onnx::ModelProto model = model_of_x({1, 8, 6, 6});
  model.mutable_opset_import(0)->set_version(21);
  add_weight(model, "w", {8, 8, 1, 1});
  add_group_norm(model, "x", "b", 8);
  add_node(model, "Conv", {"b", "w"}, "y");
  add_output(model, "y");
  EXPECT_THAT(mnemonics(compiled(model, fusing_norms(NormStatistics::producer))),
              ElementsAre("groupnorm_sums", "groupnorm+conv2d"));
}

TEST(fuse_norm, a_layer_norm_over_the_summed_channels_needs_no_instruction_of_its_own) {
  onnx::ModelProto model = model_of_x({1, 6, 8});
  for (const char* name : {"gamma", "beta"}) add_weight(model, name, {8});
  for (const char* name : {"q", "k"}) add_weight(model, name, {8, 8});
  add_node(model, "LayerNormalization", {"x", "gamma", "beta"}, "a");
  add_node(model, "MatMul", {"a", "q"}, "b");
  add_node(model, "MatMul", {"a", "k"}, "c");
  add_node(model, "Add", {"b", "c"}, "y");
  add_output(model, "y");
  const Application application = compiled(model, fusing_norms());
  EXPECT_THAT(mnemonics(application), ElementsAre("layernorm+matmul", "layernorm+matmul+add"));
  EXPECT_EQ(class_at(application, 0).prologue_passes, 2) << "sums, normalise";
}

TEST(fuse_pointwise, an_add_finds_its_convolution_behind_the_small_linear_in_between) {
  onnx::ModelProto model = model_of_x({1, 8, 6, 6});
  add_input(model, "t", {1, 32});
  add_weight(model, "w", {8, 8, 1, 1});
  add_weight(model, "v", {32, 8});
  add_ints(model, "shape", {1, 8, 1, 1});
  add_node(model, "Conv", {"x", "w"}, "a");
  add_node(model, "MatMul", {"t", "v"}, "b");
  add_node(model, "Reshape", {"b", "shape"}, "c");
  add_node(model, "Add", {"a", "c"}, "y");
  add_output(model, "y");
  Machine m;
  m.fusion = Fusion::pointwise;
  EXPECT_THAT(mnemonics(compiled(model, m)), ElementsAre("matmul", "conv2d+add"));
}

Application built_in(const char* name, Role role, const Machine& m) {
  const std::string bytes = write_model(name, {});
  Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
  rewrite(graph);
  return compiled(std::move(graph), m, role);
}

std::int64_t count_of(const Application& application, std::string_view mnemonic) {
  const auto names = mnemonics(application);
  return std::ranges::count(names, mnemonic);
}

TEST(fuse_pointwise, leaves_no_add_alone_in_stable_diffusion_1_5) {
  for (const char* name : {"sd15-unet", "sd15-vae-decoder"}) {
    Machine m;
    const Application none = built_in(name, Role::network, m);
    m.fusion = Fusion::pointwise;
    const Application fused = built_in(name, Role::network, m);
    EXPECT_GT(count_of(none, "add"), 10) << name;
    EXPECT_EQ(count_of(fused, "add"), 0) << name;
  }
}

}  // namespace
}  // namespace sdip
