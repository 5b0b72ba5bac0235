// The points of a front, one after the other, then their programs.
#include "server/jobs/validate_front.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "server/studies/analysis.h"

namespace sdip {
namespace {

constexpr std::size_t most_points_validated = 10'000;
constexpr std::size_t most_programs_kept = 32;  // a large model's takes some megabytes; tensors are of these alone

/// The programs of a front, kept while its points are gone through: neighbours on it often share one.
class FrontPrograms {
 public:
  /// Compiling ends when `allowance` does.
  FrontPrograms(const Catalog& catalog, const SweepSpec& spec, const Allowance& allowance)
      : compile_(compile_quickly(catalog, catalog.mix(spec.model, "/model"), {spec.formats},
                                 [&allowance] { return !allowance.fits(0); })) {}
  const Programs& of(const Machine& machine) {
    const auto key = compile_key(machine);
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second.programs;
    keys_.insert(key);
    Kept one{compile_(machine), machine};
    if (kept_.size() < most_programs_kept) return kept_.emplace(key, std::move(one)).first->second.programs;
    last_ = std::move(one);
    return last_->programs;
  }
  struct Kept {
    Programs programs;
    Machine machine;  // the first that they were compiled for
  };
  const std::map<std::vector<std::int64_t>, Kept>& kept() const { return kept_; }
  std::int64_t count() const { return std::ssize(keys_); }
  /// Those that were compiled for an earlier point and kept; else none.
  Programs known(const Machine& machine) const {
    const auto found = kept_.find(compile_key(machine));
    return found == kept_.end() ? Programs() : found->second.programs;
  }

