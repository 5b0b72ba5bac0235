// The front of a sweep, validated within a time.
//
// Counters first, of every point as long as two thirds of the time last: each instruction of each stage, which has
// one of every class (operator, mapping, machine), and passes and peaks, which are the program level. Then tensors:
// a layer of each class of each program that the front's points share.
#pragma once

#include <vector>

#include "core/explore/space/spec.h"
#include "server/jobs/sweep_json.h"
#include "server/studies/validation.h"
#include "server/studies/validation_json.h"

namespace sdip {

/// The findings on one point of the front.
struct FrontPoint {
  std::int64_t index = 0;
  Validation validation;
};

struct FrontValidation {
  std::int64_t budget_s = 0;
  double seconds = 0;
  bool cancelled = false;
  std::vector<FrontPoint> points;                  // as on the front, best in the first objective first
  std::int64_t programs = 0;                       // that these points share
  std::int64_t classes = 0, classes_executed = 0;  // of these programs
};

/// A point whose every instruction was compared.
bool is_covered(const FrontPoint& point);
/// One that was not stepped is not compared: its tensors are those of its program on another point's machine.
Verdict verdict_of(const FrontPoint& point);
/// Differs where a point does, and passes where another does.
Verdict verdict_of(const FrontValidation& front);

/// The points of a stored sweep's front in its objectives that are validated, in its order.
std::vector<std::int64_t> front_to_validate(const Store& store, const SweepRecord& sweep);

/// Validates these points of a sweep. Throws what the catalog throws.
FrontValidation validate_front(const Catalog& catalog, const SweepSpec& spec,
                               const std::vector<std::int64_t>& points, std::int64_t seconds,
                               const std::atomic<bool>* cancel = nullptr,
                               const std::function<void(const ValidationProgress&)>& progress = {});

/// The summary that a sweep shows: the verdict, coverage, the first difference and its point.
OrderedJson front_summary_json(const FrontValidation& front);
/// And each point.
OrderedJson front_validation_json(const FrontValidation& front);
void add_front_validation_schemas(OrderedJson& schemas);

}  // namespace sdip
