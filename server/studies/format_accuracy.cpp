// Sets of number formats, measured.
#include "server/studies/format_accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "server/io/threads.h"

namespace sdip {
namespace {

constexpr std::string_view format_rows[] = {"weight_format", "activation_format", "accumulator_format"};
constexpr double none_measured = -std::numeric_limits<double>::infinity();

/// The machine with room for everything, for whole networks, and with sums that blocks of any format may have: none
/// of it changes a rounding.
Machine roomy(Machine machine) {
  constexpr std::int64_t room = std::int64_t{1} << 32;
  for (const char* name : {"psram_bytes", "dsram_bytes", "stackram_bytes", "imem_bytes"}) {
    const ParameterRow* row = find_parameter(name);
    row->write(machine, std::min(room, row->most));
  }
  machine.accumulator_folds = machine.weight_registers = 0;
  machine.core_weights = CoreWeights::common;
  machine.weight_storage = WeightStorage::streamed;
  return machine;
}

/// One machine and workload; nothing where its formats do not go together.
struct Task {
  AccuracyRequest request;
  std::optional<StoredAccuracy> found{};
  bool fresh = false;
};

StoredAccuracy measured_now(const Catalog& catalog, const AccuracyRequest& request, const Stop& stop) {
  AccuracyPlan plan = accuracy_plan(catalog, request, stop);
  if (!plan.application.feasible) throw Error("infeasible", request.model, plan.application.reason);
  require_measurable(plan);
  plan.request.options.go_on = [&](double) { return !(stop && stop()); };
  const AccuracyReport report = measure(catalog, plan);
  if (!report.complete) end_if(stop, request.model);
  return {report.output().sqnr_db(), report.output().cosine(), plan.random_weights};
}

/// On the threads. A cancellation, and a model that is too large, end all.
void measure_all(const Catalog& catalog, List<Task>& tasks, const KnownAccuracies& known, int threads,
                 const Stop& stop) {
  std::mutex keeping;
  on_threads(threads, std::ssize(tasks), [&](std::int64_t i) {
    Task& task = tasks[i];
    const std::string key = accuracy_key(task.request.model, task.request);
    const bool kept = is_built_in(task.request.model);  // a file of that name may be another next time
    try {
      {
        const std::scoped_lock lock(keeping);
        if (kept && known.find) task.found = known.find(key);
      }
      if (task.found) return;
      task.found = measured_now(catalog, task.request, stop);
      task.fresh = true;
      const std::scoped_lock lock(keeping);
      if (kept && known.add) known.add(key, *task.found);
    } catch (const Error& error) {
      if (is_cancelled(error) || error.code == "limit_exceeded" || error.code == "unknown_model") throw;
    }
  });
}

double decibels(const std::optional<StoredAccuracy>& found) {
  if (!found || std::isnan(found->sqnr_db)) return none_measured;
  return std::min(found->sqnr_db, most_sqnr_db);
}

/// The sets of `values`, one of each row, in their order; of those that can be measured.
class Measuring {
 public:
  Measuring(const Catalog& catalog, const Mix& mix, const Machine& base, const KnownAccuracies& known, int threads,
            const Stop& stop, FormatAccuracies& found)
      : catalog_(catalog), mix_(mix), base_(base), known_(known), threads_(threads), stop_(stop), found_(found) {}

  std::vector<TabledValue> of(const std::vector<std::vector<std::int64_t>>& sets) {
    std::vector<TabledValue> wanted;
    std::vector<std::vector<std::int64_t>> unknown;
    for (const auto& set : sets)
      if (!worst_.contains(set)) unknown.push_back(set);
    measure_sets(unknown);
    for (const auto& set : sets)
      if (std::isfinite(worst_.at(set))) wanted.push_back({set, worst_.at(set)});
    return wanted;
  }

