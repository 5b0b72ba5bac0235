// Composites of any shapes, types, absent inputs and attributes are expanded or refused, never anything else.
#include <gtest/gtest.h>

#include <random>

#include "core/base/error.h"
#include "core/graph/graph.h"

namespace sdip {
namespace {

Attribute random_attribute(std::minstd_rand& random) {
  switch (random() % 6) {
    case 0:
      return 0.5;
    case 1:
      return std::string("Relu");
    case 2:
      return std::vector<std::int64_t>{1, 2, 1};
    case 3:
      return std::int64_t{-1} - static_cast<std::int64_t>(random() % 2) * (INT64_MAX - 1);
    case 4:
      return INT64_MAX - static_cast<std::int64_t>(random() % 3);
    default:
      return static_cast<std::int64_t>(random() % 4);
  }
}

void expand_one(const Operator& op, std::minstd_rand& random, std::int64_t& expanded) {
  Graph graph;
  Node node;
  node.name = "n";
  node.op = &op;
  node.opset = 23;
  const std::size_t count =
      op.least_inputs + random() % (std::min<std::size_t>(op.most_inputs, 16) - op.least_inputs + 1);
  const std::size_t rank = 1 + random() % 5;
  constexpr ElementType types[] = {ElementType::float32, ElementType::int32, ElementType::boolean,
                                   ElementType::float16};
  for (std::size_t i = 0; i < count; ++i) {
    Value value;
    value.kind = ValueKind::input;
    value.operand.type = random() % 8 == 0 ? types[random() % 4] : ElementType::float32;
    const std::size_t own = random() % 4 == 0 ? random() % 6 : rank;
    for (std::size_t axis = 0; axis < own; ++axis)
      value.operand.shape.push_back(random() % 40 == 0 ? std::int64_t{1} << 40
                                                       : static_cast<std::int64_t>(random() % 3) * 2);
    graph.values.push_back(std::move(value));
    node.inputs.push_back(random() % 6 == 0 ? none : static_cast<ValueId>(i));
  }
  for (std::size_t from = 0; from < op.attributes.size();) {
    const std::size_t end = std::min(op.attributes.find(' ', from), op.attributes.size());
    if (random() % 2 == 0)
      node.attributes.emplace(op.attributes.substr(from, end - from), random_attribute(random));
    from = end + 1;
  }
  const std::size_t outputs = 1 + random() % 3;
  for (std::size_t i = 0; i < outputs; ++i) {
    graph.values.emplace_back();
    node.outputs.push_back(static_cast<ValueId>(graph.values.size() - 1));
  }
  try {
    append_node(graph, std::move(node));
    ++expanded;
  } catch (const Error&) {
  }
}

TEST(composites, of_anything_are_expanded_or_refused) {
  std::minstd_rand random(5);
  std::int64_t expanded = 0;
  for (const Operator& op : operators()) {
    if (op.expand == nullptr) continue;
    for (int i = 0; i < 3000; ++i) ASSERT_NO_THROW(expand_one(op, random, expanded)) << op.type;
  }
  EXPECT_GT(expanded, 100);
}

}  // namespace
}  // namespace sdip
