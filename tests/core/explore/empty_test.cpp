// Tensors without elements: every family of operators with each of its sizes 0 in turn, as bytes, imported,
// rewritten, compiled, estimated, executed and validated.
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "core/cost/price/estimate.h"
#include "core/onnx/import.h"
#include "core/program/program.h"
#include "core/program/workload.h"
#include "tests/core/explore/everywhere.h"
#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

/// A model as text_model.h writes it, with $M for a size; `refused`: sizes that ONNX does not let be 0 there.
struct SizedRow {
  std::string name, values, body;
  std::string refused = "";
};

constexpr std::pair<char, int> usual_sizes[] = {{'B', 2}, {'C', 4}, {'H', 6}, {'W', 5},
                                                {'M', 3}, {'K', 4}, {'N', 5}, {'S', 3}};

std::string filled_in(std::string text, char zero) {
  for (const auto& [letter, size] : usual_sizes)
    for (std::size_t at = 0; (at = text.find({'$', letter}, at)) != std::string::npos;)
      text.replace(at, 2, letter == zero ? "0" : std::to_string(size));
  return text;
}

const std::vector<SizedRow>& sized_rows() {
  static const std::vector<SizedRow> all = {
      {"product", "a $M,$K; b $K,$N", "y = MatMul(a, b)"},
      {"product_between", "a $M,$K; b $K,$N; c $M,$N", "y = Add(MatMul(Relu(a), Relu(b)), Neg(c))"},
      {"product_of_batches", "a $B,$M,$K; b $K,$N", "y = Relu(MatMul(a, Relu(b)))"},
      {"linear", "a $B,$M,$K; #w $K,$N; #b $N", "y = Relu(Add(MatMul(Relu(a), w), b))"},
      {"weight_first", "#w $M,$K; x $K,$N", "y = Relu(MatMul(w, x))"},
      {"gemm", "a $M,$K; b $N,$K; c $N", "y = Gemm{transB=1, beta=2.0}(Relu(a), b, c)"},
      {"gemm_of_weights", "a $K,$M; #b $K,$N; #c $M,1", "y = Gemm{transA=1, alpha=0.5}(a, b, c)"},
      {"einsum", "a $B,$M,$K; b $B,$N,$K", "y = Einsum{equation='bmk,bnk->bnm'}(a, Relu(b))"},
      {"einsum_of_three", "a $M,$K; b $K,$N; c $N,$C", "y = Einsum{equation='mk,kn,nc->mc'}(a, b, Relu(c))"},
      {"integers", "a $M,$K uint8; b $K,$N uint8", "y = Cast{to=1}(MatMulInteger(a, b))"},
      {"convolution", "x $B,$C,$H,$W; w $N,$C,3,2; b $N", "y = Conv{pads=[1,1,1,1]}(Relu(x), w, b)", "H"},
      {"convolution_of_weights", "x $B,$C,$H,$W; #w $N,$C,3,2; #b $N",
       "y = Relu(Conv{pads=[2,2,2,2], strides=[2,1]}(Relu(x), w, b))"},
      {"transposed_convolution", "x $B,$C,$H,$W; w $C,$N,3,3; b $N", "y = Relu(ConvTranspose(Relu(x), w, b))",
       "HW"},
      {"lstm", "x $S,$B,$K; #w 1,12,$K; #r 1,12,3; h 1,$B,3", "z, y = LSTM{hidden_size=3}(x, w, r, -, -, h)"},
      {"gru", "x $S,$B,$K; #w 1,9,$K; #r 1,9,3; h 1,$B,3", "z, y = GRU{hidden_size=3}(x, w, r, -, -, h)"},
      {"attention", "q $B,$M,$K; k $B,$S,$K; v $B,$S,$N",
       "y = MatMul(Softmax{axis=2}(MatMul(Mul(q, 0.5), Transpose{perm=[0,2,1]}(k))), Relu(v))"},
      {"cache", "p $B,$S,$K; x $B,$M,$K", "y = Softmax{axis=1}(Concat{axis=1}(Relu(p), Relu(x)))"},
      {"elementwise", "a $B,1,$M; b $C,$M", "y = Mul(Exp(Add(a, b)), Sigmoid(b))"},
      {"where", "c $B,1 bool; a $M; b $B,$M", "y = Where(c, Relu(a), b)"},
      {"softmax", "x $B,$M,$N", "y = Softmax{axis=2}(Relu(x))"},
      {"layernorm", "x $B,$M,$N; #g $N; #b $N", "y = LayerNormalization(Relu(x), g, b)"},
      {"groupnorm", "x $B,$C,$H; #g $C; #b $C", "y = InstanceNormalization(Relu(x), g, b)"},
      {"batchnorm", "x $B,$C,$H; #g $C; #b $C; #m $C; v $C", "y = BatchNormalization(x, g, b, m, Abs(v))"},
      {"sum", "x $B,$M,$N", "y = ReduceSum(Relu(x), [1])"},
      {"mean", "x $B,$M,$N", "y = Add(ReduceMean{axes=[1]}(Relu(x)), x)"},
      {"max", "x $B,$M,$N", "y = ReduceMax{axes=[0,2], keepdims=0}(Relu(x))"},
      {"arg_max", "x $B,$M,$N", "y = Cast{to=1}(ArgMax{axis=1}(Relu(x)))", "M"},
      {"top_k", "x $B,$M,$N", "y, i = TopK{axis=1}(Relu(x), [1])", "M"},
      {"cumsum", "x $B,$M", "y = Relu(CumSum(x, [1]))"},
      {"pool", "x $B,$C,$H,$W", "y = MaxPool{kernel_shape=[2,2], pads=[1,1,1,1]}(Relu(x))"},
      {"average", "x $B,$C,$H,$W", "y = Relu(AveragePool{kernel_shape=[2,2], pads=[1,1,1,1]}(x))"},
      {"global_average", "x $B,$C,$H,$W", "y = GlobalAveragePool(Relu(x))", "HW"},
      {"concat", "a $B,$M,$N; b $B,$K,$N; #c 1,1", "y = Mul(Concat{axis=1}(a, Relu(b), a), c)"},
      {"slice", "x $B,$M,$N", "y = Relu(Slice(Relu(x), [0], [$M], [1]))"},
      {"split", "x $B,$M,$N", "z, y = Split{axis=1}(Relu(x), [0,$M])"},
      {"pad", "x $B,$M", "y = Relu(Pad(Relu(x), [1,1,1,1]))"},
      {"gather", "x $M,$N; i $K int64", "y = Relu(Gather(Relu(x), Mul(i, [0])))", "M"},
      {"scatter", "x $M,$N; i $K,1 int64; u $K,$N", "y = ScatterND(Relu(x), Mul(i, [0]), u)"},
      {"expand", "x 1,$N", "y = Relu(Expand(x, [$B,$M,$N]))"},
      {"transpose", "x $B,$M,$N", "y = Transpose{perm=[1,2,0]}(Relu(x))"},
      {"reshape", "x $B,$M,$N", "y = Reshape{allowzero=1}(x, [$N,$B,$M])"},
      {"resize", "x $B,$C,$H,$W", "y = Resize{mode='nearest'}(Relu(x), -, -, [2,4,12,10])", "BCHW"},
      {"quantize", "x $B,$M", "y = DequantizeLinear(QuantizeLinear(x, 0.5), 0.5)"},
      {"gelu", "x $B,$M,$K; #w $K,$N", "g = MatMul(x, w); y = Mul(g, Sigmoid(g))"},
  };
  return all;
}

