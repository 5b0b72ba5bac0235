// Einsum: of one operand a transposition or a sum, of two a matrix product, of more a chain of both.
#include <algorithm>
#include <map>
#include <optional>

#include "core/ops/families.h"
#include "core/ops/products/einsum.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

/// One term's letters, with the axes of an ellipsis as digits; `rank` of the operand, or -1 for the result.
std::string letters_of_term(const OperatorUse& use, const std::string& term, std::int64_t rank) {
  const auto bad = [&] {
    refuse(use, "unsupported_attribute", "term '" + term + "' of the equation is not understood");
  };
  const std::size_t dots = term.find("...");
  std::string letters = term;
  if (dots != std::string::npos) {
    std::int64_t covered = rank - (std::ssize(term) - 3);
    if (covered < 0 || covered > 10) bad();
    std::string digits;
    for (; covered > 0; --covered) digits += static_cast<char>('9' + 1 - covered);
    letters = term.substr(0, dots) + digits + term.substr(dots + 3);
  }
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const char c = letters[i];
    const bool digit = c >= '0' && c <= '9';
    const bool own = dots == std::string::npos || i < dots || i >= dots + (letters.size() + 3 - term.size());
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (digit && !own))) bad();
  }
  return letters;
}

/// The terms before the arrow and, where there is one, the result behind it.
std::pair<std::vector<std::string>, std::optional<std::string>> split_equation(const OperatorUse& use) {
  std::string text = string_attribute(use, "equation", "");
  std::erase(text, ' ');
  std::vector<std::string> terms;
  const std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  for (std::size_t comma = left.find(','); comma != std::string::npos; comma = left.find(',')) {
    terms.push_back(left.substr(0, comma));
    left.erase(0, comma + 1);
  }
  terms.push_back(left);
  if (arrow == std::string::npos) return {terms, std::nullopt};
  return {terms, text.substr(arrow + 2)};
}

/// Without an arrow the result has the ellipsis' axes and then the letters that stand once, in alphabetical order.
std::string default_result(const Equation& equation) {
  std::map<char, int> seen;
  for (const std::string& term : equation.terms) {
    for (char letter : term) ++seen[letter];
  }
  std::string result;
  for (auto [letter, count] : seen) {  // digits come before letters
    if (count == 1 || letter <= '9') result += letter;
  }
  return result;
}

Equation equation_of(const OperatorUse& use) {
  const auto [terms, result] = split_equation(use);
  Equation equation;
  const auto bad = [&] { refuse(use, "shape_mismatch", "the equation does not fit the operands' shapes"); };
  if (terms.size() != use.inputs.size()) bad();
  std::int64_t widest = 0;  // axes under the widest ellipsis
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const Shape& shape = input(use, t).shape;
    const std::string letters = letters_of_term(use, terms[t], std::ssize(shape));
    if (letters.size() != shape.size()) bad();
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const bool dotted = letters[i] <= '9';
      if (dotted) widest = std::max<std::int64_t>(widest, '9' + 1 - letters[i]);
      const auto [at, fresh] = equation.sizes.emplace(letters[i], shape[i]);
      if (fresh || at->second == shape[i] || (dotted && shape[i] == 1)) continue;
      if (!dotted || at->second != 1) bad();
      at->second = shape[i];
    }
    equation.terms.push_back(letters);
  }
  const bool dots = result && result->find("...") != std::string::npos;
  equation.result = !result ? default_result(equation)
                            : letters_of_term(use, *result, dots ? std::ssize(*result) - 3 + widest : -1);
  for (std::size_t i = 0; i < equation.result.size(); ++i) {
    if (!equation.sizes.contains(equation.result[i]) || equation.result.find(equation.result[i]) != i) bad();
  }
  for (const EinsumStep& step : steps_of(equation)) element_count(letter_sizes(equation, step.kept));
  return equation;
}

std::vector<Operand> infer_einsum(const OperatorUse& use) {
  const Equation equation = equation_of(use);
  return {typed(input(use, 0).type, letter_sizes(equation, equation.result))};
}

