// Handlers of fronts of several sweeps.
#include "core/base/error.h"
#include "server/api/handlers.h"
#include "server/jobs/joint_front.h"

namespace sdip {

Reply answer_joint_front(Service& service, const Call& call) {
  JointFrontRequest request;
  request.sweeps = sweep_numbers(query_value(call, "sweeps"), "?sweeps");
  request.objectives = query_value(call, "metrics");
  request.formulas = query_formulas(call, "metric", formula_from_text);
  request.constraints = query_formulas(call, "constraint", parse_constraint);
  return json_reply(
      joint_front_json(joint_front(service.store, request, {"?sweeps", "?metrics", "?metric", "?constraint"})));
}

}  // namespace sdip
