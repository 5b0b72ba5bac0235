// A page of points in any order, with a cursor that stays right while points are added.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <compare>
#include <limits>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "db/parts.h"

namespace sdip {
namespace {

constexpr std::int64_t most_rows = 10'000;
constexpr double no_key = std::numeric_limits<double>::quiet_NaN();

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
  return fmt::format("{}:{}:{}", sort, std::string(key, end), place.index);
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

/// Names what a sweep's points are sorted by, in either direction.
std::string order_key(std::int64_t id, const Order& order, const std::string& sort) {
  std::string key = std::to_string(id) + '\n' + (order.descending ? sort.substr(1) : sort);
  if (order.measure && order.measure->formula) key += '\n' + order.measure->formula->text;
  return key;
}

/// The key of each of a chunk's points; NaN: it has none.
void read_keys(ChunkReader& reader, const ChunkHead& chunk, const Space& space, const Order& order,
               List<double>& keys) {
  keys.clear();
  if (order.by == Order::By::measure) return reader.measure(chunk, space, *order.measure, keys);
  for (std::int64_t i = chunk.first; i < chunk.first + chunk.count; ++i)
    keys.push_back(order.by == Order::By::axis ? static_cast<double>(axis_value(space, order.axis, i)) : 0);
}

/// A question about an order's points.
struct Asked {
  std::int64_t id = 0;
  const Space& space;
  const PageQuery& query;
  const Order& order;
  std::optional<RowPlace> after;

