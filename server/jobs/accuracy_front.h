// The accuracy of a sweep's front: measured once for each model, formats and seed, within a time.
#pragma once

#include <functional>

#include "server/jobs/sweep_json.h"
#include "server/models/apart.h"
#include "server/studies/accuracy.h"

namespace sdip {

/// Time that a front gets, and the seconds that an operation is taken to take when what will not fit is left out
/// (docs/model/numbers.md#accuracy).
inline constexpr double front_accuracy_s = 60, seconds_per_operation = 1e-8;

/// The evaluation "point_accuracy": of a body as of POST /accuracies with `seconds`, in which it is to be done. Its
/// bytes are what is stored of it; none: it does not fit.
std::string evaluate_point_accuracy(const Catalog& catalog, const Json& request, const EvaluationTurn& turn);

/// Measures what is not known yet of the front by the sweep's objectives, in its order, and says for each of its
/// points what is known. A point that will not fit in the rest of `seconds`, or cannot be executed, is left out.
/// Ends when `go_on` says false.
void measure_front(Store& store, const Catalog& catalog, std::int64_t sweep, double seconds,
                   const std::function<bool()>& go_on);

}  // namespace sdip