/// Letters of both operands and the result are independent products, of one and the result rows or columns, the
/// rest is summed over. A weight operand gives the output channels, and, when it has no letter of the products,
/// they are rows.
Work product_work(const OperatorUse& use, const Equation& equation) {
  const bool swapped = input(use, 0).weight && !input(use, 1).weight;
  const std::string& rows = equation.terms[swapped ? 1 : 0];
  const std::string& columns = equation.terms[swapped ? 0 : 1];
  Shape products, m, n, k;
  for (const auto& [letter, size] : equation.sizes) {
    const bool in_rows = has_letter(rows, letter), in_columns = has_letter(columns, letter);
    if (!has_letter(equation.result, letter)) {
      k.push_back(size);
    } else if (in_rows && in_columns) {
      products.push_back(size);
    } else {
      (in_rows ? m : n).push_back(size);
    }
  }
  Work work;
  work.family = input(use, 0).weight || input(use, 1).weight ? Family::linear : Family::matmul;
  work.nest.groups = element_count(products);
  work.nest.out_h = work.nest.in_h = element_count(m);
  work.nest.out_channels = element_count(n);
  work.nest.in_channels = element_count(k);
  return work;
}

/// More than two operands are multiplied two by two, element by element: no circuit of products takes them.
Work chain_work(const OperatorUse& use, const Equation& equation, std::span<const Operand> outputs) {
  double operations = 0;
  for (const EinsumStep& step : steps_of(equation)) operations += multiply_adds(equation, step);
  if (operations > 0x1p53) refuse(use, "model_too_large", "it has more than 2^53 multiply-adds");
  Work work = copy_work(use, outputs);
  work.row_length = static_cast<std::int64_t>(operations);
  return work;
}

bool stands_twice(const std::string& term) {
  return std::any_of(term.begin(), term.end(),
                     [&](char letter) { return term.find(letter) != term.rfind(letter); });
}

Work einsum_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Equation equation = equation_of(use);
  if (equation.terms.size() == 2) return product_work(use, equation);
  if (equation.terms.size() > 2) return chain_work(use, equation, outputs);
  Work work = copy_work(use, outputs);
  const bool permutes = equation.result.size() == equation.terms[0].size() && !stands_twice(equation.terms[0]);
  work.family = permutes ? Family::transpose : Family::vector;
  if (work.family == Family::vector) work.row_length = work.read_elements[0];
  if (equation.result == equation.terms[0]) return view_work(use, outputs);
  return work;
}

template <class T>
std::vector<T> contracted(const OperatorUse& use, const Equation& equation, std::vector<std::vector<T>> tensors) {
  std::vector<Shape> shapes;
  std::int64_t stored = 0;
  for (const Operand* operand : use.inputs) {
    shapes.push_back(operand->shape);
    stored += element_count(operand->shape);
  }
  for (const EinsumStep& step : steps_of(equation)) require_bounded(use, multiply_adds(equation, step), stored);
  return contracted(equation, shapes, std::move(tensors), use.stop);
}

void compute_einsum(const OperatorUse& use, std::span<Operand> outputs) {
  const Equation equation = equation_of(use);
  std::vector<std::vector<double>> floats;
  std::vector<std::vector<std::uint64_t>> ints;
  for (std::size_t i = 0; i < use.inputs.size(); ++i) {
    floats.push_back(doubles_of(use, i));
    ints.emplace_back(use.inputs[i]->value->ints.begin(), use.inputs[i]->value->ints.end());
  }
  const bool of_integers = std::none_of(use.inputs.begin(), use.inputs.end(),
                                        [](const Operand* operand) { return is_floating(operand->type); });
  if (!of_integers) return set_doubles(outputs[0], contracted(use, equation, std::move(floats)));
  const auto sums = contracted(use, equation, std::move(ints));
  set_ints(outputs[0], {sums.begin(), sums.end()});
}

constexpr Operator einsum_operators[] = {
    {"", "Einsum", "matmul", 1, 64, "equation", infer_einsum, einsum_work, compute_einsum, "12"},
};

}  // namespace

std::span<const Operator> einsum_rows() { return einsum_operators; }

}  // namespace sdip