  bool passes(bool feasible) const { return !query.feasible || *query.feasible == feasible; }
  std::size_t wanted() const { return as_size(query.limit) + 1; }  // to know whether there are more
};

/// The values between which an axis lies in a chunk: one point of each run is asked, and none twice.
MetricBounds axis_bounds(const Space& space, std::size_t axis, std::int64_t first, std::int64_t count) {
  const std::int64_t run = axis_run(space, axis);
  const bool in_turn = space.sampling == Sampling::grid && !space.blocks.of_grid;  // so many runs have all values
  std::int64_t left = in_turn ? std::ssize(space.axes[axis].values) : count;
  MetricBounds bounds{no_key, no_key, false};
  for (std::int64_t i = first; i < first + count && left > 0; i = (i / run + 1) * run, --left) {
    const auto value = static_cast<double>(axis_value(space, axis, i));
    bounds.least = std::fmin(bounds.least, value);
    bounds.most = std::fmax(bounds.most, value);
  }
  return bounds;
}

/// Reads those of the chunks for which no bounds are kept; `chunks` ascend by their ids.
void read_bounds(std::vector<ChunkKeys>& chunks, std::int64_t since, ChunkReader& reader, const Asked& asked) {
  List<double> keys;
  reader.each_since(asked.id, since, [&](const ChunkHead& chunk) {
    const auto of = std::ranges::lower_bound(chunks, chunk.id, {}, &ChunkKeys::id);
    if (of == chunks.end() || of->id != chunk.id) return;
    read_keys(reader, chunk, asked.space, asked.order, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      of->some_without = of->some_without || (std::isnan(keys[i]) && chunk.feasible[i] != 0);
      of->least = std::fmin(of->least, keys[i]);
      of->most = std::fmax(of->most, keys[i]);
    }
  });
}

/// Takes up the chunks that were stored since; all of them or none.
void grow(KeptOrder& kept, ChunkReader& reader, const Asked& asked) {
  const Order& order = asked.order;
  const bool metric = order.by == Order::By::measure && !order.measure->formula;
  std::vector<ChunkKeys> fresh, unknown;
  std::int64_t last = kept.last_chunk;
  reader.each_bounds_since(
      asked.id, kept.last_chunk, metric ? reader.id_of(order.measure->metric) : -1, [&](const ChunkBoundsRow& row) {
        ChunkKeys of{.id = row.id,
                     .first = row.first,
                     .count = static_cast<std::int32_t>(row.count),
                     .feasible = static_cast<std::int32_t>(row.feasible)};
        last = std::max(last, row.id);
        if (order.by == Order::By::index) return fresh.push_back(of);
        std::optional<MetricBounds> bounds = row.bounds;
        if (order.by == Order::By::axis) bounds = axis_bounds(asked.space, order.axis, row.first, row.count);
        const auto [least, most, some_without] = bounds.value_or(MetricBounds{no_key, no_key, false});
        of.some_without = some_without;
        of.least = least;
        of.most = most;
        (bounds ? fresh : unknown).push_back(of);
      });
  std::ranges::sort(unknown, {}, &ChunkKeys::id);
  if (!unknown.empty()) read_bounds(unknown, kept.last_chunk, reader, asked);
  kept.chunks.insert(kept.chunks.end(), fresh.begin(), fresh.end());
  kept.chunks.insert(kept.chunks.end(), unknown.begin(), unknown.end());
  kept.last_chunk = last;
}

/// A place that none of a chunk's points comes before, and one that none comes behind.
struct ChunkBounds {
  RowPlace first, last;
};
ChunkBounds bounds_of(const ChunkKeys& chunk, const Order& order, std::optional<bool> feasible) {
  ChunkBounds bounds{{chunk.least, chunk.first}, {chunk.most, chunk.first + chunk.count - 1}};
  if (order.descending) std::swap(bounds.first.key, bounds.last.key);
  if (order.descending && order.by == Order::By::index) std::swap(bounds.first.index, bounds.last.index);
  const bool infeasible = feasible != true && chunk.feasible < chunk.count;
  if (chunk.some_without || (order.by == Order::By::measure && infeasible)) bounds.last.key = no_key;
  if (order.by == Order::By::measure && feasible == false) bounds.first.key = no_key;  // they have no metrics
  return bounds;
}

std::int64_t passing(const ChunkKeys& chunk, std::optional<bool> feasible) {
  if (!feasible) return chunk.count;
  return *feasible ? chunk.feasible : chunk.count - chunk.feasible;
}

/// A number that grows as places come later, ties apart: a key's, in the order's direction.
std::uint64_t ordinal(double key, bool descending) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if (std::isnan(key)) return std::numeric_limits<std::uint64_t>::max();
  const auto bits = std::bit_cast<std::uint64_t>(key == 0 ? 0.0 : key);  // -0 is like 0
  const std::uint64_t rising = (bits & sign) != 0 ? ~bits : bits | sign;
  return descending ? ~rising : rising;
}

/// All points that pass, of which there are `count`, in order.
void rank(KeptRanks& ranks, ChunkReader& reader, const Asked& asked, std::int64_t count) {
  struct Ranked {  // 12 bytes: there may be 10,000,000
    std::uint32_t high, low, index;
    auto operator<=>(const Ranked&) const = default;
  };
  static_assert(most_points <= std::numeric_limits<std::uint32_t>::max());
  std::vector<Ranked> all;
  all.reserve(as_size(count));
  List<double> keys;
  std::int64_t last = 0;
  reader.each_since(asked.id, 0, [&](const ChunkHead& chunk) {
    read_keys(reader, chunk, asked.space, asked.order, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!asked.passes(chunk.feasible[i] != 0)) continue;
      const std::uint64_t key = ordinal(keys[i], asked.order.descending);
      all.push_back({static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key),
                     static_cast<std::uint32_t>(chunk.first + static_cast<std::int64_t>(i))});
    }
    last = std::max(last, chunk.id);
  });
  std::ranges::sort(all);
  ranks.points.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) ranks.points[i] = all[i].index;
  ranks.last_chunk = last;
}

/// The places of a page, and of one point more, of the points that are ranked.
std::vector<RowPlace> ranked_places(const KeptRanks& ranks, ChunkReader& reader, const Asked& asked) {
  std::optional<ChunkHead> chunk;
  List<double> keys;
  const auto place = [&](std::uint32_t point) {
    const std::int64_t index = point;
    if (!chunk || index < chunk->first || index >= chunk->first + chunk->count) {
      chunk = reader.holding(asked.id, index);
      check(chunk.has_value(), "ranked_places: the point was ranked");
      read_keys(reader, *chunk, asked.space, asked.order, keys);
    }
    return RowPlace{keys[index - chunk->first], index};
  };
  auto next = ranks.points.begin();
  if (asked.after)
    next = std::ranges::partition_point(
        ranks.points, [&](std::uint32_t point) { return !asked.order.before(*asked.after, place(point)); });
  std::vector<RowPlace> found;
  for (; next != ranks.points.end() && found.size() < asked.wanted(); ++next) found.push_back(place(*next));
  return found;
}

