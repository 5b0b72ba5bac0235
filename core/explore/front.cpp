// The Pareto front in any number of objectives: sort, then keep what nothing kept before beats.
#include "core/explore/front.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"

namespace sdip {
namespace {

/// Points as rows of values to be made small, without those that have a NaN.
struct Table {
  std::size_t width = 0;
  std::vector<double> values;          // a row a point
  std::vector<std::int64_t> position;  // of the point among all
  const double* row(std::size_t i) const { return values.data() + i * width; }
};

Table table_of(std::span<const std::span<const double>> columns, std::span<const Better> better) {
  Table table;
  table.width = columns.size();
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    if (std::ranges::any_of(columns, [&](const auto& column) { return std::isnan(column[i]); })) continue;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const double value = columns[k][i] + 0.0;  // -0 becomes 0: they are equal
      table.values.push_back(better[k] == Better::higher ? -value : value);
    }
    table.position.push_back(static_cast<std::int64_t>(i));
  }
  return table;
}

/// Whether `a` is nowhere worse than `b`; in sorted order, and unequal to it, that is to beat it.
bool nowhere_worse(const double* a, const double* b, std::size_t width) {
  for (std::size_t k = 0; k < width; ++k)
    if (a[k] > b[k]) return false;
  return true;
}

bool equal(const double* a, const double* b, std::size_t width) { return std::equal(a, a + width, b); }

}  // namespace

std::vector<std::int64_t> pareto_front(std::span<const std::span<const double>> columns,
                                       std::span<const Better> better) {
  check(!columns.empty() && columns.size() == better.size(), "pareto_front: a direction for each objective");
  for (const auto& column : columns)
    check(column.size() == columns[0].size(), "pareto_front: columns of one length");
  for (const Better direction : better)
    check(direction != Better::neither, "pareto_front: an objective is better one way");

  const Table table = table_of(columns, better);
  const std::size_t width = table.width;
  std::vector<std::size_t> order(table.position.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const double* const left = table.row(a);
    const double* const right = table.row(b);
    for (std::size_t k = 0; k < width; ++k)
      if (left[k] != right[k]) return left[k] < right[k];
    return table.position[a] < table.position[b];
  });

  // What beats a point sorts before it, so only kept points need looking at. With two objectives the last kept one
  // has the least second value so far and decides alone: O(n log n) in all.
  std::vector<std::size_t> kept;
  for (const std::size_t i : order) {
    const double* const candidate = table.row(i);
    bool beaten = false;
    if (!kept.empty() && equal(table.row(kept.back()), candidate, width)) {
      beaten = false;
    } else if (width <= 2) {
      beaten = !kept.empty() && nowhere_worse(table.row(kept.back()), candidate, width);
    } else {
      beaten = std::any_of(kept.rbegin(), kept.rend(),
                           [&](std::size_t k) { return nowhere_worse(table.row(k), candidate, width); });
    }
    if (!beaten) kept.push_back(i);
  }
  std::vector<std::int64_t> front;
  for (const std::size_t i : kept) front.push_back(table.position[i]);
  return front;
}

std::vector<Better> directions(std::span<const Metric> objectives, const std::string& where) {
  if (objectives.empty()) throw Error("value_invalid", where, "expected at least one metric");
  std::vector<Better> better;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const MetricRow& row = metrics()[static_cast<std::size_t>(objectives[i])];
    if (row.better == Better::neither)
      throw Error("value_invalid", where,
                  std::string(row.name) + " is neither better high nor low: not an objective");
    if (std::ranges::find(objectives.first(i), objectives[i]) !=
        objectives.begin() + static_cast<std::ptrdiff_t>(i))
      throw Error("value_invalid", where, std::string(row.name) + " is named twice");
    better.push_back(row.better);
  }
  return better;
}

}  // namespace sdip
