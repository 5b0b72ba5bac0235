// Parsing and evaluating integer expressions.
#include "core/ops/expression.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/error.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

using Step = Expression::Step;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Recursive descent over the text; every call goes through `deeper`, which bounds the recursion.
class Parser {
 public:
  Parser(std::string_view text, const ExpressionNames& names, const std::string& where)
      : text_(text), names_(names), where_(where) {
    if (text.size() > most_expression_bytes)
      refuse(fmt::format("longer than {} characters", most_expression_bytes));
  }

  Expression whole() {
    Expression expression;
    expression.text = text_;
    sum();
    if (peek() != '\0') refuse("expected an operator or the end");
    expression.parts = std::move(parts_);
    return expression;
  }

  ShapeExpression::Item spread() {
    ShapeExpression::Item item;
    item.spread = true;
    at_ = 3;  // "..."
    const std::string name = word();
    item.list = std::ranges::find(names_.lists, name) != names_.lists.end();
    item.name = item.list ? index_of(names_.lists, name) : tensor(name);
    if (!item.list) expect(".shape");
    if (accept('[')) bounds(item);
    if (peek() != '\0') refuse("expected the end");
    return item;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error("operator_invalid", where_,
                fmt::format("'{}', character {}: {}", text_.substr(0, most_expression_bytes), at_ + 1, what));
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view wanted) {
    peek();
    if (text_.substr(at_, wanted.size()) != wanted) refuse("expected " + std::string(wanted));
    at_ += wanted.size();
  }
  std::string word() {
    peek();
    const std::size_t from = at_;
    while (at_ < text_.size() && is_name_byte(text_[at_])) ++at_;
    if (from == at_) refuse("expected a name");
    return std::string(text_.substr(from, at_ - from));
  }
  void add(Step step, std::int64_t value = 0) { parts_.push_back({step, value, false, false}); }

  std::size_t index_of(const std::vector<std::string>& names, const std::string& name) const {
    return as_size(std::ranges::find(names, name) - names.begin());
  }
  std::size_t tensor(const std::string& name) {
    const std::size_t index = index_of(names_.tensors, name);
    if (index == names_.tensors.size()) refuse("'" + name + "' is no tensor, attribute or function");
    return index;
  }

  void sum() {
    if (++depth_ > most_expression_depth) refuse("nested too deep");
    product();
    for (;;) {
      const char sign = peek();
      if (sign != '+' && sign != '-') break;
      ++at_;
      product();
      add(sign == '+' ? Step::add : Step::subtract);
    }
    --depth_;
  }
  void product() {
    factor();
    for (;;) {
      const char sign = peek();
      if (sign != '*' && sign != '/') break;
      ++at_;
      factor();
      add(sign == '*' ? Step::multiply : Step::divide);
    }
  }
  void factor() {
    bool negative = false;
    while (accept('-')) negative = !negative;
    const char first = peek();
    if (accept('(')) {
      sum();
      expect(")");
    } else if (first >= '0' && first <= '9') {
      number();
    } else {
      named();
    }
    if (negative) add(Step::negate);
  }
  void number() {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (problem != std::errc()) refuse("a number above 2^63 - 1");
    at_ = as_size(end - text_.data());
    add(Step::number, value);
  }

  void named() {
    const std::string name = word();
    if (peek() == '(') return call(name);
    if (const auto integer = index_of(names_.integers, name); integer < names_.integers.size())
      return add(Step::integer, static_cast<std::int64_t>(integer));
    if (const auto list = index_of(names_.lists, name); list < names_.lists.size()) {
      expect("[");
      sum();
      expect("]");
      return add(Step::element, static_cast<std::int64_t>(list));
    }
    const auto of = static_cast<std::int64_t>(tensor(name));
    expect(".");
    const std::string member = word();
    if (member == "rank") return add(Step::rank, of);
    if (member == "size") return add(Step::size, of);
    if (member == "given") return add(Step::given, of);
    if (member != "shape") refuse("expected shape, rank, size or given");
    expect("[");
    sum();
    expect("]");
    add(Step::size_at, of);
  }

  void call(const std::string& name) {
    expect("(");
    if (name == "product") {
      const auto of = static_cast<std::int64_t>(tensor(word()));
      expect(".shape");
      Expression::Part part{Step::count_between, of, false, false};
      if (accept('[')) {
        if (peek() != ':') sum(), part.from = true;
        expect(":");
        if (peek() != ']') sum(), part.to = true;
        expect("]");
      }
      parts_.push_back(part);
      return expect(")");
    }
    const Step step = name == "ceil_div" ? Step::ceil_div
                      : name == "min"    ? Step::min
                      : name == "max"    ? Step::max
                                         : Step::number;
    if (step == Step::number) refuse("no function '" + name + "'; there are ceil_div, min, max and product");
    sum();
    expect(",");
    sum();
    expect(")");
    add(step);
  }

  void bounds(ShapeExpression::Item& item) {
    const auto bound = [&](Expression& expression) {
      sum();
      expression.text = text_;
      expression.parts = std::exchange(parts_, {});
    };
    if (peek() != ':') bound(item.first), item.from = true;
    expect(":");
    if (peek() != ']') bound(item.last), item.to = true;
    expect("]");
  }

  std::string_view text_;
  const ExpressionNames& names_;
  const std::string& where_;
  std::size_t at_ = 0, depth_ = 0;
  std::vector<Expression::Part> parts_;
};

