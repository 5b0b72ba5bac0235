// The attention accelerator on a PYNQ-Z2 runs, and computes bit by bit what its published text says.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

#include "core/exec/chip/execute.h"
#include "core/graph/rewrite/passes.h"
#include "core/onnx/import.h"
#include "core/workload/workload.h"
#include "tests/core/exec/random_graph.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

// The text, in loops: X as columns a_i, q_i = Wq a_i, k_i, v_i likewise, cut to eight bits; scores k_j . q_i cut to
// eight bits and one bit to the right; softmax at temperature 64 of each query's scores; the circuit's quantiser;
// the sum of values, and the quantiser's scale of 1/256 comes off again.
using Matrix = std::array<std::array<unsigned, 4>, 4>;

Matrix projected(const Matrix& weights, const Matrix& tokens) {
  Matrix result{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t row = 0; row < 4; ++row) {
      unsigned sum = 0;
      for (std::size_t column = 0; column < 4; ++column) sum += weights[row][column] * tokens[i][column];
      result[i][row] = sum & 255;
    }
  return result;
}

unsigned code_of(double share) {
  const auto x = static_cast<float>(share);
  if (x >= 1) return 255;
  return static_cast<unsigned>(std::floor(256 * x));
}

Matrix attention_of_the_text(const Matrix& wq, const Matrix& wk, const Matrix& wv, const Matrix& tokens) {
  const Matrix q = projected(wq, tokens), k = projected(wk, tokens), v = projected(wv, tokens);
  Matrix output{};
  for (std::size_t i = 0; i < 4; ++i) {
    std::array<double, 4> power{};
    double all = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      unsigned score = 0;
      for (std::size_t d = 0; d < 4; ++d) score += k[j][d] * q[i][d];
      all += power[j] = std::exp(((score & 255) >> 1) / 64.0);
    }
    for (std::size_t d = 0; d < 4; ++d) {
      unsigned sum = 0;
      for (std::size_t j = 0; j < 4; ++j) sum += code_of(power[j] / all) * v[j][d];
      output[i][d] = sum >> 8;
    }
  }
  return output;
}

Matrix random_matrix(Draw& draw, std::int64_t most) {
  Matrix matrix{};
  for (auto& row : matrix)
    for (unsigned& x : row) x = static_cast<unsigned>(draw.between(0, most));
  return matrix;
}

Tensor tensor_of_matrix(const Matrix& matrix, ElementType type, Shape shape, double scale) {
  Tensor tensor = zero_tensor(type, std::move(shape));
  for (std::size_t i = 0; i < 16; ++i) {
    const unsigned x = matrix[i / 4][i % 4];
    if (is_floating(type))
      tensor.floats[i] = static_cast<double>(static_cast<float>(x * scale));
    else
      tensor.ints[i] = x;
  }
  return tensor;
}

Graph attention_graph() {
  const std::string bytes = write_model("pynq-attention", {});
  Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
  rewrite(graph);
  return graph;
}

struct Attention {
  Matrix wq, wk, wv, tokens;
};

Tensor executed(const CompiledStage& stage, const Machine& machine, const Attention& a) {
  const auto stored = [&](const Value& value) -> std::optional<Tensor> {
    // The model's weights are codes times 0.004.
    const auto weight = [](const Matrix& m) { return tensor_of_matrix(m, ElementType::float32, {4, 4}, 0.004); };
    if (value.name == "to_q.weight") return weight(a.wq);
    if (value.name == "to_k.weight") return weight(a.wk);
    if (value.name == "to_v.weight") return weight(a.wv);
    return std::nullopt;
  };
  const std::vector<Tensor> inputs{tensor_of_matrix(a.tokens, ElementType::int32, {1, 4, 4}, 1)};
  return execute(stage, machine, inputs, stored).outputs.at(0);
}

TEST(pynq_attention, runs_on_its_preset_bit_by_bit_as_the_text_says_overflow_included) {
  Machine machine = find_preset("pynq-attention")->machine;
  const MadeNetwork network{attention_graph(), {}, {}};
  const Application application = compiled_on(machine, network, Role::network);
  ASSERT_TRUE(application.feasible) << application.reason;
  Draw draw(11);
  int overflowed = 0, several = 0;
  for (int run = 0; run < 300; ++run) {
    const std::int64_t most = run < 100 ? 7 : 255;  // with codes to 7 nothing overflows
    const Attention a{random_matrix(draw, most), random_matrix(draw, most), random_matrix(draw, most),
                      random_matrix(draw, run < 100 ? 1 : 255)};
    const Tensor got = executed(application.stages[0], machine, a);
    const Matrix want = attention_of_the_text(a.wq, a.wk, a.wv, a.tokens);
    const Tensor wanted = tensor_of_matrix(want, ElementType::uint8, {1, 4, 4}, 1);
    ASSERT_EQ(got.type, ElementType::uint8);
    ASSERT_EQ(got.ints, wanted.ints) << "run " << run;
    overflowed += a.wq[0][0] * a.tokens[0][0] > 255;
    several += want[0] != want[1];
  }
  EXPECT_GT(overflowed, 100);
  EXPECT_GT(several, 100);
}

TEST(pynq_attention, a_case_by_hand) {
  // Weights: the identity; tokens: one-hot times 2, 4, 8, 16, so that a score is 4, 16, 64, 256 -> 0 on the
  // diagonal, then 2, 8, 32, 0. Query 2: e^(32/64) = 1.6487 against 3: shares 0.3547 and 0.2151, codes 90 and 55:
  // value 8 x 90 >> 8 = 2; others 55 x 2 >> 8 = 0, 55 x 4 >> 8 = 0, 55 x 16 >> 8 = 3. Query 3 overflowed to equal
  // shares: codes 64.
  Machine machine = find_preset("pynq-attention")->machine;
  const MadeNetwork network{attention_graph(), {}, {}};
  const Application application = compiled_on(machine, network, Role::network);
  const Matrix one{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  const Matrix tokens{{{2, 0, 0, 0}, {0, 4, 0, 0}, {0, 0, 8, 0}, {0, 0, 0, 16}}};
  const Tensor got = executed(application.stages[0], machine, {one, one, one, tokens});
  const std::vector<std::int64_t> rows(got.ints.begin() + 8, got.ints.end());
  EXPECT_EQ(rows, (std::vector<std::int64_t>{0, 0, 2, 3, 0, 1, 2, 4}));
}

}  // namespace
}  // namespace sdip
