// Operators of several results, of which any are used: none is dropped, and none stands for another.
#include <gmock/gmock.h>

#include "core/graph/graph.h"
#include "tests/core/explore/everywhere.h"
#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

struct ResultsRow {
  std::string name, values, body;  // of results a, b, ...
  int results;
  std::int64_t opset = 17;
};

const std::vector<ResultsRow>& results_rows() {
  static const std::vector<ResultsRow> all = {
      {"max_pool_of_1", "x 1,2,4,4", "r = Relu(x); a, b = MaxPool{kernel_shape=[1,1]}(r)", 2},
      {"max_pool_of_1_in_steps", "x 1,2,4,4", "r = Relu(x); a, b = MaxPool{kernel_shape=[1,1], strides=[2,2]}(r)",
       2},
      {"max_pool", "x 1,2,4,6", "r = Relu(x); a, b = MaxPool{kernel_shape=[2,3], storage_order=1}(r)", 2},
      {"max_pool_in_strips", "x 1,2,8,8; #w 2,2,3,3",
       "r = Relu(Conv{pads=[1,1,1,1]}(x, w)); a, b = MaxPool{kernel_shape=[1,1]}(r)", 2},
      {"dropout", "x 2,9", "r = Relu(x); a, b = Dropout(r)", 2},
      {"batch_norm", "x 2,3,4; #g 3; #h 3; m 3; v 3",
       "a, b, c = BatchNormalization{training_mode=1}(Relu(x), g, h, m, Abs(v))", 3},
      {"layer_norm", "x 2,3,4; #g 4; #h 4", "r = Relu(x); a, b, c = LayerNormalization(r, g, h)", 3},
      {"quantise", "x 2,9", "r = Relu(x); a, b, c = DynamicQuantizeLinear(r)", 3},
      {"top_k", "x 2,9", "r = Relu(x); a, b = TopK(r, [3])", 2},
      {"split", "x 2,9", "r = Relu(x); a, b, c = Split{axis=1}(r, [2,3,4])", 3},
      {"split_in_one", "x 2,9", "r = Relu(x); a = Split{axis=1}(r, [9])", 1},
      {"loss", "x 4,3; t 4 int64", "a, b = SoftmaxCrossEntropyLoss(Relu(x), Mul(t, [0]))", 2},
  };
  return all;
}

/// The row's model with a Cast of each result whose bit of `used` is set, as outputs.
Graph graph_of_results(const ResultsRow& row, unsigned used) {
  std::string body = row.body;
  std::vector<std::string> outputs;
  for (int i = 0; i < row.results; ++i) {
    if ((used >> i & 1) == 0) continue;
    const std::string result(1, static_cast<char>('a' + i));
    outputs.push_back(outputs.empty() ? "y" : "y" + result);
    body += "; " + outputs.back() + " = Abs(Cast{to=1}(" + result + "))";
  }
  onnx::ModelProto model = model_of(row.values, body, row.opset);
  for (std::size_t i = 1; i < outputs.size(); ++i) add_output(model, outputs[i]);
  return import_model(model);
}

TEST(second_results, each_that_is_used_is_made_whichever_others_are) {
  for (const ResultsRow& row : results_rows())
    for (unsigned used = 1; used < 1U << row.results; ++used) {
      SCOPED_TRACE(row.name + ", used " + std::to_string(used));
      Graph graph = graph_of_results(row, used);
      const std::vector<Tensor> inputs = random_inputs(graph), before = values_of(graph, inputs);
      rewrite(graph);
      const std::vector<Tensor> after = values_of(graph, inputs);
      for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(same_numbers(after[i], before[i])) << "rewritten";
      expect_same_everywhere(graph);
    }
}

}  // namespace
}  // namespace sdip