/// Adds those of the chunks behind `ranked` to the places `found`, as far as they come first; in order. Chunks are
/// read from that on which may hold the first of them, until none is left that may hold one of the page. Returns
/// how many were read.
std::int64_t add_places(std::vector<RowPlace>& found, ChunkReader& reader, const Asked& asked,
                        const std::vector<ChunkKeys>& kept, std::int64_t ranked) {
  using Candidate = std::pair<RowPlace, const ChunkKeys*>;  // what it may begin with
  const Order& order = asked.order;
  const auto before = [&](const RowPlace& a, const RowPlace& b) { return order.before(a, b); };
  const auto later = [&](const Candidate& a, const Candidate& b) { return order.before(b.first, a.first); };
  std::vector<Candidate> left;  // a heap, that which may come first on top
  for (const ChunkKeys& chunk : kept) {
    if (chunk.id <= ranked || passing(chunk, asked.query.feasible) == 0) continue;
    const ChunkBounds bounds = bounds_of(chunk, order, asked.query.feasible);
    if (!asked.after || order.before(*asked.after, bounds.last)) left.emplace_back(bounds.first, &chunk);
  }
  std::ranges::make_heap(left, later);
  std::ranges::make_heap(found, before);  // the last on top
  List<double> keys;
  std::int64_t chunks = 0;
  while (!left.empty() && (found.size() < asked.wanted() || order.before(left.front().first, found.front()))) {
    std::ranges::pop_heap(left, later);
    const auto chunk = reader.holding(asked.id, left.back().second->first);
    left.pop_back();
    check(chunk.has_value(), "add_places: the chunk was just seen");
    ++chunks;
    read_keys(reader, *chunk, asked.space, order, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!asked.passes(chunk->feasible[i] != 0)) continue;
      const RowPlace place{keys[i], chunk->first + static_cast<std::int64_t>(i)};
      if (asked.after && !order.before(*asked.after, place)) continue;
      if (found.size() == asked.wanted() && !order.before(place, found.front())) continue;
      found.push_back(place);
      std::ranges::push_heap(found, before);
      if (found.size() <= asked.wanted()) continue;
      std::ranges::pop_heap(found, before);
      found.pop_back();
    }
  }
  std::ranges::sort_heap(found, before);
  return chunks;
}

/// The places of a page and of one point more, in order. Where keys rise and fall within each chunk, a page amid
/// the order, or by a filter that few pass, has to read most of them: when that happens again, all points are
/// ranked, and later pages read a few.
std::vector<RowPlace> places(KeptRanks& ranks, ChunkReader& reader, const Asked& asked,
                             const std::vector<ChunkKeys>& kept, std::int64_t count) {
  constexpr std::int64_t many_chunks = 2000;  // some 50 ms
  const auto behind =
      std::ranges::count_if(kept, [&](const ChunkKeys& chunk) { return chunk.id > ranks.last_chunk; });
  const bool outdated = behind > many_chunks && behind > std::ssize(kept) / 8;
  if (ranks.slow && outdated) rank(ranks, reader, asked, count);
  std::vector<RowPlace> found = ranked_places(ranks, reader, asked);
  if (add_places(found, reader, asked, kept, ranks.last_chunk) > many_chunks) ranks.slow = true;
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
      points[next->second] = std::move(stored[at(next->first - chunk->first)]);
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
  const Asked asked{id, space, query, order, after};
  grow(*kept, reader, asked);
  const std::string filter = query.feasible ? *query.feasible ? "\n1" : "\n0" : "\n";
  const std::shared_ptr<KeptRanks> ranks =
      parts_->ranks.of(order_key(id, order, query.sort) + filter + (order.descending ? "-" : ""));
  const std::scoped_lock ranking(ranks->growing);
  Page page;
  for (const ChunkKeys& chunk : kept->chunks) page.total += passing(chunk, query.feasible);
  std::vector<RowPlace> found = places(*ranks, reader, asked, kept->chunks, page.total);
  const bool more = std::ssize(found) > query.limit;
  if (more) found.pop_back();
  page.points = points_at(reader, id, found);
  if (more) page.next = cursor_text(query.sort, found.back());
  return page;
}

}  // namespace sdip
