// The JSON schemas of validations.
#include "server/api/schema_parts.h"
#include "server/jobs/validate_front.h"

namespace sdip {
using namespace schema;

Schema job_states() { return WrittenNames<sweep_state_text, SweepState::interrupted>::schema(); }

Properties job_row(Schema request, const char* progress, const char* summary) {
  return {{"id", integer()},
          {"model", text()},
          {"state", job_states()},
          {"created", text()},
          {"progress", or_null(reference(progress))},
          {"error", or_null(reference("Problem"))},
          {"request", std::move(request)},
          {"summary", or_null(reference(summary))}};
}

void add_validations(OrderedJson& schemas) {
  schemas["FirstDifference"] = object({{"kind", one_of({"counter", "tensor", "execution"})},
                                       {"stage", text()},
                                       {"pass", nullable(integer())},
                                       {"instruction", nullable(integer())},
                                       {"layer", text()},
                                       {"what", text()},
                                       {"estimated", nullable(number())},
                                       {"executed", nullable(number())},
                                       {"point?", integer()}});
  schemas["ValidationRequest"] = point_request({{"layers?", array(text())},
                                                {"passes?", integer()},
                                                {"tensors?", flag()},
                                                {"seed?", integer()},
                                                {"seconds?", integer()}});
  schemas["ValidationProgress"] = object({{"doing", text()}, {"done", integer()}, {"total", integer()}});
  add_validation_schemas(schemas);
  add_front_validation_schemas(schemas);
  Properties one = job_row(reference("ValidationRequest"), "ValidationProgress", "ValidationSummary");
  schemas["ValidationItem"] = object(one);
  one.emplace_back("result", or_null(reference("ValidationResult")));
  schemas["Validation"] = object(one);
  schemas["Validations"] = object({{"validations", array(reference("ValidationItem"))}});
  Properties front = job_row(object({{"seconds", integer()}}), "ValidationProgress", "FrontSummary");
  schemas["SweepValidation"] = object(front);
  front.emplace_back("points", array(reference("FrontPoint")));
  schemas["FrontValidation"] = object(front);
}

}  // namespace sdip
