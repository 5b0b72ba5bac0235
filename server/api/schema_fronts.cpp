// The JSON schemas of fronts: of one sweep, of several, and what they cover.
#include "server/api/schema_parts.h"
#include "server/studies/best_json.h"

namespace sdip {

void add_fronts(OrderedJson& schemas) {
  using namespace schema;
  schemas["ObjectiveChange"] =
      object({{"metric", text()}, {"percent", nullable(number())}, {"better", nullable(flag())}});
  schemas["FrontPlace"] = object({{"knee", Written<Knee>::schema()},
                                  {"differs", array(reference("RowStep"))},
                                  {"changes", array(reference("ObjectiveChange"))}});
  schemas["Front"] = object({{"metrics", array(text())},
                             {"columns", array(text())},
                             {"rows", array(array(cell()))},
                             {"places", array(reference("FrontPlace"))},
                             {"reason", nullable(text())}});
  schemas["VolumeAxis"] =
      object({{"metric", text()}, {"scale", one_of({"decades", "as_is"})}, {"reference", nullable(number())}});
  schemas["VolumeMark"] = object({{"points", integer()}, {"volume", nullable(number())}});
  schemas["Hypervolume"] = object({{"metrics", array(text())},
                                   {"axes", array(reference("VolumeAxis"))},
                                   {"front", integer()},
                                   {"volume", nullable(number())},
                                   {"reason", nullable(text())},
                                   {"growth", array(reference("VolumeMark"))}});
  schemas["JointSweep"] =
      object({{"id", integer()}, {"name", text()}, {"model", text()}, {"own", integer()}, {"points", integer()}});
  schemas["JointFrontPoint"] = object({{"sweep", integer()},
                                       {"index", integer()},
                                       {"objectives", Written<NamedFigures>::schema()},
                                       {"axes", reference("MachineChanges")},
                                       {"knee", Written<Knee>::schema()},
                                       {"differs", array(reference("RowStep"))},
                                       {"changes", array(reference("ObjectiveChange"))}});
  schemas["JointFront"] = object({{"metrics", array(text())},
                                  {"sweeps", array(reference("JointSweep"))},
                                  {"note", nullable(text())},
                                  {"points", array(reference("JointFrontPoint"))}});
}

}  // namespace sdip
