// Attention that rewriting recognised, compiled: the scale of the scores costs no instruction of its own.
#include <gmock/gmock.h>

#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;

/// softmax(0.25 q k^T) v, k as it is made or transposed for the product.
Graph attention() {
  onnx::ModelProto model = model_of_x({2, 8, 64, 16});
  add_floats(model, "scale", {}, {0.25F});
  add_node(model, "Relu", {"x"}, "q");
  add_node(model, "Neg", {"x"}, "k");
  set_ints(add_node(model, "Transpose", {"k"}, "t"), "perm", {0, 1, 3, 2});
  add_node(model, "MatMul", {"q", "t"}, "s");
  add_node(model, "Mul", {"s", "scale"}, "m");
  add_node(model, "Softmax", {"m"}, "w");
  add_node(model, "MatMul", {"w", "x"}, "y");
  add_output(model, "y");
  return import_model(model);
}

TEST(scores, are_one_product_with_the_work_of_the_product_they_were) {
  Graph graph = attention();
  const GraphFacts before = facts_of(graph);
  EXPECT_THAT(mnemonics(compiled(graph, Machine{})),
              ElementsAre("relu", "neg", "transpose", "matmul", "mul", "softmax", "matmul"));
  rewrite(graph);
  EXPECT_EQ(facts_of(graph).macs_matmul, before.macs_matmul);
  const Application application = compiled(graph, Machine{});
  EXPECT_THAT(mnemonics(application), ElementsAre("relu", "neg", "matmul", "softmax", "matmul"));
  EXPECT_EQ(class_at(application, 2).out_elements, 2 * 8 * 64 * 64);
}

}  // namespace
}  // namespace sdip
