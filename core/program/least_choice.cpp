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

  std::optional<Int128> at_least(Answered answered) {
    if (ask_all) ask(answered);
    One& one = of(answered);
    if (one.cost == unasked) one.cost = costs_.least(answered);
    return one.cost;
  }

  bool ask_all = false;

  /// Whether it was known before.
  bool ask(Answered answered) {
    One& one = of(answered);
    if (!one.is_known) one.cost = costs_.cost(answered);
    return std::exchange(one.is_known, true);
  }

 private:
  static constexpr Int128 unasked = -1;
  struct One {
    std::optional<Int128> cost = unasked;
    bool is_known = false;
  };
  One& of(Answered answered) { return steps_[answered.step][answered.noes]; }

  const StepCosts& costs_;
  std::vector<std::vector<One>> steps_;
};

/// When each question is open, and the bit of its answer meanwhile.
struct Steps {
  const std::vector<std::vector<std::int32_t>>& asked;
  std::vector<std::vector<std::int32_t>> opening;  // by step: questions first asked there
  std::vector<std::uint32_t> closing;              // by step: slots of those last asked there
  List<std::size_t> slot;                          // by question

  Steps(const std::vector<std::vector<std::int32_t>>& asked_at, std::size_t questions)
      : asked(asked_at), opening(asked.size()), closing(asked.size(), 0), slot(questions) {
    List<std::size_t> last(questions);
    for (std::size_t i = 0; i < asked.size(); ++i)
      for (const std::int32_t q : asked[i]) last[q] = i;
    List<char> seen(questions, 0);
    std::uint32_t taken = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      for (const std::int32_t q : asked[i]) {
        if (std::exchange(seen[q], 1) != 0) continue;
        opening[i].push_back(q);
        slot[q] = as_size(std::countr_one(taken));
        check(slot[q] < most_open_questions, "too many questions open at once");
        taken |= bit_of(q);
        closing[last[q]] |= bit_of(q);
      }
      taken &= ~closing[i];
    }
  }

  std::uint32_t bit_of(std::int32_t question) const { return std::uint32_t{1} << slot[question]; }
  bool is_no(const State& state, std::int32_t question) const { return (state.noes & bit_of(question)) != 0; }
  Answered answered(std::size_t i, const State& state) const {
    Answered answered{i, 0};
    for (std::size_t a = 0; a < asked[i].size(); ++a)
      if (is_no(state, asked[i][a])) answered.noes |= std::uint32_t{1} << a;
    return answered;
  }

  void open(std::size_t i, std::vector<State>& states) const {
    for (const std::int32_t q : opening[i]) {
      const std::size_t count = states.size();
      for (std::size_t s = 0; s < count; ++s) {
        State no = states[s];
        no.noes |= bit_of(q);
        ++no.count;
        states.push_back(no);
      }
    }
  }

  /// Adds what the step costs. States with which it cannot be done go.
  void take(std::size_t i, Known& known, std::vector<State>& states) const {
    std::erase_if(states, [&](State& state) {
      const auto cost = known.at_least(answered(i, state));
      state.cost += cost.value_or(0);
      return !cost;
    });
  }

  /// Keeps the best of the states that differ only in what no later step asks for.
  void close(std::size_t i, std::vector<State>& states) const {
    for (std::size_t s = 0; s < states.size(); ++s) {
      states[s].before = s;
      states[s].noes &= ~closing[i];
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

/// The best by what is known so far. `ask` is called with its answers at each step.
template <class Ask>
LeastChoice best_known(const Steps& steps, Known& known, const Ask& ask) {
  std::vector<std::vector<State>> all;  // by step, before its questions close
  std::vector<State> states(1);
  for (std::size_t i = 0; i < steps.asked.size(); ++i) {
    steps.open(i, states);
    steps.take(i, known, states);
    if (states.empty()) return {{}, i};
    all.push_back(states);
    steps.close(i, states);
  }
  LeastChoice choice{std::vector<char>(steps.slot.size(), 0), std::nullopt};
  std::size_t s = states.front().before;  // all are closed: there is one
  for (std::size_t i = all.size(); i-- > 0; s = all[i][s].before) {
    const State& state = all[i][s];
    for (const std::int32_t q : steps.opening[i]) choice.no[q] = static_cast<char>(steps.is_no(state, q));
    ask(steps.answered(i, state));
  }
  return choice;
}

}  // namespace

LeastChoice least_choice(const std::vector<std::vector<std::int32_t>>& asked, std::size_t questions,
                         const StepCosts& costs) {
  const Steps steps(asked, questions);
  Known known(asked, costs);
  for (int round = 0;; ++round) {
    known.ask_all = known.ask_all || round == most_rounds;
    bool all_known = true;
    LeastChoice choice =
        best_known(steps, known, [&](Answered answered) { all_known = known.ask(answered) && all_known; });
    if (choice.failed ? known.ask_all : all_known) return choice;
    known.ask_all = known.ask_all || choice.failed;  // an earlier step may be the one
  }
}

}  // namespace sdip
