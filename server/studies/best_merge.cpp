// Merging the answers of searches.
#include "server/studies/best_merge.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/explore/search/archive.h"
#include "core/study/signature.h"

namespace sdip {
namespace {

/// Reads an answer; what is wrong with it is told with its name.
template <class Read>
auto read_part(const PartAnswer& part, const Read& read) {
  try {
    return read(part.json);
  } catch (const Error& error) {
    throw Error(error.code, part.name, fmt::format("{}: {}", error.where, error.what()));
  } catch (const Json::exception&) {
    throw Error("value_invalid", part.name, "is no answer of sdip best --json");
  }
}

BestRequest request_of(const PartAnswer& part) {
  return read_part(part, [](const Json& json) { return best_request(json.at("request")); });
}

/// The request of all parts.
OrderedJson whole_request(BestRequest request) {
  request.part = {1, 1};
  return best_request_json(request);
}

void require_like(const PartAnswer& part, const BestRequest& first, const std::string& first_name) {
  const BestRequest request = request_of(part);
  const bool same = whole_request(request) == whole_request(first) && request.part.parts == first.part.parts;
  if (!same)
    throw Error("value_conflict", part.name,
                "answers another request than " + first_name + ", or one in other parts");
  const bool cancelled = read_part(part, [](const Json& json) { return json.at("cancelled").get<bool>(); });
  if (cancelled) throw Error("value_invalid", part.name, "was cancelled: run that part again");
  if (part.json.value("engine", "") != signature())
    throw Error("engine_changed", part.name, "was found by another version: run every part by this one");
}

Outcome outcome_of(const Json& json) {
  Outcome outcome;
  outcome.feasible = json.at("feasible").get<bool>();
  outcome.reason = json.at("reason").get<std::string>();
  for (std::size_t m = 0; m < metric_count; ++m) {
    const Json& value = json.at("metrics").at(std::string(metrics()[m].name));
    outcome.values[m] = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
  return outcome;
}

std::vector<Candidate> candidates_of(const Json& json, const BestRequest& request, const SearchSpace& space) {
  std::vector<Candidate> candidates;
  for (const Json& one : json.at("best")) {
    Candidate candidate;
    candidate.machine = find_preset(request.preset)->machine;
    assign_json(candidate.machine, one.at("settings"), "/settings");
    candidate.places = nearest_places(space, candidate.machine);
    candidate.outcome = outcome_of(one);
    candidate.score = scores(request.goal, {&candidate.machine, 1}, {&candidate.outcome, 1})[0];
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

void add_progress(const Json& json, SearchProgress& progress) {
  progress.generations += json.at("generations").get<std::int64_t>();
  progress.evaluated += json.at("evaluated").get<std::int64_t>();
  progress.feasible += json.at("feasible").get<std::int64_t>();
  progress.compiled += json.at("compiled").get<std::int64_t>();
}

}  // namespace

BestAnswer merged_best(const Catalog& catalog, std::span<const PartAnswer> parts, const std::atomic<bool>* cancel) {
  check(!parts.empty(), "merged_best: at least one answer");
  const BestRequest first = request_of(parts[0]);
  BestRequest request = first;
  request.part = {1, 1};
  const SearchSpace space = search_space(request);
  for (const PartAnswer& part : parts) require_like(part, first, parts[0].name);
  Archive archive;
  SearchResult found;
  std::set<std::int64_t> known;
  double seconds = 0;
  for (const PartAnswer& part : parts) {
    archive.add(read_part(part, [&](const Json& json) { return candidates_of(json, request, space); }));
    if (!known.insert(request_of(part).part.part).second) continue;
    read_part(part, [&](const Json& json) {
      add_progress(json, found.progress);
      seconds += json.at("seconds").get<double>();
    });
  }
  if (const Candidate* best = archive.best()) found.progress.best = best->score.costs;
  found.best = std::move(archive).release();
  return answer_of(catalog, request, std::move(found), seconds, cancel);
}

std::string missing_parts(std::span<const PartAnswer> parts) {
  std::set<std::int64_t> known;
  std::int64_t count = 0;
  for (const PartAnswer& part : parts) {
    const WorkPart its = request_of(part).part;
    known.insert(its.part);
    count = its.parts;
  }
  std::string missing;
  for (std::int64_t k = 1; k <= count; ++k)
    if (!known.contains(k)) missing += (missing.empty() ? "" : ", ") + std::to_string(k);
  return missing;
}

}  // namespace sdip
