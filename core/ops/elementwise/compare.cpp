// Comparisons of two operands, element by element, and the choice between two by a third.
#include <functional>

#include "core/ops/families.h"
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
  const auto compare = [&](auto elements, auto f) {
    set_ints(outputs[0], broadcast_pairs<std::int64_t>(a, b, elements, outputs[0].shape, f));
  };
  if (is_floating(a.type)) return compare(&Tensor::floats, Op());
  compare(&Tensor::ints, [&](auto x, auto y) { return Op()(sort_key(a.type, x), sort_key(a.type, y)); });
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
  const BroadcastIndex at = broadcast_index(condition.shape, shape), at_yes = broadcast_index(yes.shape, shape),
                       at_no = broadcast_index(no.shape, shape);
  Tensor out = zero_tensor(yes.type, shape);
  const auto choose = [&](auto elements) {
    for (std::size_t i = 0; i < (out.*elements).size(); ++i)
      (out.*elements)[i] = condition.ints[at[i]] != 0 ? (yes.*elements)[at_yes[i]] : (no.*elements)[at_no[i]];
  };
  is_floating(yes.type) ? choose(&Tensor::floats) : choose(&Tensor::ints);
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
