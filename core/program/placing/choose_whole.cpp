// Which values lie whole in DSRAM.
#include <algorithm>
#include <array>
#include <optional>

#include <boost/container/static_vector.hpp>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/program/least_choice.h"
#include "core/program/placing/placing.h"
#include "core/program/tiling/strips.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

/// Values that may lie whole in DSRAM, and by draft those whose lying there its mapping and its bytes depend on:
/// its result, what it reads in DSRAM, and what lies on the side that it reads.
struct Candidates {
  List<ValueId> values;
  std::vector<std::vector<std::int32_t>> asked;  // places in `values`
};

/// The values that may lie whole in DSRAM. Where more are open at once than can be weighed, the largest are left
/// out and have no place there.
Candidates candidates_of(const List<Draft>& drafts, const Resident& resident, Lives& lives) {
  std::vector<std::vector<ValueId>> asked(drafts.size());
  List<std::size_t> last(lives.size());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const auto ask = [&](ValueId v) {
      if (!lives[v].in_dsram_at(static_cast<std::int32_t>(i)) || std::ranges::find(asked[i], v) != asked[i].end())
        return;
      asked[i].push_back(v);
      last[v] = i;
    };
    for (const DraftOperand& operand : drafts[i].operands) ask(operand.value);
    std::ranges::for_each(resident.found[i], ask);
    ask(drafts[i].destination);
  }
  List<std::int32_t> number(lives.size(), -1);
  Candidates candidates;
  std::vector<ValueId> open;
  const auto bytes = [&](ValueId v) { return lives[v].bytes; };
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    std::erase_if(open, [&](ValueId v) { return last[v] < i; });
    std::vector<ValueId> opening;
    for (const ValueId v : asked[i])
      if (lives[v].in_dsram() && number[v] < 0) opening.push_back(v);
    std::ranges::stable_sort(opening, {}, bytes);
    for (const ValueId v : opening) {
      if (open.size() == most_open_questions) {
        leave_dsram(lives[v]);
        continue;
      }
      open.push_back(v);
      number[v] = static_cast<std::int32_t>(candidates.values.size());
      candidates.values.push_back(v);
    }
    std::vector<std::int32_t>& numbers = candidates.asked.emplace_back();
    for (const ValueId v : asked[i])
      if (number[v] >= 0) numbers.push_back(number[v]);
  }
  return candidates;
}

/// The cost of an instruction: bytes moved through DRAM, and cycles of the reference machine where the goal asks
/// for them.
struct Taken {
  std::int64_t bytes = 0, cycles = 0;
};
/// Bytes and cycles with the mapping of the goal and, for goal balanced, with that of fewest cycles; none where no
/// mapping fits.
using TakenByGoal = boost::container::static_vector<Taken, 2>;

constexpr Int128 unsaid = Int128{most_words} * most_words;  // of a result that was said to lie in DSRAM, elsewhere

/// Says what each instruction takes, given the answers of what lies whole in DSRAM.
struct WholeChoice {
  Compilation& compilation;
  Mappings& mappings;
  const MemoryPlan& plan;
  const std::vector<char>& stays;
  const List<Draft>& drafts = compilation.drafts;
  Lives& lives = compilation.lives;
  Places places{*compilation.graph, lives};
  Resident resident = resident_bytes(drafts, lives);
  Candidates candidates = candidates_of(drafts, resident, lives);
  TileGoal goal = compilation.machine.tile_goal;
  /// Results known so far, by step and answers.
  struct Known {
    std::optional<Taken> least{};
    std::optional<TakenByGoal> exactly{};
  };
  std::vector<std::vector<Known>> known{};

  WholeChoice(Compilation& c, Mappings& m, const MemoryPlan& p, const std::vector<char>& s)
      : compilation(c), mappings(m), plan(p), stays(s) {
    for (const auto& asked : candidates.asked) known.emplace_back(std::size_t{1} << asked.size());
  }

