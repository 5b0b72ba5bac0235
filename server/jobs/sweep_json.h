// Sweeps and their points as JSON.
#pragma once

#include "core/explore/space/spec.h"
#include "db/store.h"
#include "server/http/http.h"
#include "server/io/json_in.h"
#include "server/jobs/jobs.h"
#include "server/json/record.h"

namespace sdip {

/// A stored sweep with its spec read back.
struct SweepRecord {
  SweepRow row;
  SweepSpec spec;
};
SweepRecord sweep_record(const Store& store, std::int64_t id);

/// Whether points are stored that this version may compute otherwise: it has another signature.
bool engine_changed(const SweepRow& row);

/// `measuring`: whether its front's accuracy is being measured; `validation`: of its front, or null.
OrderedJson sweep_json(const SweepRow& row, const std::optional<Pace>& pace, bool measuring = false,
                       const OrderedJson& validation = {});
/// Its schema.
void add_sweep_schema(OrderedJson& schemas);

template <>
Record<KeptPoint> make_record();

std::string_view accuracy_field_name(AccuracyField field);

/// The accuracies measured of a sweep's points, by index.
using PointAccuracies = std::map<std::int64_t, StoredAccuracy>;

/// Columns of points beyond index, feasible and reason: axes of the space, then metrics and formulas.
struct Fields {
  std::vector<std::size_t> axes;  // positions in space.axes
  std::vector<Measure> metrics;
  std::vector<AccuracyField> accuracies = {};
};
/// "throughput_fps,cores" of a sweep; "" means all. Names of columns that are always there add nothing. Throws
/// Error unknown_metric at `where`.
Fields fields_of(const SweepSpec& spec, std::string_view list, const std::string& where);
/// "throughput_fps,min:area_mm2". Throws Error unknown_metric, value_invalid.
std::vector<Objective> objectives_of(const SweepSpec& spec, std::string_view list, const std::string& where);
/// The values of a sweep's formulas at a point, by name; null where they are no number.
OrderedJson formula_values(const SweepSpec& spec, const StoredPoint& point);

/// ["index","feasible","reason", axes..., metrics..., accuracies...]
OrderedJson column_names(const Space& space, const Fields& fields);
OrderedJson point_row(const Space& space, const Fields& fields, const StoredPoint& point,
                      const PointAccuracies& measured);
/// One of them; null where nothing was measured, "inf" decibels where nothing differs.
OrderedJson accuracy_cell(AccuracyField field, const PointAccuracies& measured, std::int64_t index);

/// GET /sweeps/{id}/columns, piece by piece: no more than some chunks of points are held. Stops when `sink` has
/// enough.
void write_columns(const Store& store, const SweepRecord& sweep, const Fields& fields, const Sink& sink);
/// Indices of the Pareto front of the points that keep the sweep's constraints, sorted by the first objective.
std::vector<std::int64_t> front_points(const Store& store, const SweepRecord& sweep,
                                       const std::vector<Objective>& objectives);

}  // namespace sdip
