// Any use of any operator is computed or refused: random types, shapes, values, attributes and opsets, from a seed.
#include <cmath>
#include <random>
#include <sstream>

#include "tests/core/ops/values_of.h"

namespace sdip {
namespace {

using Random = std::mt19937_64;  // the standard says which numbers it makes, so the uses are the same everywhere

template <class T>
T one_of(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + static_cast<std::ptrdiff_t>(random() % choices.size()));
}

std::int64_t any_int(Random& random) {
  return one_of<std::int64_t>(random,
                              {-2, -1, 0, 0, 1, 1, 2, 3, 7, 200, std::int64_t{1} << 40, INT64_MIN, INT64_MAX});
}

double any_float(Random& random) {
  return one_of(random, {-2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0, 1e9, 1e300, HUGE_VAL, -HUGE_VAL, std::nan("")});
}

Operand any_operand(Random& random) {
  Operand operand;
  operand.type = one_of<ElementType>(
      random, {ElementType::float32, ElementType::float32, ElementType::float16, ElementType::int64,
               ElementType::int64, ElementType::int8, ElementType::uint64, ElementType::uint8, ElementType::boolean,
               ElementType::float8e4m3fnuz, ElementType::int4, ElementType::float8e8m0, ElementType::int2,
               ElementType::string});
  for (std::uint64_t rank = random() % 5; rank > 0; --rank) {
    operand.shape.push_back(random() % 40 == 0 ? std::int64_t{1} << 40
                                               : one_of<std::int64_t>(random, {0, 1, 1, 2, 2, 3}));
  }
  if (random() % 8 == 0) operand.shape = {4};
  const bool countable = std::count(operand.shape.begin(), operand.shape.end(), std::int64_t{1} << 40) <= 1;
  const std::int64_t count = countable ? element_count(operand.shape) : -1;
  if (count < 0 || count > 64 || random() % 6 == 0 || operand.type == ElementType::string) return operand;
  Tensor value = zero_tensor(operand.type, operand.shape);
  for (double& x : value.floats) x = rounded(operand.type, any_float(random));
  for (std::int64_t& x : value.ints) x = wrapped(operand.type, any_int(random));
  operand.value = std::move(value);
  return operand;
}

Attribute any_attribute(Random& random) {
  switch (random() % 5) {
    case 0:
      return any_float(random);
    case 1:
      return std::string(
          one_of(random, {"none", "add", "max", "mean", "tanh", "wrap", "edge", "reflect", "LEFT", "CRD"}));
    case 2: {
      Ints list(random() % 4);
      for (std::int64_t& x : list) x = any_int(random);
      return list;
    }
    default:
      return any_int(random);
  }
}

struct Outcome {
  int computed = 0, refused = 0;
};

void try_use(const Operator& op, Random& random, Outcome& outcome) {
  std::vector<Operand> operands(op.least_inputs + random() % 3);
  for (Operand& operand : operands)
    operand = random() % 3 != 0 && &operand != operands.data() ? operands[0] : any_operand(random);
  std::vector<const Operand*> inputs;
  for (const Operand& operand : operands) inputs.push_back(random() % 20 == 0 ? nullptr : &operand);
  Attributes attributes;
  std::istringstream names{std::string(op.attributes)};
  for (std::string name; names >> name;) {
    if (random() % 3 == 0) attributes.emplace(name, any_attribute(random));
  }
  const OperatorUse use{"n",         op.type, 7 + static_cast<std::int64_t>(random() % 21),
                        &attributes, inputs,  1 + random() % 2};
  try {
    const auto outputs = infer_use(op, use);
    for (const Operand& out : outputs) {
      if (!out.value) continue;
      const auto held = std::ssize(out.value->floats) + std::ssize(out.value->ints);
      EXPECT_EQ(held, element_count(out.shape)) << op.type;
      EXPECT_EQ(out.value->shape, out.shape) << op.type;
      EXPECT_EQ(out.value->type, out.type) << op.type;
      EXPECT_TRUE(is_floating(out.type) || out.value->floats.empty()) << op.type;
    }
    op.work(use, outputs);
    ++outcome.computed;
  } catch (const Error& error) {
    EXPECT_NE(error.code, "") << op.type;
    ++outcome.refused;
  } catch (const std::exception& error) {
    ADD_FAILURE() << op.type << " of opset " << use.opset << ": " << error.what();
  }
}

TEST(any_use, is_computed_or_refused) {
  Outcome outcome;
  for (const Operator& op : operators()) {
    if (op.infer == nullptr || op.compute == nullptr) continue;
    Random random(1);
    for (int i = 0; i < 1'000; ++i) try_use(op, random, outcome);
  }
  EXPECT_GT(outcome.computed, 5'000);
  EXPECT_GT(outcome.refused, 20'000);
}

}  // namespace
}  // namespace sdip
