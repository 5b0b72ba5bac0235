// Comparisons of two operands, element by element, and the choice between two by a third.
#include <functional>

#include "core/ops/families.h"
#include "core/ops/use.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

bool is_comparable(ElementType type) { return type != ElementType::string; }

std::vector<Operand> infer_comparison(const OperatorUse& use) {
  const Operand &a = input(use, 0), &b = input(use, 1);
  require_same_type(use, a, b, "operands are");
  require_type(use, 0, use.type == "Equal" ? is_comparable : is_number,
               use.type == "Equal" ? "a number or boolean" : "a number");
  return {typed(ElementType::boolean, broadcast(use, a.shape, b.shape))};
}

template <class Op>
void compute_comparison(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor &a = value_of(use, 0), &b = value_of(use, 1);
  const Spread at_a = spread(a.shape, outputs[0].shape), at_b = spread(b.shape, outputs[0].shape);
  std::vector<std::int64_t> values(as_size(element_count(outputs[0].shape)));
  if (is_floating(a.type)) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = Op()(a.floats[at_a[i]], b.floats[at_b[i]]);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = Op()(sort_key(a.type, a.ints[at_a[i]]), sort_key(b.type, b.ints[at_b[i]]));
  }
  give_ints(outputs[0], std::move(values));
}

std::vector<Operand> infer_where(const OperatorUse& use) {
  const Operand &condition = input(use, 0), &yes = input(use, 1), &no = input(use, 2);
  require_type(use, 0, is_boolean, "a boolean");
  require_same_type(use, yes, no, "what is chosen between is");
  return {typed(yes.type, broadcast(use, broadcast(use, condition.shape, yes.shape), no.shape))};
}

void compute_where(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor &condition = value_of(use, 0), &yes = value_of(use, 1), &no = value_of(use, 2);
  const Shape& shape = outputs[0].shape;
  const Spread at = spread(condition.shape, shape), at_yes = spread(yes.shape, shape),
               at_no = spread(no.shape, shape);
  Tensor out = zero_tensor(yes.type, shape);
  const auto choose = [&](const auto& from_yes, const auto& from_no, auto& to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = condition.ints[at[i]] != 0 ? from_yes[at_yes[i]] : from_no[at_no[i]];
  };
  is_floating(yes.type) ? choose(yes.floats, no.floats, out.floats) : choose(yes.ints, no.ints, out.ints);
  outputs[0].value = std::move(out);
}

constexpr Operator compare_operators[] = {
    {"", "Equal", "equal", 2, 2, "", infer_comparison, elementwise_work, compute_comparison<std::equal_to<>>,
     "7 11 13 19"},
    {"", "Greater", "greater", 2, 2, "", infer_comparison, elementwise_work, compute_comparison<std::greater<>>,
     "7 9 13"},
    {"", "GreaterOrEqual", "greater_or_equal", 2, 2, "", infer_comparison, elementwise_work,
     compute_comparison<std::greater_equal<>>, "12 16"},
    {"", "Less", "less", 2, 2, "", infer_comparison, elementwise_work, compute_comparison<std::less<>>, "7 9 13"},
    {"", "LessOrEqual", "less_or_equal", 2, 2, "", infer_comparison, elementwise_work,
     compute_comparison<std::less_equal<>>, "12 16"},
    {"", "Where", "where", 3, 3, "", infer_where, elementwise_work, compute_where, "9 16"},
};

}  // namespace

std::span<const Operator> compare_rows() { return compare_operators; }

}  // namespace sdip
