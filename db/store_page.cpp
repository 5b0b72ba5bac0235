// A page of points in any order, with a cursor that stays right while points are added.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "db/parts.h"

namespace sdip {
namespace {

constexpr std::int64_t most_rows = 10'000;
constexpr std::size_t most_kept = 4 * most_rows;  // candidates for a page held at once

/// A point's place in an order: a point without a value comes last, equal values go by index.
struct RowPlace {
  double key = 0;
  std::int64_t index = 0;
};

struct Order {
  bool descending = false;
  enum class By { index, measure, axis } by = By::index;
  std::optional<Measure> measure{};
  std::size_t axis = 0;

  bool before(const RowPlace& a, const RowPlace& b) const {
    const bool a_last = std::isnan(a.key), b_last = std::isnan(b.key);
    if (a_last != b_last) return b_last;
    if (!a_last && a.key != b.key) return descending ? a.key > b.key : a.key < b.key;
    return by == By::index && descending ? a.index > b.index : a.index < b.index;
  }
};

Order order_of(const Space& space, const std::string& sort, std::span<const Formula> formulas) {
  Order order;
  order.descending = sort.starts_with('-');
  const std::string_view name = std::string_view(sort).substr(order.descending ? 1 : 0);
  if (name == "index") return order;
  if (find_metric(name) != nullptr || std::ranges::find(formulas, name, &Formula::name) != formulas.end()) {
    order.by = Order::By::measure;
    order.measure = require_measure(name, formulas, "sort");
    return order;
  }
  for (std::size_t a = 0; a < space.axes.size(); ++a) {
    if (space.axes[a].row->name != name) continue;
    order.by = Order::By::axis;
    order.axis = a;
    return order;
  }
  throw Error("unknown_metric", "sort", sort.substr(0, 80) + ": expected index, a metric or a swept parameter");
}

/// "-area_mm2:4059000000000000:17": the order, the bits of the last row's key, its index.
std::string cursor_text(const std::string& sort, const RowPlace& place) {
  char key[16];
  const auto end = std::to_chars(key, key + 16, std::bit_cast<std::uint64_t>(place.key), 16).ptr;
  return sort + ":" + std::string(key, end) + ":" + std::to_string(place.index);
}

RowPlace place_of(const std::string& cursor, const std::string& sort) {
  const std::string_view text = cursor;
  std::uint64_t bits = 0;
  RowPlace place;
  const auto colon = text.rfind(':');
  const bool shaped = text.starts_with(sort + ":") && colon != std::string_view::npos && colon > sort.size();
  if (shaped) {
    const std::string_view key = text.substr(sort.size() + 1, colon - sort.size() - 1);
    const std::string_view index = text.substr(colon + 1);
    const auto [key_end, key_error] = std::from_chars(key.data(), key.data() + key.size(), bits, 16);
    const auto [index_end, index_error] = std::from_chars(index.data(), index.data() + index.size(), place.index);
    place.key = std::bit_cast<double>(bits);
    if (key_error == std::errc() && key_end == key.data() + key.size() && index_error == std::errc() &&
        index_end == index.data() + index.size())
      return place;
  }
  throw Error("value_invalid", "cursor", "not a cursor of this order: take it from the page before");
}

/// Drops all but the first `count` in order; leaves them in no order.
void keep_first(std::vector<RowPlace>& found, std::size_t count, const Order& order) {
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(found.begin(), end, found.end(),
                   [&](const RowPlace& a, const RowPlace& b) { return order.before(a, b); });
  found.erase(end, found.end());
}

/// The stored points that pass the filter and come after the cursor, in no order, and not many more of them than a
/// page and one; `total` counts those that pass.
std::vector<RowPlace> places(ChunkReader& reader, std::int64_t id, const Space& space, const PageQuery& query,
                             const Order& order, const std::optional<RowPlace>& after, std::int64_t& total) {
  std::vector<RowPlace> found;
  std::vector<double> keys;
  reader.each(id, 0, [&](const ChunkHead& chunk) {
    keys.clear();
    if (order.by == Order::By::measure) reader.measure(chunk, space, *order.measure, keys);
    for (std::int64_t i = 0; i < chunk.count; ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (query.feasible && *query.feasible != (chunk.feasible[row] != 0)) continue;
      ++total;
      RowPlace place{0, chunk.first + i};
      if (order.by == Order::By::measure) place.key = keys[row];
      if (order.by == Order::By::axis) place.key = static_cast<double>(axis_value(space, order.axis, place.index));
      if (!after || order.before(*after, place)) found.push_back(place);
      if (found.size() > most_kept) keep_first(found, static_cast<std::size_t>(query.limit) + 1, order);
    }
    return true;
  });
  return found;
}

/// The points at these places, in their order; each chunk is read once.
std::vector<StoredPoint> points_at(ChunkReader& reader, std::int64_t id, const std::vector<RowPlace>& wanted) {
  std::map<std::int64_t, std::size_t> row_of;
  for (std::size_t i = 0; i < wanted.size(); ++i) row_of[wanted[i].index] = i;
  std::vector<StoredPoint> points(wanted.size());
  for (auto next = row_of.begin(); next != row_of.end();) {
    const auto chunk = reader.holding(id, next->first);
    check(chunk.has_value(), "points_at: the point was just seen");
    auto stored = reader.points(*chunk);
    for (; next != row_of.end() && next->first < chunk->first + chunk->count; ++next)
      points[next->second] = std::move(stored[static_cast<std::size_t>(next->first - chunk->first)]);
  }
  return points;
}

}  // namespace

Page Store::page(std::int64_t id, const Space& space, const PageQuery& query) const {
  if (query.limit < 1 || query.limit > most_rows)
    throw Error("value_out_of_range", "limit", "expected 1 to " + std::to_string(most_rows));
  const Order order = order_of(space, query.sort, query.formulas);
  std::optional<RowPlace> after;
  if (!query.cursor.empty()) after = place_of(query.cursor, query.sort);

  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  ChunkReader reader(reading.connection(), parts_->metric_ids);
  Page page;
  std::vector<RowPlace> found = places(reader, id, space, query, order, after, page.total);
  const auto limit = static_cast<std::size_t>(query.limit);
  const bool more = found.size() > limit;
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(limit, found.size()));
  std::partial_sort(found.begin(), end, found.end(),
                    [&](const RowPlace& a, const RowPlace& b) { return order.before(a, b); });
  found.erase(end, found.end());
  page.points = points_at(reader, id, found);
  if (more) page.next = cursor_text(query.sort, found.back());
  return page;
}

}  // namespace sdip
