// The steps of an Einsum, and its sums of products in plain loops.
#include <algorithm>

#include "core/ops/fold.h"
#include "core/ops/products/einsum.h"

namespace sdip {
namespace {

/// Letters of both, each once, in the order in which they come.
std::string letters_of(const std::string& a, const std::string& b) {
  std::string all;
  for (char letter : a + b) {
    if (!has_letter(all, letter)) all += letter;
  }
  return all;
}

/// A step, which keeps those of its letters that are wanted afterwards. The last step keeps the result as it is.
EinsumStep step_of(std::size_t first, std::size_t second, const std::string& a, const std::string& b,
                   const std::string& wanted) {
  EinsumStep step{first, second, a, b, "", ""};
  for (char letter : letters_of(a, b)) (has_letter(wanted, letter) ? step.kept : step.summed) += letter;
  return step;
}

/// Letters of the result and of all terms but `except`.
std::string letters_elsewhere(const Equation& equation, std::size_t except, std::size_t from) {
  std::string letters = equation.result;
  for (std::size_t t = from; t < equation.terms.size(); ++t) {
    if (t != except) letters += equation.terms[t];
  }
  return letters;
}

/// How far the element moves in a tensor when each of `letters` goes on by one. A letter that stands twice moves
/// along the diagonal; an axis of size 1 under a larger letter stays.
std::vector<std::int64_t> strides_over(const std::string& letters, const std::string& term, const Shape& shape) {
  const std::vector<std::int64_t> strides = strides_of(shape);
  std::vector<std::int64_t> moves(letters.size(), 0);
  for (std::size_t l = 0; l < letters.size(); ++l) {
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (term[i] == letters[l] && shape[i] != 1) moves[l] += strides[i];
    }
  }
  return moves;
}

std::int64_t offset_of(const std::vector<std::int64_t>& index, const std::vector<std::int64_t>& moves) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * moves[i];
  return offset;
}

}  // namespace

Shape letter_sizes(const Equation& equation, const std::string& letters) {
  Shape sizes;
  for (char letter : letters) sizes.push_back(equation.sizes.at(letter));
  return sizes;
}

std::vector<EinsumStep> steps_of(const Equation& equation) {
  std::vector<EinsumStep> steps;
  const std::size_t count = equation.terms.size();
  std::size_t current = 0;
  std::string letters;
  for (std::size_t t = 0; t < count; ++t) {
    std::size_t number = t;
    std::string term = equation.terms[t];
    EinsumStep alone = step_of(t, t, term, "", letters_elsewhere(equation, t, 0));
    if (alone.kept != term) {
      number = count + steps.size();
      term = alone.kept;
      steps.push_back(std::move(alone));
    }
    if (t == 0) {
      current = number, letters = term;
      continue;
    }
    steps.push_back(step_of(current, number, letters, term, letters_elsewhere(equation, t, t + 1)));
    current = count + steps.size() - 1;
    letters = steps.back().kept;
  }
  if (letters == equation.result && !steps.empty()) return steps;
  if (steps.empty() || steps.back().kept.size() != equation.result.size()) {
    steps.push_back({current, current, letters, "", equation.result, ""});
  } else {
    steps.back().kept = equation.result;  // the same letters in another order
  }
  return steps;
}

double multiply_adds(const Equation& equation, const EinsumStep& step) {
  double count = 1;
  for (char letter : step.kept) count *= static_cast<double>(equation.sizes.at(letter));
  for (char letter : step.summed) {  // a sum of nothing is still made
    count *= static_cast<double>(std::max<std::int64_t>(1, equation.sizes.at(letter)));
  }
  return count;
}

template <class T>
std::vector<T> contracted(const Equation& equation, const std::vector<Shape>& shapes,
                          std::vector<std::vector<T>> tensors, const Stop* stop) {
  std::vector<Shape> known = shapes;
  for (const EinsumStep& step : steps_of(equation)) {
    const bool two = step.first != step.second;
    const Shape kept = letter_sizes(equation, step.kept), summed = letter_sizes(equation, step.summed);
    const auto moves = [&](const std::string& letters, bool first) {
      const std::size_t tensor = first ? step.first : step.second;
      if (!first && !two) return std::vector<std::int64_t>(letters.size(), 0);
      return strides_over(letters, first ? step.first_letters : step.second_letters, known[tensor]);
    };
    const auto kept_a = moves(step.kept, true), kept_b = moves(step.kept, false);
    const auto summed_a = moves(step.summed, true), summed_b = moves(step.summed, false);
    std::vector<T> result(as_size(element_count(kept)), T{});
    const std::vector<T>&a = tensors[step.first], &b = tensors[step.second];
    std::vector<std::int64_t> index(kept.size(), 0), inner(summed.size(), 0);
    const bool nothing = element_count(summed) == 0;
    for (std::size_t i = 0; i < result.size() && !nothing; ++i) {
      if (i % 64 == 0) end_if(stop, "");
      const std::int64_t from_a = offset_of(index, kept_a), from_b = offset_of(index, kept_b);
      do {
        const T factor = a[at(from_a + offset_of(inner, summed_a))];
        result[i] += two ? factor * b[at(from_b + offset_of(inner, summed_b))] : factor;
      } while (next_index(inner, summed));
      next_index(index, kept);
    }
    tensors.push_back(std::move(result));
    known.push_back(kept);
  }
  return tensors.back();
}

template std::vector<double> contracted(const Equation&, const std::vector<Shape>&,
                                        std::vector<std::vector<double>>, const Stop*);
template std::vector<std::uint64_t> contracted(const Equation&, const std::vector<Shape>&,
                                               std::vector<std::vector<std::uint64_t>>, const Stop*);

}  // namespace sdip
