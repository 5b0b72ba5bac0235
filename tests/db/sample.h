// A folder that goes away, and a sweep with made-up results to put into a store.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <string>

#include "core/base/error.h"
#include "core/explore/sweep.h"
#include "db/store.h"

namespace sdip {

struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "sdip-test-XXXXXX").string();
    check(mkdtemp(name.data()) != nullptr, "a temporary folder");
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string store() const { return (path / "sdip.db").string(); }
  std::filesystem::path path;
};

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// batch x cores; every seventh core count is infeasible.
inline Space sample_space(std::int64_t cores = 40) {
  Space space;
  space.axes = {{find_parameter("cores"), {}}, {find_parameter("batch"), {1, 2}}};
  for (std::int64_t n = 1; n <= cores; ++n) space.axes[0].values.push_back(n);
  return space;
}

inline std::shared_ptr<const Application> sample_compile(const Machine& machine) {
  auto application = std::make_shared<Application>();
  application->name = std::to_string(machine.batch);
  return application;
}

inline Outcome sample_evaluate(const Application& application, const Machine& machine) {
  Outcome outcome;
  outcome.feasible = machine.cores % 7 != 0;
  if (!outcome.feasible) outcome.reason = "dsram: " + std::to_string(machine.cores % 3) + " bytes, \"too\" many";
  for (std::size_t m = 0; m < metric_count; ++m)
    outcome.values[m] =
        std::stod(application.name) / static_cast<double>(machine.cores * 3) + static_cast<double>(m);
  outcome.values[static_cast<std::size_t>(Metric::active_cores)] = 4;
  return outcome;
}

inline std::int64_t add_sample_sweep(Store& store, const Space& space) {
  SweepRow row;
  row.name = "sample";
  row.model = "none";
  row.spec_json = "{}";
  row.total = point_count(space);
  row.created = "2026-11-20T12:00:00Z";
  return store.add_sweep(row);
}

/// Evaluates what is missing and stores it.
inline void run_sample(Store& store, std::int64_t id, const Space& space, const SweepOptions& options,
                       const EvaluateFunction& evaluate_point = sample_evaluate) {
  const auto missing = store.missing_ranges(id);
  sweep(space, missing, sample_compile, one_by_one(evaluate_point), options,
        [&](PointBatch&& batch) { store.append(id, batch); });
}

inline std::string exported(const Store& store, std::int64_t id, const Space& space, ExportFormat format,
                            std::span<const Formula> formulas = {}) {
  std::string text;
  store.export_points(id, space, whole_export(space, formulas, format), [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

/// So many points along one axis.
inline Space line_of_points(std::int64_t count) {
  Space space;
  space.axes = {{find_parameter("dram_channel_mib"), {}}};
  for (std::int64_t n = 1; n <= count; ++n) space.axes[0].values.push_back(n);
  return space;
}

/// Drawn points, each of them twice; some infeasible, some without a number.
inline PointBatch drawn_batch(std::int64_t first, std::int64_t count) {
  PointBatch batch;
  batch.first = first;
  for (std::int64_t i = 0; i < count; ++i) {
    std::mt19937 rng(static_cast<std::uint32_t>((first + i) / 2));  // two alike
    Outcome outcome;
    outcome.feasible = rng() % 9 != 0;
    if (!outcome.feasible) outcome.reason = "drawn so";
    for (double& value : outcome.values)
      value = rng() % 50 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(rng() % 1000);
    append(batch, outcome);
  }
  return batch;
}

}  // namespace sdip
