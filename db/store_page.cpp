// A page of points in any order, with a cursor that stays right while points are added.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "db/parts.h"

namespace sdip {
namespace {

constexpr std::int64_t most_rows = 10'000;

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

/// By what a sweep's points are sorted, in either direction.
std::string order_key(std::int64_t id, const Order& order, const std::string& sort) {
  std::string key = std::to_string(id) + '\n' + (order.descending ? sort.substr(1) : sort);
  if (order.measure && order.measure->formula) key += '\n' + order.measure->formula->text;
  return key;
}

/// The key of each of a chunk's points; NaN: it has none.
void read_keys(ChunkReader& reader, const ChunkHead& chunk, const Space& space, const Order& order,
               std::vector<double>& keys) {
  keys.clear();
  if (order.by == Order::By::measure) return reader.measure(chunk, space, *order.measure, keys);
  for (std::int64_t i = chunk.first; i < chunk.first + chunk.count; ++i)
    keys.push_back(order.by == Order::By::axis ? static_cast<double>(axis_value(space, order.axis, i)) : 0);
}

/// Takes up the chunks that were stored since; all of them or none.
void grow(KeptOrder& kept, ChunkReader& reader, std::int64_t id, const Space& space, const Order& order) {
  std::vector<ChunkKeys> fresh;
  std::vector<double> keys;
  std::int64_t last = kept.last_chunk;
  reader.each_since(id, kept.last_chunk, [&](const ChunkHead& chunk) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    read_keys(reader, chunk, space, order, keys);
    ChunkKeys of{.first = chunk.first,
                 .count = static_cast<std::int32_t>(chunk.count),
                 .feasible = static_cast<std::int32_t>(std::ranges::count(chunk.feasible, 1)),
                 .without = 0,
                 .least = none,
                 .most = none};
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (std::isnan(keys[i]) && chunk.feasible[i] != 0) ++of.without;
      of.least = std::fmin(of.least, keys[i]);
      of.most = std::fmax(of.most, keys[i]);
    }
    fresh.push_back(of);
    last = std::max(last, chunk.id);
  });
  kept.chunks.insert(kept.chunks.end(), fresh.begin(), fresh.end());
  kept.last_chunk = last;
}

/// A place that none of a chunk's points comes before, and one that none comes behind.
struct ChunkBounds {
  RowPlace first, last;
};
ChunkBounds bounds_of(const ChunkKeys& chunk, const Order& order, std::optional<bool> feasible) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  ChunkBounds bounds{{chunk.least, chunk.first}, {chunk.most, chunk.first + chunk.count - 1}};
  if (order.descending) std::swap(bounds.first.key, bounds.last.key);
  if (order.descending && order.by == Order::By::index) std::swap(bounds.first.index, bounds.last.index);
  const bool infeasible = feasible != true && chunk.feasible < chunk.count;
  if (chunk.without > 0 || (order.by == Order::By::measure && infeasible)) bounds.last.key = none;
  if (order.by == Order::By::measure && feasible == false) bounds.first.key = none;  // they have no metrics
  return bounds;
}

std::int64_t passing(const ChunkKeys& chunk, std::optional<bool> feasible) {
  if (!feasible) return chunk.count;
  return *feasible ? chunk.feasible : chunk.count - chunk.feasible;
}

/// The places of a page and of one point more, in order; `total` counts the points that pass the filter. Chunks are
/// read from that on which may hold the first of them, until none is left that may hold one of the page.
std::vector<RowPlace> places(ChunkReader& reader, std::int64_t id, const Space& space, const PageQuery& query,
                             const Order& order, const std::vector<ChunkKeys>& kept,
                             const std::optional<RowPlace>& after, std::int64_t& total) {
  using Candidate = std::pair<RowPlace, const ChunkKeys*>;  // what it may begin with
  const auto before = [&](const RowPlace& a, const RowPlace& b) { return order.before(a, b); };
  const auto later = [&](const Candidate& a, const Candidate& b) { return order.before(b.first, a.first); };
  std::vector<Candidate> left;  // a heap, that which may come first on top
  for (const ChunkKeys& chunk : kept) {
    const std::int64_t its = passing(chunk, query.feasible);
    total += its;
    const ChunkBounds bounds = bounds_of(chunk, order, query.feasible);
    if (its > 0 && (!after || order.before(*after, bounds.last))) left.emplace_back(bounds.first, &chunk);
  }
  std::ranges::make_heap(left, later);
  std::vector<RowPlace> found;  // a heap, the last on top
  std::vector<double> keys;
  const auto wanted = static_cast<std::size_t>(query.limit) + 1;
  while (!left.empty() && (found.size() < wanted || order.before(left.front().first, found.front()))) {
    std::ranges::pop_heap(left, later);
    const auto chunk = reader.holding(id, left.back().second->first);
    left.pop_back();
    check(chunk.has_value(), "places: the chunk was just seen");
    read_keys(reader, *chunk, space, order, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (query.feasible && *query.feasible != (chunk->feasible[i] != 0)) continue;
      const RowPlace place{keys[i], chunk->first + static_cast<std::int64_t>(i)};
      if (after && !order.before(*after, place)) continue;
      if (found.size() == wanted && !order.before(place, found.front())) continue;
      found.push_back(place);
      std::ranges::push_heap(found, before);
      if (found.size() <= wanted) continue;
      std::ranges::pop_heap(found, before);
      found.pop_back();
    }
  }
  std::ranges::sort_heap(found, before);
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

  const std::shared_ptr<KeptOrder> kept = parts_->orders.of(order_key(id, order, query.sort));
  const std::scoped_lock lock(kept->growing);
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  ChunkReader reader(reading.connection(), parts_->metric_ids);
  grow(*kept, reader, id, space, order);
  Page page;
  std::vector<RowPlace> found = places(reader, id, space, query, order, kept->chunks, after, page.total);
  const bool more = std::ssize(found) > query.limit;
  if (more) found.pop_back();
  page.points = points_at(reader, id, found);
  if (more) page.next = cursor_text(query.sort, found.back());
  return page;
}

}  // namespace sdip
