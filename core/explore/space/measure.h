// Measures of points: a metric of the table, or a formula of the user's; and objectives made of these.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/explore/space/formula.h"
#include "core/explore/space/space.h"

namespace sdip {

struct Measure {
  Metric metric{};  // of no meaning beside a formula
  std::optional<Formula> formula{};
  Measure(Metric m) : metric(m) {}  // NOLINT: a metric is one
  explicit Measure(Formula f) : formula(std::move(f)) {}

  std::string_view name() const;
  std::string_view unit() const;
  Better better() const;  // of a formula neither: an objective says it
  friend bool operator==(const Measure&, const Measure&) = default;
};

/// The metric or formula of that name. Throws Error("unknown_metric", where, ...) with the nearest names.
Measure require_measure(std::string_view name, std::span<const Formula> formulas, const std::string& where);

/// Appends the metric of each of some consecutive points.
using MetricColumn = std::function<void(Metric, std::vector<double>&)>;

/// Appends the measure of points first, first + 1, ... of a space, of as many as `feasible` has: NaN of those that
/// are not.
void append_measure(const Measure& measure, const Space& space, std::int64_t first,
                    std::span<const std::uint8_t> feasible, const MetricColumn& metric,
                    std::vector<double>& values);

/// The same of one point.
double measure_of(const Measure& measure, const Space& space, std::int64_t index, const MetricValues& metrics,
                  bool feasible);

/// An objective of a front. Requires better other than neither.
struct Objective {
  Measure measure;
  Better better = Better::lower;
  friend bool operator==(const Objective&, const Objective&) = default;
};

/// "area_mm2"; "max:NAME" and "min:NAME" say the direction, which a formula, or a metric without one, needs. Throws
/// Error("unknown_metric" | "value_invalid", where, ...).
Objective objective_from_text(std::string_view text, std::span<const Formula> formulas, const std::string& where);
std::string objective_text(const Objective& objective);

/// Reads and checks a list of such texts at /objectives.
std::vector<Objective> objectives_from_json(const nlohmann::json& list, std::span<const Formula> formulas);

/// Throws Error("value_invalid", where, ...) for none and for a measure named twice.
void check_objectives(std::span<const Objective> objectives, const std::string& where);
std::vector<Better> directions(std::span<const Objective> objectives);
std::vector<Measure> measures_of(std::span<const Objective> objectives);

}  // namespace sdip
