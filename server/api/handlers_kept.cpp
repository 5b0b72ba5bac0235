// Handlers of points that are kept: their analyses, as they were made.
#include "core/base/error.h"
#include "core/study/signature.h"
#include "server/api/handlers.h"
#include "server/io/text.h"
#include "server/jobs/evaluations.h"
#include "server/jobs/sweep_json.h"

namespace sdip {
namespace {

/// The analyses of a point, one of each workload of its sweep, as a JSON array.
std::string analyses_of(const Service& service, const SweepRecord& sweep, std::int64_t index, const Stop& stop) {
  Json request = {{"machine", machine_json(point(sweep.spec.space, index))}, {"instructions", true}};
  if (!sweep.spec.formats.empty()) request["formats"] = sweep.spec.formats;
  std::string analyses;
  for (const MixPart& part : mix_of_text(sweep.row.model, "model")) {
    request["model"] = part.model;
    analyses += analyses.empty() ? "[" : ",";
    analyses += evaluate(service.catalog, "analysis", part.model, request, {{}, stop});
  }
  return analyses + "]";
}

}  // namespace

Reply keep_analysis(Service& service, const Call& call) {
  const std::int64_t id = path_id(call), index = path_index(call);
  const SweepRecord sweep = sweep_record(service.store, id);
  if (!service.store.point(id, index)) throw Error("not_found", "index", "this point is not stored (yet)");
  if (engine_changed(sweep.row))
    throw Error("engine_changed", "sweep " + std::to_string(id),
                "another engine computed its points: an analysis of today would not be theirs");
  KeptPoint kept{.index = index, .created = time_text(), .signature = signature()};
  const std::string analyses = analyses_of(service, sweep, index, call.stop);
  kept.text_bytes = std::ssize(analyses);
  service.store.keep_point(id, kept, analyses);
  return made_at(fmt::format("sweeps/{}/points/{}/analysis", id, index),
                 json_reply(Written<KeptPoint>::json(kept), 201));
}

Reply answer_kept_analysis(Service& service, const Call& call) {
  const auto [point, analyses] = service.store.kept_analyses(path_id(call), path_index(call));
  std::string body = json_text(Written<KeptPoint>::json(point));
  body.back() = ',';  // the analyses, some MB, go out as they are kept
  return {.body = body + "\"analyses\":" + analyses + "}"};
}

Reply delete_kept_analysis(Service& service, const Call& call) {
  service.store.let_go_of_point(path_id(call), path_index(call));
  return {.status = 204};
}

Reply answer_kept_points(Service& service, const Call& call) {
  return json_reply({{"points", Written<std::vector<KeptPoint>>::json(service.store.kept_points(path_id(call)))}});
}

}  // namespace sdip
