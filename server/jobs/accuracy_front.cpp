// The accuracy of a sweep's front.
#include "server/jobs/accuracy_front.h"

#include <chrono>
#include <cmath>
#include <iostream>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "server/jobs/evaluations.h"

namespace sdip {
namespace {

/// An uploaded model is what its bytes and what is bound of them are.
std::string model_text(const Store& store, const std::string& name) {
  const auto row = store.model(name);
  if (!row) return name;
  return name + ":" + row->sha256 + ":" + sha256_hex(std::as_bytes(std::span(row->facts_json))).substr(0, 16);
}

struct Deadline {
  std::chrono::steady_clock::time_point end;
  Stop stop;

  explicit Deadline(double seconds, Stop asked = {})
      : end(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                   std::chrono::duration<double>(seconds))),
        stop(std::move(asked)) {}
  double left_s() const { return std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count(); }
  bool holds() const { return left_s() > 0 && !(stop && stop()); }
};

/// Measures a workload on one machine; nothing where it cannot be known.
std::optional<StoredAccuracy> measured(Store& store, const Catalog& catalog, const AccuracyRequest& request,
                                       const std::string& key, const Deadline& deadline) {
  if (const auto known = store.accuracy(key)) return known;
  Json body = accuracy_body(request);
  body["seconds"] = deadline.left_s();
  const std::string bytes =
      evaluate(catalog, "point_accuracy", request.model, body, {{}, [&] { return !deadline.holds(); }}, true);
  if (bytes.empty()) return std::nullopt;
  ByteReader in(std::as_bytes(std::span(bytes)));
  const double sqnr_db = in.real(), cosine = in.real();
  store.add_accuracy(key, {sqnr_db, cosine, in.flag()});
  return store.accuracy(key);
}

/// Measures one point; of a mix it is the workload that the formats harm most.
void measure_point(Store& store, const Catalog& catalog, const SweepRecord& sweep, std::int64_t index,
                   const Deadline& deadline) {
  std::string least_key;
  double least_db = 0;
  for (const MixPart& part : catalog.mix(sweep.spec.model, "/model")) {
    const AccuracyRequest request{part.model, point(sweep.spec.space, index), {}, {sweep.spec.formats}};
    const std::string key = accuracy_key(model_text(store, part.model), request);
    const auto its = measured(store, catalog, request, key, deadline);
    if (!its) return;
    const bool worse = std::isnan(its->sqnr_db) || its->sqnr_db < least_db;
    if (!least_key.empty() && !worse) continue;
    least_key = key;
    least_db = its->sqnr_db;
  }
  store.set_point_accuracy(sweep.row.id, index, least_key);
}

}  // namespace

std::string evaluate_point_accuracy(const Catalog& catalog, const Json& asked, const EvaluationTurn& turn) {
  Json request = asked;
  request.erase("seconds");
  const Deadline deadline(asked.at("seconds").get<double>(), turn.stop);
  AccuracyPlan plan = accuracy_plan(catalog, accuracy_request(request), turn.stop);
  if (!plan.application.feasible || plan.work.bytes > most_accuracy_bytes ||
      plan.work.operations * seconds_per_operation > deadline.left_s())
    return "";
  plan.request.options.go_on = [&](double) { return deadline.holds(); };
  const AccuracyReport report = measure(catalog, plan);
  if (!report.complete) return "";
  ByteWriter out;
  out.real(report.output().sqnr_db());
  out.real(report.output().cosine());
  out.byte(plan.random_weights ? 1 : 0);
  return out.take();
}

void measure_front(Store& store, const Catalog& catalog, std::int64_t id, double seconds,
                   const std::function<bool()>& go_on) {
  const Deadline deadline(seconds, [&] { return !go_on(); });
  const SweepRecord sweep = sweep_record(store, id);
  for (const std::int64_t index : front_points(store, sweep, sweep.spec.objectives)) {
    if (!deadline.holds()) return;
    try {
      measure_point(store, catalog, sweep, index, deadline);
    } catch (const Error& error) {
      // A point that cannot be executed has no figure; the front's other points may have one.
      if (error.code == "not_found" || error.code == "disk_full") return;
    }
  }
}

}  // namespace sdip
