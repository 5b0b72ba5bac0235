// Are pages what sorting all points gives, whatever was stored when?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "db/sqlite.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

constexpr std::int64_t line_length = 3000;

/// The indices of the points that pass, sorted as Store::page says.
std::vector<std::int64_t> sorted_anew(const Store& store, std::int64_t id, const Space& space,
                                      const PageQuery& query) {
  const bool descending = query.sort[0] == '-';
  const std::string name = query.sort.substr(descending ? 1 : 0);
  std::vector<Measure> measures;
  if (name != "index" && name != "dram_channel_mib") measures = {require_measure(name, query.formulas, "")};
  const Columns columns = store.columns(id, space, measures);
  struct Row {
    double key;
    std::int64_t index;
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < columns.index.size(); ++i)
    if (!query.feasible || *query.feasible == (columns.feasible[i] != 0))
      rows.push_back(
          {measures.empty() ? static_cast<double>(columns.index[i]) : columns.values[0][i], columns.index[i]});
  std::ranges::sort(rows, [&](const Row& a, const Row& b) {
    if (std::isnan(a.key) != std::isnan(b.key)) return std::isnan(b.key);
    if (!std::isnan(a.key) && a.key != b.key) return descending ? a.key > b.key : a.key < b.key;
    return a.index < b.index;
  });
  std::vector<std::int64_t> indices;
  for (const Row& row : rows) indices.push_back(row.index);
  return indices;
}

void expect_pages(const Store& store, std::int64_t id, const Space& space, PageQuery query) {
  const std::vector<std::int64_t> wanted = sorted_anew(store, id, space, query);
  std::vector<std::int64_t> found;
  do {
    const Page page = store.page(id, space, query);
    ASSERT_EQ(page.total, std::ssize(wanted));
    for (const StoredPoint& point : page.points) found.push_back(point.index);
    query.cursor = page.next;
  } while (!query.cursor.empty());
  EXPECT_EQ(found, wanted) << query.sort << (query.feasible ? *query.feasible ? ", feasible" : ", infeasible" : "");
}

TEST(page, in_any_order_is_what_sorting_gives_while_points_come) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const Space space = line_of_points(line_length);
  const std::int64_t other = add_sample_sweep(store, space), id = add_sample_sweep(store, space);
  const std::vector<Formula> formulas = {parse_formula("pace", "", "throughput_fps / (area_mm2 + 1)", "")};
  for (const std::int64_t first : {1200, 0, 2400, 600, 1800}) {
    for (std::int64_t k = 0; k < 600; k += 100) store.append(id, drawn_batch(first + k, 100));
    store.append(other, drawn_batch(first, 100));
    for (const char* sort :
         {"index", "-index", "dram_channel_mib", "-dram_channel_mib", "latency_s", "-latency_s", "pace", "-pace"})
      for (const std::optional<bool> feasible : {std::optional<bool>(), std::optional(true), std::optional(false)})
        for (const std::int64_t limit : {7, 450})
          if (limit > 7 || first == 1800)
            expect_pages(store, id, space,
                         {.limit = limit, .sort = sort, .feasible = feasible, .formulas = formulas});
  }
}

TEST(page, amid_an_order_of_many_chunks_is_found_by_ranks_and_stays_right_while_points_come) {
  const TemporaryFolder folder;
  Store store(folder.store());
  constexpr std::int64_t chunk_points = 6, first_points = 15'000, all_points = 28'000;
  const Space space = line_of_points(all_points);
  const std::int64_t id = add_sample_sweep(store, space);
  const auto stored_to = [&](std::int64_t first, std::int64_t end) {
    for (; first < end; first += chunk_points)
      store.append(id, drawn_batch(first, std::min(chunk_points, end - first)));
  };
  const auto look = [&] {
    expect_pages(store, id, space, {.limit = 4000, .sort = "latency_s"});
    expect_pages(store, id, space, {.limit = 4000, .sort = "-latency_s", .feasible = true});
  };
  stored_to(0, first_points);
  look();
  stored_to(first_points, first_points + 600);  // a few, behind the ranks
  look();
  stored_to(first_points + 600, all_points);  // so many that all are ranked anew
  look();
}

TEST(page, of_a_store_from_before_bounds_were_kept_is_the_same) {
  const TemporaryFolder folder;
  const Space space = line_of_points(line_length);
  std::int64_t id = 0;
  {
    Store store(folder.store());
    id = add_sample_sweep(store, space);
    for (std::int64_t first = 0; first < line_length; first += 100) store.append(id, drawn_batch(first, 100));
  }
  Connection(folder.store(), Connection::Access::read_write)
      .execute("DELETE FROM chunk_bounds WHERE chunk % 3 > 0");
  const Store store(folder.store());
  for (const char* sort : {"latency_s", "-latency_s"}) expect_pages(store, id, space, {.limit = 450, .sort = sort});
}

}  // namespace
}  // namespace sdip
