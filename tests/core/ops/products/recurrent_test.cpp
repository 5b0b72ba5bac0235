// What recurrent layers compute.
#include "tests/core/ops/computed.h"

namespace sdip {
namespace {

const Operand one_alone = tensor({1, 1, 1}, {1}), half_alone = tensor({1, 1, 1}, {0.5});
const Attributes as_it_is = {{"activations", std::vector<std::string>{"Affine"}}};

/// h = x + h / 2 over 1, 2, 4: 1, 2.5, 5.25.
Use plain(Attributes attributes = {}, std::vector<Operand> more = {}) {
  attributes.insert(as_it_is.begin(), as_it_is.end());
  Use use{"RNN", {tensor({3, 1, 1}, {1, 2, 4}), one_alone, half_alone}, attributes, 14, 2};
  use.inputs.insert(use.inputs.end(), more.begin(), more.end());
  return use;
}

TEST(rnn, each_step_sees_the_one_before) {
  EXPECT_EQ(values_of(plain()), (Doubles{1, 2.5, 5.25}));
  EXPECT_EQ(values_of(plain(), 1), (Doubles{5.25}));
  EXPECT_EQ(values_of(plain({{"clip", 2.0}})), (Doubles{1, 2, 2}));
}

TEST(rnn, backwards_and_both_ways) {
  EXPECT_EQ(values_of(plain({{"direction", text("reverse")}})), (Doubles{3, 4, 4}));
  Use both = plain({{"direction", text("bidirectional")}});
  both.attributes["activations"] = std::vector<std::string>{"Affine", "Affine"};
  both.inputs[1] = tensor({2, 1, 1}, {1, 1});
  both.inputs[2] = tensor({2, 1, 1}, {0.5, 0.5});
  EXPECT_EQ(values_of(both), (Doubles{1, 3, 2.5, 4, 5.25, 4}));
  EXPECT_EQ(values_of(both, 1), (Doubles{5.25, 3}));
}

TEST(rnn, behind_a_sequence_s_length_is_nothing) {
  const Operand length = tensor({1}, {2}, ElementType::int32);
  EXPECT_EQ(values_of(plain({}, {absent(), length})), (Doubles{1, 2.5, 0}));
  EXPECT_EQ(values_of(plain({}, {absent(), length}), 1), (Doubles{2.5}));
  EXPECT_EQ(values_of(plain({{"direction", text("reverse")}}, {absent(), length})), (Doubles{2, 2, 0}));
  const Operand longer = tensor({1}, {4}, ElementType::int32);
  EXPECT_EQ(computing_code_of(plain({}, {absent(), longer})), "shape_mismatch");
}

TEST(rnn, the_batch_may_stand_first) {
  const Use use{"RNN",
                {tensor({1, 3, 1}, {1, 2, 4}), one_alone, half_alone},
                {{"layout", number(1)}, *as_it_is.begin()},
                14,
                2};
  EXPECT_EQ(computed(use).at(0).shape, (Shape{1, 3, 1, 1}));
  EXPECT_EQ(values_of(use), (Doubles{1, 2.5, 5.25}));
}

TEST(gru, the_reset_gate_works_before_or_behind_the_product) {
  // z = r = sigmoid(0) = 1/2; the candidate sees h = 4 by weight 1 and bias 2
  const Operand x = tensor({1, 1, 1}, {0}), w = tensor({1, 3, 1}, {0, 0, 0}), r = tensor({1, 3, 1}, {0, 0, 1});
  const Operand bias = tensor({1, 6}, {0, 0, 0, 0, 0, 2}), h = tensor({1, 1, 1}, {4});
  Attributes attributes = {{"activations", std::vector<std::string>{"Sigmoid", "Affine"}}};
  EXPECT_EQ(values_of({"GRU", {x, w, r, bias, absent(), h}, attributes, 14}), (Doubles{4}));  // (4/2 + 2 + 4) / 2
  attributes["linear_before_reset"] = std::int64_t{1};
  EXPECT_EQ(values_of({"GRU", {x, w, r, bias, absent(), h}, attributes, 14}),
            (Doubles{3.5}));  // ((4 + 2)/2 + 4) / 2
}

TEST(lstm, gates_peep_into_the_cell) {
  const Operand x = tensor({1, 1, 1}, {1}), w = tensor({1, 4, 1}, {0, 0, 0, 2}),
                r = tensor({1, 4, 1}, {0, 0, 0, 0});
  const Operand cell = tensor({1, 1, 1}, {3}), peep = tensor({1, 3}, {1, 0.5, 0});
  Use use{"LSTM",
          {x, w, r, absent(), absent(), absent(), cell, peep},
          {{"activations", std::vector<std::string>{"Affine", "Affine", "Affine"}}},
          14,
          3};
  // i = 3, f = 0, c = 0 * 3 + 3 * 2 = 6, o = 6 / 2, h = 3 * 6
  EXPECT_EQ(values_of(use), (Doubles{18}));
  EXPECT_EQ(values_of(use, 2), (Doubles{6}));
  use.attributes["input_forget"] = std::int64_t{1};  // f = 1 - 3
  EXPECT_EQ(values_of(use, 2), (Doubles{0}));
}

TEST(recurrent, parameters_go_to_the_activations_that_take_them) {
  Use use = plain();
  use.attributes = {{"activations", std::vector<std::string>{"LeakyRelu"}},
                    {"activation_alpha", std::vector<double>{0.5}}};
  use.inputs[0] = tensor({1, 1, 1}, {-4});
  EXPECT_EQ(values_of(use), (Doubles{-2}));
  use.attributes["activations"] = std::vector<std::string>{"Maxout"};
  EXPECT_EQ(code_of(use), "unsupported_attribute");
}

TEST(recurrent, its_nest_multiplies_input_and_state_by_all_gates) {
  const Work work = work_of({"LSTM",
                             {floats({10, 3, 16}), weight({2, 32, 16}), weight({2, 32, 8})},
                             {{"direction", text("bidirectional")}},
                             14});
  EXPECT_EQ(work.family, Family::linear);
  EXPECT_EQ(mac_count(work.nest), 2 * 10 * 3 * 32 * (16 + 8));
}

}  // namespace
}  // namespace sdip