 private:
  void measure_sets(const std::vector<std::vector<std::int64_t>>& sets) {
    List<Task> tasks;
    std::vector<std::size_t> set_of;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      worst_[sets[s]] = none_measured;
      Machine machine = roomy(base_);
      for (std::size_t r = 0; r < found_.rows.size(); ++r) found_.rows[r]->write(machine, sets[s][r]);
      try {
        check_machine(machine);
      } catch (const Error&) {
        continue;
      }
      worst_[sets[s]] = most_sqnr_db;
      for (const MixPart& part : mix_) {
        tasks.push_back({{part.model, machine, {}, {}}});
        set_of.push_back(s);
      }
    }
    measure_all(catalog_, tasks, known_, threads_, stop_);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      double& worst = worst_[sets[set_of[t]]];
      worst = std::min(worst, decibels(tasks[t].found));
      found_.measured += tasks[t].fresh;
      found_.random_weights = found_.random_weights || (tasks[t].found && tasks[t].found->random_weights);
    }
  }

  const Catalog& catalog_;
  const Mix& mix_;
  const Machine& base_;
  const KnownAccuracies& known_;
  int threads_;
  const Stop& stop_;
  FormatAccuracies& found_;
  std::map<std::vector<std::int64_t>, double> worst_;  // of the sets so far
};

std::vector<std::vector<std::int64_t>> product_of(const std::vector<std::vector<std::int64_t>>& values) {
  std::vector<std::vector<std::int64_t>> all = {{}};
  for (const auto& of_row : values) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& begun : all)
      for (const std::int64_t value : of_row) {
        longer.push_back(begun);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  return all;
}

/// Whether one of the sets has this value of the row, and comes up to so much.
bool reaches(const std::vector<TabledValue>& sets, std::size_t row, std::int64_t value, double least_db) {
  return std::ranges::any_of(
      sets, [&](const TabledValue& one) { return one.values[row] == value && one.number >= least_db; });
}

/// The formats of a row that are as wide as any.
std::vector<std::int64_t> widest(const std::vector<std::int64_t>& values) {
  std::int64_t bits = 0;
  for (const std::int64_t value : values) bits = std::max(bits, bits_of(static_cast<NumberFormat>(value)));
  std::vector<std::int64_t> wide;
  for (const std::int64_t value : values)
    if (bits_of(static_cast<NumberFormat>(value)) == bits) wide.push_back(value);
  return wide;
}

}  // namespace

FormatAccuracies format_accuracies(const Catalog& catalog, const Mix& mix, const Machine& base,
                                   std::span<const Axis> axes, std::optional<double> least_db,
                                   const KnownAccuracies& known, int threads, const Stop& stop) {
  FormatAccuracies found;
  std::vector<std::vector<std::int64_t>> values;
  for (const std::string_view name : format_rows) {
    found.rows.push_back(find_parameter(name));
    const auto axis = std::ranges::find(axes, found.rows.back(), &Axis::row);
    values.push_back(axis == axes.end() ? std::vector{found.rows.back()->read(base)} : axis->values);
  }
  Measuring measuring(catalog, mix, base, known, threads, stop, found);
  if (least_db) {
    const auto all = values;
    for (std::size_t r = 0; r < 2; ++r) {  // of sums integers and floats, whichever go with what is summed
      auto alone = all;
      alone[1 - r] = {widest(all[1 - r])[0]};
      alone[2] = widest(all[2]);
      const std::vector<TabledValue> sets = measuring.of(product_of(alone));
      std::erase_if(values[r], [&](std::int64_t value) { return !reaches(sets, r, value, *least_db); });
    }
  }
  found.sets = measuring.of(product_of(values));
  if (found.sets.empty())
    throw Error("infeasible", "/sqnr_db",
                "no set of number formats that is searched comes up to it, or can be measured");
  return found;
}

std::string accuracies_key(const Mix& mix, const Machine& machine) {
  std::string key;
  for (const MixPart& part : mix) key += accuracy_key(part.model, {part.model, machine, {}, {}}) + "\n";
  return key;
}

std::optional<double> sqnr_of_machine(const Catalog& catalog, const Mix& mix, const Machine& machine,
                                      const KnownAccuracies& known, const Stop& stop) {
  List<Task> tasks;
  for (const MixPart& part : mix) tasks.push_back({{part.model, machine, {}, {}}});
  try {
    measure_all(catalog, tasks, known, 1, stop);
  } catch (const Error& error) {
    if (error.code != "limit_exceeded") throw;
    return std::nullopt;
  }
  double worst = std::numeric_limits<double>::infinity();
  for (const Task& task : tasks) {
    if (!task.found) return std::nullopt;
    worst = std::min(worst, decibels(task.found));
  }
  return worst;
}

}  // namespace sdip
