// Einsum of one operand (a transposition or a sum) or two (a matrix product).
#include <algorithm>
#include <map>

#include "core/ops/families.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// "bij,bjd->bid" over [8,64,40] and [8,40,77]: terms {"bij","bjd"}, result "bid", sizes {b:8, i:64, ...}.
struct Equation {
  std::vector<std::string> terms;
  std::string result;
  std::map<char, std::int64_t> sizes;
};

Equation split_equation(const OperatorUse& use) {
  std::string text = string_attribute(use, "equation", "");
  std::erase(text, ' ');
  Equation equation;
  const std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  for (std::size_t comma = left.find(','); comma != std::string::npos; comma = left.find(',')) {
    equation.terms.push_back(left.substr(0, comma));
    left.erase(0, comma + 1);
  }
  equation.terms.push_back(left);
  std::map<char, int> seen;
  for (const std::string& term : equation.terms) {
    for (char letter : term) {
      if (!((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))) {
        refuse(use, "unsupported_attribute", "equation '" + text + "' is not understood");
      }
      ++seen[letter];
    }
  }
  if (arrow != std::string::npos) {
    equation.result = text.substr(arrow + 2);
  } else {  // without an arrow: the letters that stand once, in alphabetical order
    for (auto [letter, count] : seen) {
      if (count == 1) equation.result += letter;
    }
  }
  return equation;
}

Equation equation_of(const OperatorUse& use) {
  Equation equation = split_equation(use);
  const auto bad = [&] { refuse(use, "shape_mismatch", "the equation does not fit the operands' shapes"); };
  if (equation.terms.size() != use.inputs.size()) bad();
  for (std::size_t t = 0; t < equation.terms.size(); ++t) {
    const std::string& term = equation.terms[t];
    const Shape& shape = input(use, t).shape;
    if (term.size() != shape.size()) bad();
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (term.find(term[i]) != i) refuse(use, "unsupported_attribute", "a letter stands twice in one term");
      const auto [at, fresh] = equation.sizes.emplace(term[i], shape[i]);
      if (!fresh && at->second != shape[i]) bad();
    }
  }
  for (std::size_t i = 0; i < equation.result.size(); ++i) {
    if (!equation.sizes.contains(equation.result[i]) || equation.result.find(equation.result[i]) != i) bad();
  }
  return equation;
}

std::vector<Operand> infer_einsum(const OperatorUse& use) {
  const Equation equation = equation_of(use);
  Operand out;
  out.type = input(use, 0).type;
  for (char letter : equation.result) out.shape.push_back(equation.sizes.at(letter));
  return {out};
}

bool holds(const std::string& term, char letter) { return term.find(letter) != std::string::npos; }

/// Letters of both operands and the result are independent products, of one and the result rows or columns, the
/// rest is summed over. A weight operand gives the output channels, and, when it has no letter of the products,
/// they are rows.
Work product_work(const OperatorUse& use, const Equation& equation) {
  const bool swapped = input(use, 0).weight && !input(use, 1).weight;
  const std::string& rows = equation.terms[swapped ? 1 : 0];
  const std::string& columns = equation.terms[swapped ? 0 : 1];
  Shape products, m, n, k;
  for (const auto& [letter, size] : equation.sizes) {
    const bool in_rows = holds(rows, letter), in_columns = holds(columns, letter);
    if (!holds(equation.result, letter)) {
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

Work einsum_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Equation equation = equation_of(use);
  if (equation.terms.size() == 2) return product_work(use, equation);
  Work work = copy_work(use, outputs);
  work.family = equation.result.size() == equation.terms[0].size() ? Family::transpose : Family::vector;
  if (work.family == Family::vector) work.row_length = work.read_elements[0];
  if (equation.result == equation.terms[0]) return view_work(use, outputs);
  return work;
}

constexpr Operator rows[] = {
    {"", "Einsum", "matmul", 1, 2, "equation", infer_einsum, einsum_work},
};

}  // namespace

std::span<const Operator> einsum_rows() { return rows; }

}  // namespace sdip
