// Where a search is, as the store keeps it.
#include "core/base/error.h"
#include "core/study/signature.h"
#include "server/studies/best_json.h"

namespace sdip {

std::string best_state_text(const SearchGoal& goal, const BestState& state) {
  return json_text(OrderedJson{{"engine", signature()},
                               {"progress", best_progress_json(goal, state.progress)},
                               {"polishing", state.search.polishing},
                               {"islands", state.search.islands},
                               {"best", state.search.best}});
}

std::optional<BestState> best_state_of_text(const SearchGoal& goal, const std::string& text) {
  if (text.empty()) return std::nullopt;
  try {
    const Json json = parse_json(text);
    if (json.at("engine") != signature()) return std::nullopt;
    BestState state;
    state.progress = best_progress_from_json(goal, json.at("progress"));
    state.search.progress = state.progress.search;
    state.search.polishing = json.at("polishing").get<bool>();
    state.search.islands = json.at("islands").get<decltype(state.search.islands)>();
    state.search.best = json.at("best").get<decltype(state.search.best)>();
    return state;
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace sdip
