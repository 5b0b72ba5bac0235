// Dynamic programming over steps: answers given before matter only while their questions are open.
#include "core/program/least_choice.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/base/units.h"

namespace sdip {
namespace {

/// Answers to the open questions, and the least that such answers have cost so far.
struct State {
  std::uint32_t noes = 0;  // by slot
  Int128 cost = 0;
  std::int32_t count = 0;  // of noes, to closed questions as well
  std::size_t before = 0;  // its number among the states of the step before
};

bool is_better(const State& a, const State& b) { return std::tie(a.cost, a.count) < std::tie(b.cost, b.count); }

struct Steps {
  const std::vector<std::vector<std::int32_t>>& asked;
  std::vector<std::vector<std::int32_t>> opening, closing;  // by step: questions first asked there, and last
  std::vector<std::size_t> slot;                            // by question: the bit of its answer while it is open
  std::uint32_t slots = 0;                                  // those that are taken

  Steps(const std::vector<std::vector<std::int32_t>>& asked_at, std::size_t questions)
      : asked(asked_at), opening(asked.size()), closing(asked.size()), slot(questions) {
    std::vector<std::size_t> last(questions);
    std::vector<char> seen(questions, 0);
    for (std::size_t i = 0; i < asked.size(); ++i)
      for (const std::int32_t q : asked[i]) {
        if (std::exchange(seen[at(q)], 1) == 0) opening[i].push_back(q);
        last[at(q)] = i;
      }
    for (std::size_t q = 0; q < questions; ++q)
      if (seen[q] != 0) closing[last[q]].push_back(static_cast<std::int32_t>(q));
  }

  void open(std::size_t i, std::vector<State>& states) {
    for (const std::int32_t q : opening[i]) {
      slot[at(q)] = static_cast<std::size_t>(std::countr_one(slots));
      check(slot[at(q)] < most_open_questions, "too many questions open at once");
      const std::uint32_t bit = std::uint32_t{1} << slot[at(q)];
      slots |= bit;
      const std::size_t count = states.size();
      for (std::size_t s = 0; s < count; ++s) {
        State no = states[s];
        no.noes |= bit;
        ++no.count;
        states.push_back(no);
      }
    }
  }

  /// Adds what the step costs. States with which it cannot be done go.
  void take(std::size_t i, const StepCost& cost, std::vector<State>& states) const {
    std::vector<std::optional<std::optional<std::int64_t>>> known(std::size_t{1} << asked[i].size());
    std::erase_if(states, [&](State& state) {
      std::uint32_t noes = 0;
      for (std::size_t a = 0; a < asked[i].size(); ++a) noes |= (state.noes >> slot[at(asked[i][a])] & 1U) << a;
      if (!known[noes]) known[noes] = cost(i, noes);
      state.cost += known[noes]->value_or(0);
      return !known[noes]->has_value();
    });
  }

  /// Of states that differ in what no later step asks for the best stays.
  void close(std::size_t i, std::vector<State>& states) {
    std::uint32_t closed = 0;
    for (const std::int32_t q : closing[i]) closed |= std::uint32_t{1} << slot[at(q)];
    slots &= ~closed;
    for (std::size_t s = 0; s < states.size(); ++s) {
      states[s].before = s;
      states[s].noes &= ~closed;
    }
    std::ranges::stable_sort(states, {}, &State::noes);
    std::vector<State> best;
    for (const State& state : states)
      if (best.empty() || best.back().noes != state.noes)
        best.push_back(state);
      else if (is_better(state, best.back()))
        best.back() = state;
    states = std::move(best);
  }
};

}  // namespace

LeastChoice least_choice(const std::vector<std::vector<std::int32_t>>& asked, std::size_t questions,
                         const StepCost& cost) {
  Steps steps(asked, questions);
  std::vector<std::vector<State>> all;  // by step, before its questions close
  std::vector<State> states(1);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    steps.open(i, states);
    steps.take(i, cost, states);
    if (states.empty()) return {{}, i};
    all.push_back(states);
    steps.close(i, states);
  }
  LeastChoice choice{std::vector<char>(questions, 0), std::nullopt};
  std::size_t s = states.front().before;  // all are closed: there is one
  for (std::size_t i = all.size(); i-- > 0; s = all[i][s].before)
    for (const std::int32_t q : steps.opening[i])
      choice.no[at(q)] = static_cast<char>(all[i][s].noes >> steps.slot[at(q)] & 1U);
  return choice;
}

}  // namespace sdip
