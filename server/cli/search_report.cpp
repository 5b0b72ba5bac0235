// Tables of what the search finds.
#include "server/cli/search_report.h"

#include <algorithm>
#include <iostream>

#include "server/cli/commands.h"
#include "server/io/text.h"
#include "server/io/threads.h"
#include "server/studies/search_quality.h"

namespace sdip {
namespace {

/// Shares of a front's volume, one of each seed.
struct Shares {
  std::vector<double> all;
  double worst() const { return *std::ranges::min_element(all); }
  double median() const {
    std::vector<double> sorted = all;
    std::ranges::sort(sorted);
    return (sorted[sorted.size() / 2] + sorted[(sorted.size() - 1) / 2]) / 2;
  }
};

struct SpaceReport {
  OrderedJson facts;  // of the space and its front
  Shares found, drawn;
};

OrderedJson reference_json(const SearchedSpace& searched, const VolumeShare& share) {
  OrderedJson reference = OrderedJson::object();
  for (std::size_t k = 0; k < searched.goal.objectives.size(); ++k)
    reference[std::string(searched.goal.objectives[k].measure.name())] =
        searched.goal.objectives[k].better == Better::higher ? -share.reference()[k] : share.reference()[k];
  return reference;
}

SpaceReport small_report(const Catalog& catalog, const SearchedSpace& searched, int seeds) {
  const Visited visited = visit(catalog, searched, threads_here());
  const VolumeShare share(visited.front);
  const std::int64_t evaluations = visited.points / 20;
  SpaceReport report;
  report.facts = {{"space", searched.name},        {"machines", visited.points},
                  {"programs", visited.programs},  {"feasible", visited.feasible},
                  {"front", visited.front.size()}, {"reference", reference_json(searched, share)},
                  {"evaluations", evaluations}};
  for (int k = 1; k <= seeds; ++k) {
    const auto seed = static_cast<std::uint64_t>(k);
    report.found.all.push_back(share.of(searched_front(searched, visited, seed, evaluations)));
    report.drawn.all.push_back(share.of(drawn_front(searched, visited, seed, evaluations)));
  }
  return report;
}

/// Beside the union of longer runs, of other seeds, and of all that is found.
SpaceReport whole_report(const Catalog& catalog, const SearchedSpace& searched, const SearchReport& wanted) {
  constexpr std::uint64_t first_of_runs = 1001;
  CostPoints all;
  const auto add = [&](const CostPoints& costs) { all.insert(all.end(), costs.begin(), costs.end()); };
  std::int64_t long_evaluated = 0, compiled = 0;
  double seconds = 0;
  for (int k = 0; k < wanted.runs; ++k) {
    const FoundFront found = compiled_search(catalog, searched, first_of_runs + static_cast<std::uint64_t>(k),
                                             wanted.run_evaluations, threads_here());
    long_evaluated += found.evaluated;
    add(found.costs);
  }
  std::vector<CostPoints> searches, draws;
  for (int k = 1; k <= wanted.seeds; ++k) {
    const auto seed = static_cast<std::uint64_t>(k);
    const FoundFront found = compiled_search(catalog, searched, seed, wanted.evaluations, threads_here());
    compiled += found.compiled;
    seconds += found.seconds;
    searches.push_back(found.costs);
    draws.push_back(compiled_draw(catalog, searched, seed, wanted.evaluations, threads_here()).costs);
    add(found.costs);
    add(draws.back());
  }
  SpaceReport report;
  const CostPoints front = front_of(all);
  report.facts = {{"space", searched.name},
                  {"rows", searched.space.axes.size()},
                  {"runs", wanted.runs},
                  {"run_evaluations", wanted.runs > 0 ? long_evaluated / wanted.runs : 0},
                  {"front", front.size()},
                  {"programs_of_a_search", compiled / wanted.seeds},
                  {"seconds_of_a_search", seconds / wanted.seeds},
                  {"evaluations", wanted.evaluations}};
  if (front.empty()) return report;
  const VolumeShare share(front);
  report.facts["reference"] = reference_json(searched, share);
  for (const CostPoints& costs : searches) report.found.all.push_back(share.of(costs));
  for (const CostPoints& costs : draws) report.drawn.all.push_back(share.of(costs));
  return report;
}

OrderedJson shares_json(const Shares& shares) {
  return {{"median", shares.median()}, {"worst", shares.worst()}, {"all", shares.all}};
}

OrderedJson space_json(const SpaceReport& one) {
  OrderedJson json = one.facts;
  if (one.found.all.empty()) return json;
  json["search"] = shares_json(one.found);
  json["random"] = shares_json(one.drawn);
  return json;
}

void print_reports(const std::vector<SpaceReport>& reports) {
  std::vector<TextRow> rows;
  for (const SpaceReport& one : reports) {
    TextRow row = {one.facts["space"].get<std::string>(),
                   one.facts.contains("machines") ? count_text(one.facts["machines"].get<std::int64_t>()) : "-",
                   count_text(one.facts["front"].get<std::int64_t>()),
                   count_text(one.facts["evaluations"].get<std::int64_t>())};
    for (const Shares* shares : {&one.found, &one.drawn}) {
      row.push_back(shares->all.empty() ? "-" : share_text(shares->median()));
      row.push_back(shares->all.empty() ? "-" : share_text(shares->worst()));
    }
    rows.push_back(std::move(row));
  }
  print_table(std::cout,
              {{"share of the volume of the front"},
               {"machines", Align::right},
               {"front", Align::right},
               {"evaluations", Align::right},
               {"search, median", Align::right},
               {"worst", Align::right},
               {"at large, median", Align::right},
               {"worst", Align::right}},
              rows, colour_out());
}

}  // namespace

int run_search_report(const SearchReport& wanted) {
  const Catalog catalog;
  std::vector<SpaceReport> reports;
  if (wanted.small)
    for (const SearchedSpace& searched : small_spaces())
      reports.push_back(small_report(catalog, searched, wanted.seeds));
  if (wanted.whole) reports.push_back(whole_report(catalog, whole_space(), wanted));
  if (wanted.seven) reports.push_back(whole_report(catalog, whole_space_of_seven(), wanted));
  if (wanted.json) {
    OrderedJson all = OrderedJson::array();
    for (const SpaceReport& one : reports) all.push_back(space_json(one));
    std::cout << json_text(all, 2) << "\n";
  } else {
    print_reports(reports);
  }
  return exit_ok;
}

}  // namespace sdip
