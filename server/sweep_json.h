// Sweeps and their points as JSON.
#pragma once

#include "core/explore/spec.h"
#include "db/store.h"
#include "server/jobs.h"
#include "server/json_in.h"

namespace sdip {

/// A stored sweep with its spec read back.
struct SweepRecord {
  SweepRow row;
  SweepSpec spec;
};
SweepRecord sweep_record(const Store& store, std::int64_t id);

/// `validation`: of its front, or null.
OrderedJson sweep_json(const SweepRow& row, const std::optional<Pace>& pace, const OrderedJson& validation = {});

/// Columns of points beyond index, feasible and reason: axes of the space, then metrics.
struct Fields {
  std::vector<std::size_t> axes;  // positions in space.axes
  std::vector<Metric> metrics;
};
/// "throughput_fps,cores" against a space; "" means all. Throws Error unknown_metric at `where`.
Fields fields_of(const Space& space, std::string_view list, const std::string& where);
/// "throughput_fps,area_mm2". Throws Error unknown_metric.
std::vector<Metric> metrics_of(std::string_view list, const std::string& where);

/// ["index","feasible","reason", axes..., metrics...]
OrderedJson column_names(const Space& space, const Fields& fields);
OrderedJson point_row(const Space& space, const Fields& fields, const StoredPoint& point);

/// GET /sweeps/{id}/columns
OrderedJson columns_json(const Store& store, const SweepRecord& sweep, const Fields& fields);
/// GET /sweeps/{id}/front
OrderedJson front_json(const Store& store, const SweepRecord& sweep, const std::vector<Metric>& objectives);

}  // namespace sdip
