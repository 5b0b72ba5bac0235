// Yes or no for each of many questions, at the least cost. Internal to its library.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/index.h"
#include "core/base/units.h"

namespace sdip {

/// A step and answers to the questions asked there: those whose bit is set in `noes`, in the order in which they
/// are asked, are answered with no.
struct Answered {
  std::size_t step = 0;
  std::uint32_t noes = 0;
};

/// The cost of a step, 0 or more; nothing when it cannot be done so. `least`: no more than that, quickly known.
struct StepCosts {
  std::function<Int128(Answered)> least;
  std::function<std::optional<Int128>(Answered)> cost;
};

struct LeastChoice {
  List<char> no;                      // by question; those never asked are answered with yes
  std::optional<std::size_t> failed;  // the first step that no answers allow: `no` then says nothing
};

/// The most questions open at once, from the first step that asks them to the last.
inline constexpr std::size_t most_open_questions = 10;

/// Answers of the least sum of all steps' costs; of equals the one of fewest noes. Exact: steps in order, keeping
/// for the answers to the open questions the least sum so far; costs are asked for only where the sum of what is
/// known and of what is least is best. Time grows with the steps, and doubles with each question open at once.
/// Requires at most most_open_questions of these. Worked example: question 0 asked at steps 0 and 1, question 1 at
/// 1; step 0 costs 2, or 0 when 0 is answered with no; step 1 costs 1 for each no. Yes to 1 and no to 0: 0 + 1,
/// against 2 + 0 with two yeses.
LeastChoice least_choice(const std::vector<std::vector<std::int32_t>>& asked, std::size_t questions,
                         const StepCosts& costs);

}  // namespace sdip