  void answer(std::int32_t candidate, bool no) {
    Life& life = lives[candidates.values[candidate]];
    life.in_dram = life.skips_dsram = false;
    if (no) leave_dsram(life);
  }
  void answer_all(Answered answered) {
    const auto& asked = candidates.asked[answered.step];
    for (std::size_t a = 0; a < asked.size(); ++a) answer(asked[a], (answered.noes >> a & 1U) != 0);
  }
  std::pair<InstructionClass, TileRoom> class_and_room(std::size_t i) {
    const Machine& machine = compilation.machine;
    resident.write[i] = written_bytes(drafts[i], lives);
    resident.read[i] = 0;
    for (const ValueId v : resident.found[i]) resident.read[i] += lives[v].in_dsram() ? lives[v].bytes : 0;
    InstructionClass c = class_of(drafts[i], static_cast<std::int32_t>(i), places);
    const TileRoom room =
        room_at(c, machine, compilation.role, gaps_at(machine, plan, resident, drafts[i], i), stays[i] != 0);
    return {std::move(c), room};
  }
  bool is_said(const Draft& draft) const {
    return draft.rule != nullptr && draft.rule->result == Place::dsram && lives[draft.destination].in_dram;
  }

  Taken cost_in(const InstructionClass& c, const TileRoom& room) const {
    return {dram_bytes(c, room), goal != TileGoal::bytes ? reference_cycles(c, room) : 0};
  }
  /// The least that it takes in whatever room: all of it as one tile, where that takes nothing that smaller ones
  /// leave out.
  Taken least(Answered answered) {
    std::optional<Taken>& found = known[answered.step][answered.noes].least;
    if (!found) found = computed_least(answered);
    return *found;
  }
  Taken computed_least(Answered answered) {
    answer_all(answered);
    auto [c, room] = class_and_room(answered.step);
    if (c.compound != Compound::single) return {};
    room.burst_bytes = 1;
    if (!is_nest(c.work.family)) {
      c.mapping = {c.work.rows, 1, c.work.row_length, 1};
      return cost_in(c, room);
    }
    return cost_in(least_moving(std::move(c)), room);
  }
  const TakenByGoal& exactly(Answered answered) {
    std::optional<TakenByGoal>& found = known[answered.step][answered.noes].exactly;
    if (found) return *found;
    found.emplace();
    const std::int64_t least_cycles = goal == TileGoal::balanced ? least(answered).cycles : 0;
    answer_all(answered);
    auto asked = class_and_room(answered.step);
    InstructionClass& c = asked.first;
    TileRoom& room = asked.second;
    const auto add = [&](TileGoal one) {
      room.goal = one;
      const auto mapping = mappings.in(room, c, drafts[answered.step].rule);
      if (!mapping) return;
      c.mapping = *mapping;
      if (c.compound == Compound::strips) mappings.stream(c, room);
      found->push_back(cost_in(c, room));
    };
    add(goal);
    // The mapping of fewest cycles is a choice only where the balanced one is far from it.
    if (goal == TileGoal::balanced && !found->empty() && 8 * found->front().cycles > 9 * least_cycles)
      add(TileGoal::cycles);
    return *found;
  }

  /// Which mapping is best where a cycle weighs as much as so many bytes.
  static std::size_t best_of(const TakenByGoal& found, std::int64_t cycle_bytes) {
    const auto measure = [&](const Taken& t) { return weighed(t, cycle_bytes); };
    return as_size(std::ranges::min_element(found, {}, measure) - found.begin());
  }
  static Int128 weighed(const Taken& t, std::int64_t cycle_bytes) {
    return Int128{t.cycles} * cycle_bytes + t.bytes;
  }

