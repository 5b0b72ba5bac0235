// Running searches.
#include "server/jobs/search_jobs.h"

#include <chrono>
#include <iostream>

#include "core/base/error.h"
#include "server/jobs/evaluations.h"
#include "server/models/stages.h"
#include "server/studies/best_json.h"

namespace sdip {
namespace {

constexpr std::size_t longest_shown = std::size_t{256} << 10;
constexpr auto between_shown = std::chrono::milliseconds(200);

/// What a search found, as JSON; texts are empty where nothing is known of what it found until it was cancelled.
struct SearchTexts {
  bool cancelled = false;
  std::string summary{}, result{};
};

SearchTexts texts_of(const BestAnswer& answer) {
  return {answer.cancelled, json_text(best_summary_json(answer)), json_text(best_json(answer))};
}

/// In a child, which is not believed: what it says is JSON of a bounded size, at least.
SearchTexts searched_apart(const Catalog& catalog, const Member& member, const Json& body, int threads,
                           const JobTurn<BestProgress>& turn) {
  const auto nonsense = [&] {
    return Error("evaluation_failed", member.name, member.name + ": evaluating this model gave no valid answer");
  };
  const SearchGoal goal = best_request(body).goal;
  const auto take = [&](std::string_view text) {
    if (text.size() > longest_shown) throw nonsense();
    turn.show(best_progress_from_json(goal, parse_json(text)));
  };
  try {
    Evaluation evaluation = evaluation_named("search");
    evaluation.limits.threads = threads;
    const std::string text = catalog.apart(member, evaluation, {{"request", body}, {"threads", threads}},
                                           {take, [&] { return turn.cancel.load(); }}, true);
    const auto line = text.find('\n');
    if (line == std::string::npos) throw nonsense();
    SearchTexts found{false, text.substr(0, line), text.substr(line + 1)};
    if (!bounded_json(found.summary).is_object() || !bounded_json(found.result).is_object()) throw nonsense();
    return found;
  } catch (const Json::exception&) {
    throw nonsense();
  } catch (const Error& error) {
    if (is_cancelled(error)) return {true};
    if (error.code == "json_invalid" || error.code == "value_invalid") throw nonsense();
    throw;
  }
}

std::deque<std::int64_t> queued_searches(Store& store) {
  store.restart_searches();
  std::deque<std::int64_t> ids;
  for (const SearchRow& row : store.searches())
    if (row.state == SweepState::queued) ids.push_front(row.id);
  return ids;
}

}  // namespace

std::string evaluate_search(const Catalog& catalog, const Json& request, const EvaluationTurn& turn) {
  const BestRequest asked = best_request(request.at("request"));
  auto shown = std::chrono::steady_clock::now() - between_shown;
  std::string doing;
  const BestAnswer answer =
      find_best(catalog, asked, request.at("threads").get<int>(), nullptr, [&](const BestProgress& progress) {
        const auto now = std::chrono::steady_clock::now();
        if (!turn.show || (progress.doing == doing && now - shown < between_shown)) return;
        shown = now;
        doing = progress.doing;
        turn.show(json_text(best_progress_json(asked.goal, progress)));
      });
  const SearchTexts found = texts_of(answer);
  return found.summary + "\n" + found.result;
}

SearchJobs::SearchJobs(Store& store, const Catalog& catalog)
    : store_(store),
      catalog_(catalog),
      queue_(JobKind::search, queued_searches(store),
             [this](std::int64_t id, const JobTurn<BestProgress>& turn) { run(id, turn); }) {}

std::int64_t SearchJobs::submit(const BestRequest& request) {
  catalog_.require(request.model, "/model");
  SearchRow row;
  row.model = request.model;
  row.request_json = json_text(best_request_json(request));
  row.created = time_text();
  const std::int64_t id = store_.add_search(row);
  queue_.add(id);
  return id;
}

void SearchJobs::cancel(std::int64_t id) {
  if (!queue_.cancel(id)) store_.set_search_state(id, SweepState::cancelled);
}

void SearchJobs::run(std::int64_t id, const JobTurn<BestProgress>& turn) {
  store_.set_search_state(id, SweepState::running);
  const SearchRow row = store_.search(id);
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  try {
    const Json body = Json::parse(row.request_json);
    const auto member = catalog_.uploaded(row.model);
    const SearchTexts found =
        member ? searched_apart(catalog_, *member, body, threads, turn)
               : texts_of(find_best(catalog_, best_request(body), threads, &turn.cancel, turn.show));
    if (!found.cancelled)
      store_.end_search(id, SweepState::done, found.summary, found.result);
    else if (!turn.by_user())
      store_.set_search_state(id, SweepState::interrupted);
    else if (found.result.empty())
      store_.set_search_state(id, SweepState::cancelled);
    else
      store_.end_search(id, SweepState::cancelled, found.summary, found.result);
  } catch (const Error& error) {
    store_.set_search_state(id, SweepState::failed, Problem{error.code, error.where, error.what()});
  } catch (const std::exception& bug) {
    std::cerr << "sdip: internal: search " << id << ": " << printable(bug.what()) << std::endl;
    store_.set_search_state(id, SweepState::failed, Problem{"internal", "", "a bug of ours; the log has more"});
  }
}

}  // namespace sdip
