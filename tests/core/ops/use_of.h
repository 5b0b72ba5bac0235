// One use of an operator, for tests: operands and attributes given, outputs and work asked for.
#pragma once

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/ops/operator.h"

namespace sdip {

struct Use {
  std::string type;
  std::vector<Operand> inputs;
  Attributes attributes = {};
  std::int64_t opset = 17;
  std::size_t output_count = 1;
  std::string domain = "";
};

inline Operand floats(Shape shape) {
  Operand operand;
  operand.shape = std::move(shape);
  return operand;
}

inline Operand weight(Shape shape) {
  Operand operand = floats(std::move(shape));
  operand.weight = true;
  return operand;
}

/// A constant list of integers, as the second operand of Reshape.
inline Operand ints(std::vector<std::int64_t> values) {
  Operand operand;
  operand.type = ElementType::int64;
  operand.shape = {std::ssize(values)};
  operand.value = Tensor{ElementType::int64, operand.shape, std::move(values), {}};
  operand.weight = true;
  return operand;
}

template <class Then>
auto with_use(const Use& given, Then then) {
  const Operator* op = find_operator(given.domain, given.type);
  if (op == nullptr) throw std::runtime_error("no operator " + given.type);
  std::vector<const Operand*> inputs;
  for (const Operand& operand : given.inputs) inputs.push_back(&operand);
  return then(*op, OperatorUse{"n", given.type, given.opset, &given.attributes, inputs, given.output_count});
}

inline std::vector<Operand> outputs_of(const Use& given) {
  return with_use(given, [](const Operator& op, const OperatorUse& use) { return infer_use(op, use); });
}

inline Shape shape_of(const Use& given) { return outputs_of(given).at(0).shape; }

inline Work work_of(const Use& given) {
  return with_use(given,
                  [](const Operator& op, const OperatorUse& use) { return op.work(use, infer_use(op, use)); });
}

inline std::string code_of(const Use& given) {
  try {
    outputs_of(given);
  } catch (const Error& error) {
    return error.code;
  }
  return "no error";
}

using Ints = std::vector<std::int64_t>;

}  // namespace sdip