/// Whether what is imported of a row with one size 0 runs everywhere; false where it is refused, by the import or,
/// where an index points at nothing, by the arithmetic.
bool runs(const SizedRow& row, char zero) {
  Graph graph;
  std::vector<Tensor> inputs, before;
  try {
    graph = import_model(model_of(filled_in(row.values, zero), filled_in(row.body, zero)));
    inputs = random_inputs(graph);
    before = values_of(graph, inputs);
  } catch (const Error& error) {
    EXPECT_NE(row.refused.find(zero), std::string::npos) << error.what();
    return false;
  }
  EXPECT_EQ(row.refused.find(zero), std::string::npos) << "is not refused";
  rewrite(graph);
  const std::vector<Tensor> after = values_of(graph, inputs);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(same_numbers(after[i], before[i])) << "rewritten";
  expect_same_everywhere(graph);
  return true;
}

TEST(empty_tensors, each_size_of_each_family_of_operators_may_be_0) {
  int models = 0;
  for (const SizedRow& row : sized_rows())
    for (const auto& [letter, size] : usual_sizes) {
      if ((row.values + row.body).find({'$', letter}) == std::string::npos) continue;
      SCOPED_TRACE(row.name + " with " + letter + " = 0");
      models += runs(row, letter) ? 1 : 0;
    }
  EXPECT_GT(models, 120);
}

