// Norms by element: sums of each row, wherever they are made, and results from them.
//
// Example: rows [1, 3] and [2, 2], epsilon 1: sums 4 and 4, sums of squares 10 and 8; means 2 and 2, variances 1
// and 0; 3 becomes (3 - 2) / sqrt(1 + 1) = 0.7071.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/exec/numbers/numbers.h"
#include "core/exec/walk/elements.h"
#include "core/graph/graph.h"

namespace sdip::exec {

struct Chip;

/// A norm whose results follow one by one from the sums of their rows, which stand one behind the other.
struct NormRule {
  const Node* node = nullptr;
  std::int64_t rows = 0, length = 0;
  std::int64_t channels = 0, inner = 1;  // gamma and beta by channel; 0: broadcast
  bool centred = true;                   // the mean is taken out
  double epsilon = 0;
  std::int64_t row_of(std::int64_t element) const { return element / length; }
};

/// The rule of a group, instance, layer or RMS norm of which only the result is used; nothing for other nodes.
std::optional<NormRule> norm_rule(const Graph& graph, const Node& node);

/// Sums of x and of x^2, one a row: two general registers each.
struct NormSums {
  std::vector<double> sum, squares;
};

/// No elements yet.
NormSums empty_sums(const NormRule& rule);

/// Adds elements `at` of the norm's operand, and their values.
void add_to_sums(NormSums& sums, const NormRule& rule, const Elements& at, const std::vector<double>& x);

/// The norm's results for elements `at` of its operand.
Numbers normalised(Chip& chip, const NormRule& rule, const NormSums& sums, const Elements& at,
                   const std::vector<double>& x);

/// Gamma and beta, whole; of those not given none.
struct NormParameters {
  std::vector<double> gamma, beta;
};
/// Nothing where they lie otherwise than by channel or as broadcast says.
std::optional<NormParameters> norm_parameters(Chip& chip, const NormRule& rule);

/// As add_to_sums and `normalised`, for numbers of single precision that stand one behind the other from element
/// `first` on, whole rows: their sums where `sum_here`, then the results.
void normalise_rows(Chip& chip, const NormRule& rule, const NormParameters& parameters, NormSums& sums,
                    bool sum_here, std::int64_t first, std::span<const float> x, float* to);

/// The sums that an instruction before made for `rule`. Throws Error("execution_failed", ...) when none did.
const NormSums& sums_of(const Chip& chip, const NormRule& rule);

/// Norms of what the current instruction makes, when its class says that it sums its results: emptied.
void begin_result_sums(Chip& chip);

/// Adds results of the current instruction to the sums of the norms that read them.
void add_result_sums(Chip& chip, const Elements& at, const Tensor& numbers);

}  // namespace sdip::exec