 private:
  CompileFunction compile_;
  std::map<std::vector<std::int64_t>, Kept> kept_;
  std::set<std::vector<std::int64_t>> keys_;
  std::optional<Kept> last_;  // beyond those that are kept
};

/// Without each instruction's own numbers, of which a front has millions: how many were compared stays.
void keep_totals(std::vector<StageCounters>& stages) {
  for (StageCounters& stage : stages) {
    for (ComparedPass& pass : stage.passes) pass.counters = {};
    stage.layers = stage.mnemonics = {};
  }
}

/// The stages to compare of a point for which no time is left, where its program is at hand.
std::vector<StageCounters> left_out_stages(const Programs& programs) {
  std::vector<StageCounters> stages;
  for (const auto& application : programs.of)
    for (const CompiledStage& stage : application->stages) stages.push_back(left_out(stage, "out of time"));
  return stages;
}

/// A point whose program is not compiled in time counts as one that is not looked at.
std::vector<StageCounters> point_counters(FrontPrograms& programs, const ValidationRequest& request,
                                          const Allowance& allowance) {
  try {
    std::vector<StageCounters> stages;
    for (const auto& application : programs.of(request.machine).of)
      for (StageCounters& stage : validate_within(*application, request, allowance))
        stages.push_back(std::move(stage));
    return stages;
  } catch (const Error& error) {
    if (!is_cancelled(error)) throw;
    return {};
  }
}

std::int64_t classes_of(const Application& application) {
  std::int64_t classes = 0;
  for (const CompiledStage& stage : application.stages) classes += std::ssize(stage.program.classes);
  return classes;
}

/// Tensors of the programs, each having its part of what time is left.
void execute_programs(FrontValidation& front, const FrontPrograms& programs, const ValidationRequest& request,
                      const Allowance& allowance, const std::function<void(const ValidationProgress&)>& progress) {
  std::int64_t left = 0;
  for (const auto& [key, kept] : programs.kept()) left += std::ssize(kept.programs.of);
  for (const auto& [key, kept] : programs.kept())
    for (const auto& application : kept.programs.of) {
      front.classes += classes_of(*application);
      ValidationRequest one = request;
      one.machine = kept.machine;
      const Allowance part = allowance.part(1.0 / static_cast<double>(left--));
      const auto executed = execute_within(*application, one, part, progress);
      for (const StageTensors& stage : executed) front.classes_executed += stage.compared;
      for (FrontPoint& point : front.points) {
        std::vector<StageTensors>& its = point.validation.tensors;
        if (compile_key(point.validation.machine) == key) its.insert(its.end(), executed.begin(), executed.end());
      }
    }
}

Coverage coverage_of(const FrontValidation& front) {
  Coverage coverage;
  for (const FrontPoint& point : front.points) coverage += coverage_of(point.validation);
  return coverage;
}

OrderedJson first_of(const FrontValidation& front) {
  for (const FrontPoint& point : front.points) {
    OrderedJson first = first_difference_json(point.validation);
    if (first.is_null()) continue;
    first["point"] = point.index;
    return first;
  }
  return nullptr;
}

}  // namespace

bool is_covered(const FrontPoint& point) {
  return !point.validation.counters.empty() &&
         std::ranges::all_of(point.validation.counters, [](const StageCounters& stage) {
           return std::ssize(stage.compared) == stage.instructions;
         });
}

Verdict verdict_of(const FrontPoint& point) {
  const Verdict verdict = verdict_of(point.validation);
  const auto compared = [](const StageCounters& stage) { return stage.values > 0; };
  const bool stepped = std::ranges::any_of(point.validation.counters, compared);
  return verdict == Verdict::pass && !stepped ? Verdict::not_compared : verdict;
}

Verdict verdict_of(const FrontValidation& front) {
  std::int64_t compared = 0, differences = 0;
  for (const FrontPoint& point : front.points) {
    compared += verdict_of(point) != Verdict::not_compared;
    differences += verdict_of(point) == Verdict::differs;
  }
  return verdict_of(compared, differences);
}

std::vector<std::int64_t> front_to_validate(const Store& store, const SweepRecord& sweep) {
  std::vector<std::int64_t> indexes = front_points(store, sweep, sweep.spec.objectives);
  if (indexes.size() > most_points_validated) indexes.resize(most_points_validated);
  return indexes;
}

FrontValidation validate_front(const Catalog& catalog, const SweepSpec& spec,
                               const std::vector<std::int64_t>& points, std::int64_t seconds,
                               const std::atomic<bool>* cancel,
                               const std::function<void(const ValidationProgress&)>& progress) {
  const auto begin = std::chrono::steady_clock::now();
  FrontValidation front;
  front.budget_s = seconds;
  const Allowance all(seconds, cancel), counters = all.part(2.0 / 3);
  FrontPrograms programs(catalog, spec, counters);
  ValidationRequest request;
  request.model = spec.model;
  for (const std::int64_t index : points) {
    FrontPoint& one = front.points.emplace_back();
    one.index = index;
    one.validation.model = spec.model;
    one.validation.machine = request.machine = point(spec.space, index);
    if (progress) progress({"counters", std::ssize(front.points) - 1, std::ssize(points)});
    if (!counters.fits(0)) {
      one.validation.counters = left_out_stages(programs.known(request.machine));
      continue;
    }
    one.validation.counters = point_counters(programs, request, counters);
    keep_totals(one.validation.counters);
  }
  execute_programs(front, programs, request, all, progress);
  front.programs = programs.count();
  front.cancelled = all.cancelled();
  front.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return front;
}

template <>
Record<FrontValidation> make_record() {
  using Of = FrontValidation;
  return Record<Of>("FrontSummary", SchemaOrder::counts_first)
      .field("verdict", [](const Of& of) { return verdict_of(of); })
      .field("passed", [](const Of& of) { return verdict_of(of) == Verdict::pass; })
      .field("budget_s", &Of::budget_s)
      .field("seconds", &Of::seconds)
      .field("points", [](const Of& of) { return of.points.size(); })
      .field("points_covered", [](const Of& of) { return std::ranges::count_if(of.points, is_covered); })
      .field("programs", &Of::programs)
      .field("classes", &Of::classes)
      .field("classes_executed", &Of::classes_executed)
      .field("values", [](const Of& of) { return coverage_of(of).values; })
      .field("differences", [](const Of& of) { return coverage_of(of).differences; })
      .field("overflows", [](const Of& of) { return coverage_of(of).overflows; })
      .field("first_difference", first_difference_schema(), first_of);
}
template <>
Record<FrontPoint> make_record() {
  using Of = FrontPoint;
  return Record<Of>("FrontPoint")
      .field("index", &Of::index)
      .field("covered", is_covered)
      .field("verdict", [](const Of& of) { return verdict_of(of); })
      .field("passed", [](const Of& of) { return verdict_of(of) == Verdict::pass; })
      .field("coverage", [](const Of& of) { return coverage_of(of.validation); })
      .field("first_difference", first_difference_schema(),
             [](const Of& of) { return first_difference_json(of.validation); });
}

OrderedJson front_summary_json(const FrontValidation& front) { return record<FrontValidation>().json(front); }

OrderedJson front_validation_json(const FrontValidation& front) {
  return {{"points", Written<std::vector<FrontPoint>>::json(front.points)}};
}

void add_front_validation_schemas(OrderedJson& schemas) { add_schemas<FrontValidation, FrontPoint>(schemas); }

}  // namespace sdip