TEST(empty_tensors, the_same_models_run_with_all_sizes_as_usual) {
  for (const SizedRow& row : sized_rows()) {
    SCOPED_TRACE(row.name);
    const Graph graph = import_model(model_of(filled_in(row.values, '-'), filled_in(row.body, '-')));
    for (const Tensor& output : values_of(graph, random_inputs(graph))) EXPECT_GT(element_count(output.shape), 0);
  }
}

/// What a model's one output is, plain and rewritten, for inputs of random numbers.
Tensor value_of(const std::string& values, const std::string& body) {
  return rewritten_equal(values, body).graph.outputs.empty()
             ? Tensor{}
             : values_of(import_model(model_of(values, body)), random_inputs(import_model(model_of(values, body))))
                   .at(0);
}

TEST(empty_tensors, a_sum_over_nothing_is_0_and_a_bias_stays) {
  EXPECT_EQ(value_of("a 2,0; b 0,3", "y = MatMul(a, b)").floats, std::vector<double>(6, 0.0));
  EXPECT_EQ(value_of("a 2,0; b 0,2; #c 2", "y = Gemm(a, b, c)").floats,
            value_of("a 1; #c 2", "y = Concat{axis=0}(c, c)").floats);
  EXPECT_EQ(value_of("x 0,3", "y = ReduceSum(x, [0])").floats, std::vector<double>(3, 0.0));
  EXPECT_EQ(value_of("x 0,3", "y = ReduceProd{axes=[0]}(x)").floats, std::vector<double>(3, 1.0));
  EXPECT_EQ(value_of("x 0,3", "y = ReduceMax{axes=[0]}(x)").floats, std::vector<double>(3, -HUGE_VAL));
  EXPECT_EQ(
      value_of("q 2,3; k 0,3; v 0,2", "y = MatMul(Softmax{axis=1}(MatMul(q, Transpose{perm=[1,0]}(k))), v)").floats,
      std::vector<double>(4, 0.0));
  EXPECT_TRUE(std::isnan(value_of("x 0,1", "y = ReduceMean{axes=[0]}(x)").floats.at(0)));
}

TEST(empty_tensors, an_lstm_of_no_steps_ends_where_it_began) {
  const onnx::ModelProto model =
      model_of("x 0,2,3; #w 1,8,3; #r 1,8,2; h 1,2,2", "z, y = LSTM{hidden_size=2}(x, w, r, -, -, h)");
  const Graph graph = import_model(model);
  const std::vector<Tensor> inputs = random_inputs(graph);
  EXPECT_EQ(values_of(graph, inputs).at(0).floats, inputs.at(1).floats);
}

TEST(empty_tensors, a_program_of_results_without_elements_is_one_instruction) {
  Workload workload;
  const auto graph = std::make_shared<const Graph>(import_model(model_of("x 0,3", "y = Relu(x)")));
  workload.stages.push_back({Role::network, "test", graph, {}});
  const Application application = compile(workload, Machine{});
  ASSERT_TRUE(application.feasible) << application.reason;
  ASSERT_EQ(application.stages.at(0).program.instructions.size(), 1U);
  EXPECT_EQ(application.stages[0].program.instructions[0].mnemonic, "copy");
  const Report report = estimate(application, Machine{});
  EXPECT_GT(report.stages.at(0).steady_cycles.value, 0);
  EXPECT_EQ(report.stages[0].instructions.at(0).dram_activations_out.value, 0);
}

}  // namespace
}  // namespace sdip
