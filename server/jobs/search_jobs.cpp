// Running searches.
#include "server/jobs/search_jobs.h"
#include "server/io/threads.h"

#include <algorithm>
#include <chrono>
#include <iostream>

#include "core/base/error.h"
#include "server/io/text.h"
#include "server/jobs/evaluations.h"
#include "server/jobs/found_text.h"
#include "server/studies/best_json.h"

namespace sdip {
namespace {

constexpr std::size_t longest_shown = std::size_t{256} << 10;
constexpr auto between_shown = std::chrono::milliseconds(200);

/// The findings of a search; nothing where it was cancelled before there were any.
struct SearchFound {
  bool cancelled = false;
  std::optional<FoundText> text{};
};

FoundText text_of(const BestAnswer& answer) {
  return {json_text(best_summary_json(answer)), json_text(best_json(answer))};
}

/// Searches in a child, which is not believed: what it says is JSON of a bounded size, at least.
SearchFound searched_apart(const Catalog& catalog, const Member& member, const Json& body, int threads,
                           const JobTurn<BestProgress>& turn) {
  const SearchGoal goal = best_request(body).goal;
  const auto take = [&](std::string_view text) {
    if (text.size() > longest_shown) throw no_valid_answer(member.name);
    turn.show(best_progress_from_json(goal, parse_json(text)));
  };
  try {
    Evaluation evaluation = evaluation_named("search");
    evaluation.limits.threads = threads;
    return {false, found_in_answer(catalog.apart(member, evaluation, {{"request", body}, {"threads", threads}},
                                                 {take, [&] { return turn.cancel.load(); }}, true),
                                   member.name)};
  } catch (const Json::exception&) {
    throw no_valid_answer(member.name);
  } catch (const Error& error) {
    if (is_cancelled(error)) return {true, std::nullopt};
    if (error.code == "json_invalid" || error.code == "value_invalid") throw no_valid_answer(member.name);
    throw;
  }
}

SearchFound searched_here(Store& store, const Catalog& catalog, std::int64_t id, const Json& body, int threads,
                          const JobTurn<BestProgress>& turn) {
  const BestRequest request = best_request(body);
  const KnownAccuracies known = {
      [&](const std::string& key) { return store.accuracy(key); },
      [&](const std::string& key, const StoredAccuracy& found) { store.add_accuracy(key, found); }};
  const BestKeeping keeping = {
      best_state_of_text(request.goal, store.search_progress(id)),
      [&](const BestState& state) { store.keep_search_progress(id, best_state_text(request.goal, state)); }};
  const BestAnswer answer = find_best(catalog, request, threads, &turn.cancel, turn.show, known, keeping);
  return {answer.cancelled, text_of(answer)};
}

/// The upload among what is searched for and what is measured in its place: a child reads one, and can make no
/// file, which weights of a built-in model are measured from.
std::optional<Member> uploaded_of(const Catalog& catalog, const BestRequest& request) {
  const Mix mix = catalog.mix(request.model, "/model");
  auto searched = catalog.uploaded(mix);
  if (!request.measures_formats()) return searched;
  const Mix measured = request.sqnr_model.empty() ? mix : catalog.mix(request.sqnr_model, "/sqnr_model");
  const auto upload = catalog.uploaded(measured);
  if (searched && upload && searched->name != upload->name)
    throw Error("value_conflict", "/sqnr_model",
                "expected one uploaded model at most, in model and sqnr_model together");
  const bool built_in = std::ranges::any_of(measured, [](const MixPart& part) { return is_built_in(part.model); });
  if ((searched || upload) && built_in)
    throw Error("value_conflict", "/sqnr_model", "beside an uploaded model no built-in one is measured");
  return searched ? searched : upload;
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
  return answer_of(text_of(answer));
}

SearchJobs::SearchJobs(Store& store, const Catalog& catalog)
    : store_(store),
      catalog_(catalog),
      queue_(JobKind::search, queued_searches(store),
             [this](std::int64_t id, const JobTurn<BestProgress>& turn) { run(id, turn); }) {}

std::int64_t SearchJobs::submit(const BestRequest& request) {
  uploaded_of(catalog_, request);
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
  const int threads = threads_here();
  try {
    const Json body = Json::parse(row.request_json);
    const auto member = uploaded_of(catalog_, best_request(body));
    const SearchFound found = member ? searched_apart(catalog_, *member, body, threads, turn)
                                     : searched_here(store_, catalog_, id, body, threads, turn);
    if (found.cancelled && !turn.by_user())
      store_.set_search_state(id, SweepState::interrupted);
    else if (!found.text)
      store_.set_search_state(id, SweepState::cancelled);
    else
      store_.end_search(id, found.cancelled ? SweepState::cancelled : SweepState::done, found.text->summary,
                        found.text->result);
  } catch (const Error& error) {
    store_.set_search_state(id, SweepState::failed, Problem{error.code, error.where, error.what()});
  } catch (const std::exception& bug) {
    std::cerr << "sdip: internal: search " << id << ": " << printable(bug.what()) << std::endl;
    store_.set_search_state(id, SweepState::failed, Problem{"internal", "", "a bug of ours; the log has more"});
  }
}

}  // namespace sdip
