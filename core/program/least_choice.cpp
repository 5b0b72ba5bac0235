// Dynamic programming over steps: answers given before matter only while their questions are open. It is done with
// what is known of costs so far, again and again, until all costs of its answers are known.
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

constexpr int most_rounds = 12;  // in which costs are asked for where they matter; then for all

/// Answers to the open questions, and the least that such answers have cost so far.
struct State {
  std::uint32_t noes = 0;  // by slot
  Int128 cost = 0;
  std::int32_t count = 0;  // of noes, to closed questions as well
  std::size_t before = 0;  // its number among the states of the step before
};

bool is_better(const State& a, const State& b) { return std::tie(a.cost, a.count) < std::tie(b.cost, b.count); }

/// Costs by step and answers, as far as they are known.
class Known {
 public:
  Known(const std::vector<std::vector<std::int32_t>>& asked, const StepCosts& costs) : costs_(costs) {
    for (const auto& here : asked) steps_.emplace_back(std::size_t{1} << here.size());
  }

  std::optional<std::int64_t> at_least(std::size_t step, std::uint32_t noes) {
    if (ask_all) ask(step, noes);
    One& one = steps_[step][noes];
    if (!one.is_known && one.cost == unasked) one.cost = costs_.least({step, noes});
    return one.cost;
  }

  bool ask_all = false;

  /// Whether it was known before.
  bool ask(std::size_t step, std::uint32_t noes) {
    One& one = steps_[step][noes];
    if (!one.is_known) one.cost = costs_.cost({step, noes});
    return std::exchange(one.is_known, true);
  }

 private:
  static constexpr std::int64_t unasked = -1;
  struct One {
    std::optional<std::int64_t> cost = unasked;
    bool is_known = false;
  };
  const StepCosts& costs_;
  std::vector<std::vector<One>> steps_;
};

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

  std::uint32_t noes_at(std::size_t i, std::uint32_t slots_of_noes) const {
    std::uint32_t noes = 0;
    for (std::size_t a = 0; a < asked[i].size(); ++a) noes |= (slots_of_noes >> slot[at(asked[i][a])] & 1U) << a;
    return noes;
  }

  /// Adds what the step costs. States with which it cannot be done go.
  void take(std::size_t i, Known& known, std::vector<State>& states) const {
    std::erase_if(states, [&](State& state) {
      const auto cost = known.at_least(i, noes_at(i, state.noes));
      state.cost += cost.value_or(0);
      return !cost;
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

/// The best by what is known. `tell` is told the answers at each step.
template <class Tell>
LeastChoice best_known(const std::vector<std::vector<std::int32_t>>& asked, std::size_t questions, Known& known,
                       const Tell& tell) {
  Steps steps(asked, questions);
  std::vector<std::vector<State>> all;  // by step, before its questions close
  std::vector<State> states(1);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    steps.open(i, states);
    steps.take(i, known, states);
    if (states.empty()) return {{}, i};
    all.push_back(states);
    steps.close(i, states);
  }
  LeastChoice choice{std::vector<char>(questions, 0), std::nullopt};
  std::size_t s = states.front().before;  // all are closed: there is one
  for (std::size_t i = all.size(); i-- > 0; s = all[i][s].before)
    for (const std::int32_t q : steps.opening[i])
      choice.no[at(q)] = static_cast<char>(all[i][s].noes >> steps.slot[at(q)] & 1U);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::uint32_t noes = 0;
    for (std::size_t a = 0; a < asked[i].size(); ++a)
      noes |= static_cast<std::uint32_t>(choice.no[at(asked[i][a])]) << a;
    tell(i, noes);
  }
  return choice;
}

}  // namespace

LeastChoice least_choice(const std::vector<std::vector<std::int32_t>>& asked, std::size_t questions,
                         const StepCosts& costs) {
  Known known(asked, costs);
  for (int round = 0;; ++round) {
    known.ask_all = known.ask_all || round == most_rounds;
    bool all_known = true;
    const LeastChoice choice = best_known(asked, questions, known, [&](std::size_t step, std::uint32_t noes) {
      all_known = known.ask(step, noes) && all_known;
    });
    if (choice.failed ? known.ask_all : all_known) return choice;
    known.ask_all = known.ask_all || choice.failed;  // an earlier step may be the one
  }
}

}  // namespace sdip