/// One evaluation: a stack, and refusals that show the expression.
struct Evaluation {
  const Expression& expression;
  const ExpressionValues& values;
  const OperatorUse& use;
  std::vector<std::int64_t> stack = {};

  [[noreturn]] void refuse_value(const std::string& what) const {
    refuse(use, "shape_mismatch", "'" + expression.text + "': " + what);
  }
  std::int64_t pop() {
    check(!stack.empty(), "an expression takes more than it has");
    const std::int64_t top = stack.back();
    stack.pop_back();
    return top;
  }
  const Shape& shape(std::int64_t name) const {
    const Shape* found = values.tensors.at(as_size(name));
    if (found == nullptr) refuse_value("an input that it needs is absent");
    return *found;
  }
  std::int64_t element(const std::vector<std::int64_t>& list, std::int64_t index) const {
    const auto size = static_cast<std::int64_t>(list.size());
    if (index < -size || index >= size)
      refuse_value(fmt::format("there is no element {} of {}", index, shape_text(list)));
    return list[at(index < 0 ? index + size : index)];
  }
  std::int64_t binary(Step step, std::int64_t a, std::int64_t b) const {
    std::int64_t result = 0;
    bool overflow = false;
    switch (step) {
      case Step::add:
        overflow = __builtin_add_overflow(a, b, &result);
        break;
      case Step::subtract:
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
      case Step::multiply:
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
      case Step::min:
        return std::min(a, b);
      case Step::max:
        return std::max(a, b);
      default:
        if (b == 0) refuse_value("division by zero");
        overflow = a == INT64_MIN && b == -1;
        if (overflow) break;
        result = a / b;
        if (step == Step::divide && a % b != 0 && (a < 0) != (b < 0)) --result;
        if (step == Step::ceil_div && a % b != 0 && (a < 0) == (b < 0)) ++result;
    }
    if (overflow) refuse_value("above 2^63 - 1");
    return result;
  }

  std::int64_t step(const Expression::Part& part);
};

/// Bounds of a slice as Python has them: counted from the end when negative, and clamped.
std::size_t bound_of(std::int64_t bound, std::size_t size) {
  const auto whole = static_cast<std::int64_t>(size);
  if (bound < 0) bound = bound < -whole ? 0 : bound + whole;
  return as_size(std::min(bound, whole));
}

std::int64_t Evaluation::step(const Expression::Part& part) {
  const auto name = as_size(part.value);
  switch (part.step) {
    case Step::number:
      return part.value;
    case Step::integer:
      return values.integers.at(name);
    case Step::element:
      return element(*values.lists.at(name), pop());
    case Step::size_at:
      return element(shape(part.value), pop());
    case Step::rank:
      return static_cast<std::int64_t>(shape(part.value).size());
    case Step::size:
      return element_count(shape(part.value));
    case Step::given:
      return values.tensors.at(name) != nullptr ? 1 : 0;
    case Step::count_between: {
      const Shape& of = shape(part.value);
      const std::size_t to = part.to ? bound_of(pop(), of.size()) : of.size();
      const std::size_t from = part.from ? bound_of(pop(), of.size()) : 0;
      return count_between(of, from, to);
    }
    case Step::negate:
      return binary(Step::subtract, 0, pop());
    default: {
      const std::int64_t b = pop(), a = pop();
      return binary(part.step, a, b);
    }
  }
}

}  // namespace

Expression parse_expression(std::string_view text, const ExpressionNames& names, const std::string& where) {
  return Parser(text, names, where).whole();
}

std::int64_t number_of(const Expression& expression, const ExpressionValues& values, const OperatorUse& use) {
  Evaluation evaluation{expression, values, use};
  for (const Expression::Part& part : expression.parts) {
    const std::int64_t value = evaluation.step(part);
    evaluation.stack.push_back(value);
  }
  return evaluation.pop();
}

ShapeExpression parse_shape(const std::vector<std::string>& texts, const ExpressionNames& names,
                            const std::string& where) {
  if (texts.size() > most_shape_items)
    throw Error("operator_invalid", where, fmt::format("more than {} items", most_shape_items));
  ShapeExpression shape;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string at = fmt::format("{}/{}", where, i);
    Parser parser(texts[i], names, at);
    ShapeExpression::Item item;
    if (texts[i].starts_with("..."))
      item = parser.spread();
    else
      item.value = parser.whole();
    shape.items.push_back(std::move(item));
  }
  return shape;
}

Shape sizes_of(const ShapeExpression& shape, const ExpressionValues& values, const OperatorUse& use) {
  Shape sizes;
  for (const ShapeExpression::Item& item : shape.items) {
    if (!item.spread) {
      sizes.push_back(number_of(item.value, values, use));
      if (sizes.back() < 0) refuse(use, "shape_mismatch", "'" + item.value.text + "' is negative");
      continue;
    }
    const std::vector<std::int64_t>* of = item.list ? values.lists.at(item.name) : values.tensors.at(item.name);
    if (of == nullptr) refuse(use, "shape_mismatch", "the shape needs an input that is absent");
    const std::size_t from = item.from ? bound_of(number_of(item.first, values, use), of->size()) : 0;
    const std::size_t to = item.to ? bound_of(number_of(item.last, values, use), of->size()) : of->size();
    for (std::size_t i = from; i < to; ++i) {
      sizes.push_back((*of)[i]);
      if (sizes.back() < 0) refuse(use, "shape_mismatch", "a size of the output is negative");
    }
  }
  if (sizes.size() > 4 * most_shape_items) refuse(use, "shape_mismatch", "an output of too many dimensions");
  return sizes;
}

}  // namespace sdip
