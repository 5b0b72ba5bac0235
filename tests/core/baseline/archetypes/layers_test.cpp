// Networks as layers: what is counted once, what joins what, and what grows with frames.
#include "core/baseline/archetypes/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/baseline/npu_analysis.h"
#include "tests/core/graph/made.h"

namespace sdip {
namespace {

using testing::ElementsAre;

std::vector<Joint> joints_of(const std::vector<Layer>& layers) {
  std::vector<Joint> joints;
  for (const Layer& layer : layers) joints.push_back(layer.joint);
  return joints;
}

TEST(layers, elementwise_work_joins_what_it_alone_reads) {
  // exp(x) is read once, relu of it; then the sum reads x and that.
  const auto layers = layers_of(made_graph({4}, {{"a", "Exp", {0}}, {"b", "Relu", {1}}, {"c", "Add", {0, 2}}}));
  EXPECT_THAT(joints_of(layers), ElementsAre(Joint::alone, Joint::fused, Joint::fused));
  EXPECT_EQ(layers[2].a_elements, 4);
  EXPECT_EQ(layers[2].other_elements, 4) << "x is read beside";
  const auto twice = layers_of(made_graph({4}, {{"a", "Exp", {0}}, {"b", "Relu", {1}}, {"c", "Add", {1, 2}}}));
  EXPECT_THAT(joints_of(twice), ElementsAre(Joint::alone, Joint::fused)) << "two read a";
  EXPECT_EQ(twice[0].times, 2) << "exp and relu are layers alike";
}

TEST(layers, an_attention_whose_scores_nothing_else_reads_is_one) {
  // x [2,3,4]: x x^T is [2,3,3], softmax, times x again.
  const Graph graph = made_graph({2, 3, 3}, {{"scores", "MatMul", {0, 0}},
                                             {"scaled", "Neg", {1}},
                                             {"soft", "Softmax", {2}},
                                             {"mixed", "MatMul", {3, 0}}});
  EXPECT_THAT(joints_of(layers_of(graph)), ElementsAre(Joint::scores, Joint::fused, Joint::softmax, Joint::mixed));
  const Graph kept = made_graph({2, 3, 3}, {{"scores", "MatMul", {0, 0}},
                                            {"soft", "Softmax", {1}},
                                            {"mixed", "MatMul", {2, 0}},
                                            {"also", "Add", {2, 3}}});
  EXPECT_THAT(joints_of(layers_of(kept)), testing::Not(testing::Contains(Joint::mixed)))
      << "the weights are read twice";
}

TEST(layers, alike_are_counted_and_hold_every_multiply_accumulate) {
  const AnalysedModels models = analysed_models();
  for (const AnalysedModel* model :
       {&models.text_encoder, &models.vae_encoder, &models.vae_decoder, &models.unet}) {
    const LayeredStage stage = layered_stage(model->rewritten, "stage", Role::network, 1);
    const GraphFacts facts = facts_of(model->rewritten);
    std::int64_t macs = 0, softmaxes = 0, scores = 0, mixed = 0;
    for (const Layer& layer : stage.layers) {
      macs += layer.times * macs_of(layer);
      softmaxes += layer.joint == Joint::softmax ? layer.times : 0;
      scores += layer.joint == Joint::scores ? layer.times : 0;
      mixed += layer.joint == Joint::mixed ? layer.times : 0;
    }
    EXPECT_EQ(macs, facts.macs_conv + facts.macs_linear + facts.macs_matmul);
    EXPECT_EQ(stage.weight_elements, facts.parameters);
    EXPECT_GT(softmaxes, 0);
    EXPECT_EQ(scores, softmaxes);
    EXPECT_EQ(mixed, softmaxes);
  }
}

/// The example of the declaration.
TEST(layers, a_convolution_is_a_product_of_pixels_by_channels) {
  Layer layer;
  layer.work.family = Family::conv2d;
  layer.work.nest = {.batch = 2,
                     .out_channels = 640,
                     .in_channels = 320,
                     .out_h = 64,
                     .out_w = 64,
                     .in_h = 64,
                     .in_w = 64,
                     .kernel_h = 3,
                     .kernel_w = 3};
  const MatrixProduct product = product_of(layer);
  EXPECT_EQ(product.count, 1);
  EXPECT_EQ(product.rows, 8192);
  EXPECT_EQ(product.columns, 640);
  EXPECT_EQ(product.terms, 2880);
  EXPECT_EQ(macs_of(layer), 8192 * 640LL * 2880);
}

TEST(layers, of_several_frames_have_as_many_activations_and_the_same_weights) {
  const AnalysedModels models = analysed_models();
  for (const Layer& layer : layers_of(models.unet.rewritten)) {
    const Layer three = with_frames(layer, 3);
    EXPECT_EQ(macs_of(three), 3 * macs_of(layer));
    EXPECT_EQ(operations_of(three), 3 * operations_of(layer));
    EXPECT_EQ(three.output_elements, 3 * layer.output_elements);
    EXPECT_EQ(three.weight_elements, layer.weight_elements);
    const MatrixProduct one = product_of(layer), more = product_of(three);
    if (is_product(layer)) {
      EXPECT_EQ(layer.weighted ? more.rows : more.count, 3 * (layer.weighted ? one.rows : one.count));
    }
  }
}

}  // namespace
}  // namespace sdip
