// The JSON schemas of explanations and of single changes.
#include "server/api/schema_parts.h"
#include "server/json/explain_json.h"

namespace sdip {
namespace {

using namespace schema;

void add_screenings(OrderedJson& schemas) {
  schemas["ScreeningRequest"] = object({{"model", text()},
                                        {"preset?", text()},
                                        {"machine?", reference("MachineChanges")},
                                        {"axes?", array(reference("Axis"))},
                                        {"links?", array(reference("Link"))},
                                        {"metrics?", user_formulas()},
                                        {"measures?", array(text())},
                                        {"method?", one_of({"morris", "sobol"})},
                                        {"samples?", integer()},
                                        {"seed?", integer()}});
  // The first four are of morris, the others of sobol.
  schemas["ScreenedRow"] = object({{"parameter", text()},
                                   {"mean?", nullable(number())},
                                   {"mean_size?", nullable(number())},
                                   {"deviation?", nullable(number())},
                                   {"effects?", integer()},
                                   {"first?", nullable(number())},
                                   {"first_error?", nullable(number())},
                                   {"total?", nullable(number())},
                                   {"total_error?", nullable(number())}});
  schemas["ScreenedMeasure"] =
      object({{"measure", text()}, {"unit", text()}, {"rows", array(reference("ScreenedRow"))}});
  schemas["Screening"] = object({{"model", text()},
                                 {"preset", text()},
                                 {"machine", reference("Machine")},
                                 {"axes", array(reference("Axis"))},
                                 {"links", array(reference("Link"))},
                                 {"method", one_of({"morris", "sobol"})},
                                 {"samples", integer()},
                                 {"seed", integer()},
                                 {"evaluated", integer()},
                                 {"without_value", integer()},
                                 {"reason", nullable(text())},
                                 {"compiled", integer()},
                                 {"measures", array(reference("ScreenedMeasure"))}});
}

}  // namespace

void add_explanations(OrderedJson& schemas) {
  add_explanation_schemas(schemas);
  schemas["ExplanationRequest"] = point_request({{"layers?", integer()}});
  add_screenings(schemas);
}

}  // namespace sdip
