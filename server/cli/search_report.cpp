// Tables of what the search finds.
#include "server/cli/search_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "server/cli/commands.h"
#include "server/io/files.h"
#include "server/io/json_in.h"
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

/// Those that are measured.
SearchOptions options_of(const SearchReport& wanted, std::uint64_t seed, std::int64_t evaluations) {
  SearchOptions options;
  options.optimiser = wanted.optimiser;
  options.islands = wanted.islands;
  options.seed = seed;
  options.evaluations = evaluations;
  return options;
}

SpaceReport small_report(const Catalog& catalog, const SearchedSpace& searched, const SearchReport& wanted) {
  const Visited visited = visit(catalog, searched, threads_here());
  const VolumeShare share(visited.front);
  const std::int64_t evaluations = visited.points / 20;
  SpaceReport report;
  report.facts = {{"space", searched.name},        {"machines", visited.points},
                  {"programs", visited.programs},  {"feasible", visited.feasible},
                  {"front", visited.front.size()}, {"reference", reference_json(searched, share)},
                  {"evaluations", evaluations},    {"optimiser", optimiser_name(wanted.optimiser)},
                  {"islands", wanted.islands}};
  for (int k = 1; k <= wanted.seeds; ++k) {
    const auto seed = static_cast<std::uint64_t>(k);
    const CostPoints found = searched_front(searched, visited, options_of(wanted, seed, evaluations));
    report.found.all.push_back(share.of(found));
    report.drawn.all.push_back(share.of(drawn_front(searched, visited, seed, evaluations)));
  }
  return report;
}

/// A search or a draw of a space, with its seed.
struct Attempt {
  bool drawn = false;
  SearchOptions options;
  FoundFront found = {};
};

void tell(const Attempt& attempt, const SearchedSpace& searched, std::int64_t ended, std::int64_t of) {
  std::cerr << searched.name << ", " << ended << " of " << of << ": " << (attempt.drawn ? "draw" : "search")
            << " of " << count_text(attempt.options.evaluations) << " machines, seed " << attempt.options.seed
            << ": " << count_text(attempt.found.evaluated) << " machines, " << count_text(attempt.found.compiled)
            << " programs, " << std::llround(attempt.found.seconds) << " s, " << attempt.found.costs.size()
            << " on its front" << std::endl;
}

/// Files of ended attempts: a measure that is broken off goes on where it was. They are of this very program, since
/// another one may search otherwise.
class KeptAttempts {
 public:
  explicit KeptAttempts(std::filesystem::path folder) : folder_(std::move(folder)) {
    if (folder_.empty()) return;
    require_folder(folder_);
    program_ = sha256_hex(MappedFile("/proc/self/exe").bytes());
  }
  /// Whether `one` was kept, and now has what it found.
  bool read(const std::string& space, Attempt& one) const {
    const std::filesystem::path file = file_of(space, one);
    if (folder_.empty() || !std::filesystem::exists(file)) return false;
    try {
      const Json json = parse_json(read_text(file));
      one.found = {.costs = json.at("costs").get<CostPoints>(),
                   .evaluated = json.at("evaluated").get<std::int64_t>(),
                   .compiled = json.at("compiled").get<std::int64_t>(),
                   .seconds = json.at("seconds").get<double>()};
    } catch (const Json::exception&) {
      throw Error("value_invalid", file, "expected what a search found, as --keep writes it");
    }
    return true;
  }
  void keep(const std::string& space, const Attempt& one) const {
    if (folder_.empty()) return;
    write_file(file_of(space, one), json_text(Json{{"costs", one.found.costs},
                                                   {"evaluated", one.found.evaluated},
                                                   {"compiled", one.found.compiled},
                                                   {"seconds", one.found.seconds}}));
  }

 private:
  std::filesystem::path file_of(const std::string& space, const Attempt& one) const {
    const SearchOptions& o = one.options;
    const std::string said = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", program_, space, one.drawn,
                                         optimiser_name(o.optimiser), o.islands, o.seed, o.evaluations, o.threads);
    return folder_ / (sha256_hex(std::as_bytes(std::span(said))) + ".json");
  }
  std::filesystem::path folder_;
  std::string program_;
};