  LeastChoice choose(std::int64_t cycle_bytes) {
    const auto cost = [&](Answered answered) -> std::optional<Int128> {
      const TakenByGoal& found = exactly(answered);
      if (found.empty()) return std::nullopt;
      const Int128 least_cost = weighed(found[best_of(found, cycle_bytes)], cycle_bytes);
      if (drafts[answered.step].rule == nullptr) return least_cost;
      answer_all(answered);
      return least_cost + (is_said(drafts[answered.step]) ? unsaid : 0);
    };
    return least_choice(candidates.asked, candidates.values.size(),
                        {[&](Answered answered) { return weighed(least(answered), cycle_bytes); }, cost});
  }

  /// Calls each(step, what it takes by goal) with the answers chosen.
  template <class Each>
  void each_taken(const LeastChoice& choice, const Each& each) {
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      Answered answered{i, 0};
      for (std::size_t a = 0; a < candidates.asked[i].size(); ++a)
        if (choice.no[candidates.asked[i][a]] != 0) answered.noes |= std::uint32_t{1} << a;
      each(i, exactly(answered));
    }
  }
  std::int64_t bytes_of(const LeastChoice& choice, std::int64_t cycle_bytes) {
    std::int64_t bytes = 0;
    each_taken(choice,
               [&](std::size_t, const TakenByGoal& found) { bytes += found[best_of(found, cycle_bytes)].bytes; });
    return bytes;
  }

  /// The weight of a cycle, in bytes, and what is then chosen.
  struct Weighed {
    std::int64_t cycle_bytes;
    LeastChoice choice;
  };
  /// The more a cycle weighs the fewer are taken, and the more bytes moved: the greatest of these weights with
  /// which that is at most a hundredth more than the fewest.
  Weighed balanced() {
    constexpr std::array<std::int64_t, 6> weights{1, 4, 16, 64, 256, most_words};
    Weighed best{0, choose(0)};
    if (best.choice.failed) return best;
    const std::int64_t most = most_balanced(bytes_of(best.choice, 0));
    std::size_t from = 0, to = weights.size();
    while (from < to) {
      const std::size_t middle = (from + to) / 2;
      Weighed other{weights.at(middle), choose(weights.at(middle))};
      if (bytes_of(other.choice, other.cycle_bytes) > most) {
        to = middle;
      } else {
        best = std::move(other);
        from = middle + 1;
      }
    }
    return best;
  }

  Weighed by_goal() {
    if (goal == TileGoal::balanced) return balanced();
    const std::int64_t cycle_bytes = goal == TileGoal::cycles ? most_words : 0;
    return {cycle_bytes, choose(cycle_bytes)};
  }
};

}  // namespace

void refuse_rule(Compilation& compilation, const Draft& draft, const InstructionClass& c, const TileRoom& room) {
  if (draft.rule == nullptr) return;
  compilation.infeasible = compilation.graph->nodes[draft.node].name + ": " + misfit_of(*draft.rule, c, room);
}

WholeChosen choose_whole(Compilation& compilation, Mappings& mappings, const MemoryPlan& plan,
                         const std::vector<char>& stays) {
  WholeChoice whole{compilation, mappings, plan, stays};
  const auto [cycle_bytes, choice] = whole.by_goal();
  WholeChosen chosen{choice.failed, std::vector<TileGoal>(compilation.drafts.size(), whole.goal)};
  if (!choice.failed)
    whole.each_taken(choice, [&, weight = cycle_bytes](std::size_t i, const TakenByGoal& found) {
      if (WholeChoice::best_of(found, weight) == 1) chosen.goals[i] = TileGoal::cycles;
    });
  for (std::size_t q = 0; q < whole.candidates.values.size(); ++q)
    whole.answer(static_cast<std::int32_t>(q), choice.failed || choice.no[q] != 0);
  if (!choice.failed) return chosen;
  const auto [c, room] = whole.class_and_room(*choice.failed);
  refuse_rule(compilation, compilation.drafts[*choice.failed], c, room);
  return chosen;
}

}  // namespace sdip
