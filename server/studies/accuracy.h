// Measuring what a machine's number formats do to a model: from names to a report, and that as JSON.
#pragma once

#include "core/exec/run/accuracy.h"
#include "core/study/said_formats.h"
#include "server/models/catalog.h"

namespace sdip {

struct AccuracyRequest {
  std::string model;
  Machine machine;  // checked
  AccuracyOptions options;
  SaidFormats formats = {};  // of single layers
};

/// Reads the body of POST /accuracies. Throws Error unknown_key, unknown_parameter, unknown_preset, value_*.
AccuracyRequest accuracy_request(const Json& body);

/// Throws Error value_out_of_range unless percentile and samples can be used.
void check_accuracy_options(const AccuracyOptions& options, const std::string& where);

/// The same as a body, but for options, which are the usual ones.
Json accuracy_body(const AccuracyRequest& request);

/// All that a measurement follows from, as text: program version, model (as the caller tells it from others of its
/// name), seed, calibration, the parameters that decide which number is rounded to which format, and formats of
/// layers; not the parameters that decide tiles, which change the order of sums alone.
std::string accuracy_key(const std::string& model, const AccuracyRequest& request);

/// The method of that name. Throws Error value_invalid.
CalibrationMethod calibration_named(std::string_view name, const std::string& where);

/// The plan of a measurement: the program, its weights, and how much work that is.
struct AccuracyPlan {
  AccuracyRequest request;
  std::shared_ptr<const Workload> workload;
  Application application;
  bool random_weights = false;  // of a built-in model
  ExecutionWork work;
};

/// Compiles, without running. An infeasible application is no error here. Throws what the catalog throws, and
/// Error value_conflict for parts in series (core_weights=per_core).
AccuracyPlan accuracy_plan(const Catalog& catalog, const AccuracyRequest& request, const Stop& stop = {});

/// Work that is done without being asked twice: about a minute and a half on one core at 10 ns an operation.
inline constexpr double most_accuracy_operations = 8589934592.0, most_accuracy_bytes = 4294967296.0;

/// Throws Error limit_exceeded, with what it would take, above these.
void require_measurable(const AccuracyPlan& plan);

/// Runs it. Requires a feasible plan. Throws what `measured_accuracy` and reading weights throw.
AccuracyReport measure(const Catalog& catalog, const AccuracyPlan& plan);

/// Decibels: a number, "inf" where nothing differs, or null where an element is not finite.
OrderedJson decibels_json(double db);

OrderedJson accuracy_json(const AccuracyPlan& plan, const AccuracyReport& report);

}  // namespace sdip
