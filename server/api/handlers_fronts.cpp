// Handlers of fronts of several sweeps.
#include "core/base/error.h"
#include "server/api/handlers.h"
#include "server/jobs/joint_front.h"

namespace sdip {

Reply answer_joint_front(Service& service, const Call& call) {
  JointFrontRequest request;
  request.sweeps = sweep_numbers(query_value(call, "sweeps"), "?sweeps");
  request.objectives = query_value(call, "metrics");
  const auto [first, last] = call.query.equal_range("metric");
  for (auto one = first; one != last; ++one) request.formulas.push_back(formula_from_text(one->second, "?metric"));
  const auto [begin, end] = call.query.equal_range("constraint");
  for (auto one = begin; one != end; ++one)
    request.constraints.push_back(parse_constraint(one->second, "?constraint"));
  return json_reply(
      joint_front_json(joint_front(service.store, request, {"?sweeps", "?metrics", "?metric", "?constraint"})));
}

}  // namespace sdip