/// As many at once as this machine has threads, each on one, or on more where there are more than attempts; what
/// they find does not depend on it. Returns the threads of each.
int attempt_all(const Catalog& catalog, const SearchedSpace& searched, const KeptAttempts& kept,
                List<Attempt>& attempts) {
  const int threads_each = std::max(1, threads_here() / static_cast<int>(std::ssize(attempts)));
  List<std::int64_t> missing;
  for (std::int64_t i = 0; i < std::ssize(attempts); ++i) {
    attempts[i].options.threads = threads_each;
    if (!kept.read(searched.name, attempts[i])) missing.push_back(i);
  }
  std::mutex telling;
  std::int64_t ended = std::ssize(attempts) - std::ssize(missing);
  on_threads(threads_here(), std::ssize(missing), [&](std::int64_t k) {
    Attempt& one = attempts[missing[k]];
    one.found = one.drawn
                    ? compiled_draw(catalog, searched, one.options.seed, one.options.evaluations, threads_each)
                    : compiled_search(catalog, searched, one.options);
    kept.keep(searched.name, one);
    const std::scoped_lock lock(telling);
    tell(one, searched, ++ended, std::ssize(attempts));
  });
  return threads_each;
}

/// Beside the union of longer runs, of other seeds, and of all that is found.
SpaceReport whole_report(const Catalog& catalog, const SearchedSpace& searched, const SearchReport& wanted) {
  constexpr std::uint64_t first_of_runs = 1001;
  List<Attempt> attempts;
  for (int k = 0; k < wanted.runs; ++k)
    attempts.push_back(
        {false, options_of({}, first_of_runs + static_cast<std::uint64_t>(k), wanted.run_evaluations)});
  for (int k = 1; k <= wanted.seeds; ++k)
    for (const bool drawn : {false, true})
      attempts.push_back({drawn, options_of(wanted, static_cast<std::uint64_t>(k), wanted.evaluations)});
  const int threads = attempt_all(catalog, searched, KeptAttempts(wanted.kept), attempts);

  const std::span measured = std::span(attempts).subspan(as_size(wanted.runs));
  CostPoints all;
  std::int64_t long_evaluated = 0, compiled = 0;
  double seconds = 0;
  for (const Attempt& one : attempts) all.insert(all.end(), one.found.costs.begin(), one.found.costs.end());
  for (int k = 0; k < wanted.runs; ++k) long_evaluated += attempts[k].found.evaluated;
  for (const Attempt& one : measured) {
    if (one.drawn) continue;
    compiled += one.found.compiled;
    seconds += one.found.seconds;
  }
  SpaceReport report;
  const CostPoints front = front_of(all);
  report.facts = {{"space", searched.name},
                  {"rows", searched.space.axes.size()},
                  {"seeds", wanted.seeds},
                  {"runs", wanted.runs},
                  {"run_evaluations", wanted.runs > 0 ? long_evaluated / wanted.runs : 0},
                  {"front", front.size()},
                  {"programs_of_a_search", compiled / wanted.seeds},
                  {"seconds_of_a_search", seconds / wanted.seeds},
                  {"threads_of_a_search", threads},
                  {"optimiser", optimiser_name(wanted.optimiser)},
                  {"islands", wanted.islands},
                  {"evaluations", wanted.evaluations}};
  if (front.empty()) return report;
  const VolumeShare share(front);
  report.facts["reference"] = reference_json(searched, share);
  for (const Attempt& one : measured)
    (one.drawn ? report.drawn : report.found).all.push_back(share.of(one.found.costs));
  if (searched.goal.objectives.size() > 2) {
    double most = 0;
    for (const Shares* shares : {&report.found, &report.drawn})
      for (const double one : shares->all) most = std::max(most, share.error(one));
    report.facts["standard_error"] = most;
  }
  return report;
}

OrderedJson shares_json(const Shares& shares) {
  return {{"median", shares.median()}, {"worst", shares.worst()}, {"all", shares.all}};
}

OrderedJson searched_json(const SpaceReport& one) {
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
  for (const SpaceReport& one : reports)
    if (one.facts.contains("runs"))
      std::cout << one.facts["space"].get<std::string>() << ": seeds 1 to " << one.facts["seeds"]
                << "; the front is of all that they find and " << one.facts["runs"] << " searches of "
                << count_text(one.facts["run_evaluations"].get<std::int64_t>()) << " machines; a search takes "
                << std::llround(one.facts["seconds_of_a_search"].get<double>())
                << " s, threads: " << one.facts["threads_of_a_search"]
                << (one.facts.contains("standard_error") ? "; standard error of a share, at most " +
                                                               share_text(one.facts["standard_error"].get<double>())
                                                         : "")
                << "\n";
}

}  // namespace

int run_search_report(const SearchReport& wanted) {
  const Catalog catalog;
  std::vector<SpaceReport> reports;
  if (wanted.small)
    for (const SearchedSpace& searched : small_spaces()) reports.push_back(small_report(catalog, searched, wanted));
  if (wanted.whole) reports.push_back(whole_report(catalog, whole_space(), wanted));
  if (wanted.seven) reports.push_back(whole_report(catalog, whole_space_of_seven(catalog, threads_here()), wanted));
  if (wanted.json) return print_json(json_list(reports, searched_json));
  print_reports(reports);
  return exit_ok;
}

}  // namespace sdip
