// The equation of an Einsum, the steps that compute it, and its arithmetic. Internal to its room.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/ops/values.h"

namespace sdip {

/// "bij,bjd->bid" over [8,64,40] and [8,40,77]: terms {"bij","bjd"}, result "bid", sizes {b:8, i:64, ...}. The axes
/// of an ellipsis are digits, the last one '9': "...ij" over [2,3,4,5] is "89ij".
struct Equation {
  std::vector<std::string> terms;
  std::string result;
  std::map<char, std::int64_t> sizes;
};

inline bool has_letter(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}
Shape letter_sizes(const Equation& equation, const std::string& letters);

/// One sum of products of one or two tensors. Tensors are numbered: the operands first, then each step's result.
struct EinsumStep {
  std::size_t first = 0, second = 0;  // the same when there is one
  std::string first_letters, second_letters, kept, summed;
};

/// The steps of an equation, from left to right: what stands in one operand alone is summed up first, then the
/// operands are multiplied two by two. "ab,bc,cd->ad": ab and bc to "ac", that and cd to "ad".
std::vector<EinsumStep> steps_of(const Equation& equation);

/// Multiply-adds of a step, as a double since they may be beyond any integer.
double multiply_adds(const Equation& equation, const EinsumStep& step);

/// Elements of the result, row-major. `shapes` are the operands'; sizes of 1 under an ellipsis are broadcast. `T`
/// is double, or std::uint64_t for integers, which wrap. `stop` is asked before each 64 sums.
template <class T>
std::vector<T> contracted(const Equation& equation, const std::vector<Shape>& shapes,
                          std::vector<std::vector<T>> tensors, const Stop* stop);

}  // namespace sdip
