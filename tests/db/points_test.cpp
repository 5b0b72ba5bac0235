// Do stored points come back, in any order, and as text?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "db/store.h"
#include "tests/core/explore/refusal.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

using testing::ElementsAre;

struct points : testing::Test {
  TemporaryFolder folder;
  Store store{folder.store()};
  Space space = sample_space();
  std::int64_t id = add_sample_sweep(store, space);

  PointBatch batch(IndexRange range) const {
    PointBatch made;
    const std::vector<IndexRange> ranges = {range};
    sweep(space, ranges, sample_compile, one_by_one(sample_evaluate), {.batch_points = 1000},
          [&](PointBatch&& batch) { made = std::move(batch); });
    return made;
  }
  /// The indices of all pages, one after the other.
  std::vector<std::int64_t> walk(PageQuery query) const {
    std::vector<std::int64_t> indices;
    for (;;) {
      const Page page = store.page(id, space, query);
      for (const auto& point : page.points) indices.push_back(point.index);
      if (page.next.empty()) return indices;
      query.cursor = page.next;
    }
  }
};

TEST_F(points, appended_twice_are_there_once) {
  store.append(id, batch({10, 20}));
  store.append(id, batch({10, 20}));
  EXPECT_EQ(store.sweep(id).done, 10);
}

TEST_F(points, that_contradict_stored_ones_are_refused) {
  const std::string conflict = "conflict at sweep " + std::to_string(id);
  store.append(id, batch({10, 20}));
  EXPECT_EQ(refusal([&] { store.append(id, batch({5, 11})); }), conflict);
  EXPECT_EQ(refusal([&] { store.append(id, batch({19, 25})); }), conflict);
  EXPECT_EQ(refusal([&] { store.append(id, batch({10, 19})); }), conflict);
  EXPECT_EQ(refusal([&] { store.append(id, batch({0, 80})); }), conflict);
  PointBatch other = batch({10, 20});
  other.values[3][1] += 1;
  EXPECT_EQ(refusal([&] { store.append(id, other); }), conflict);
  other = batch({0, 10});
  other.first = 75;
  EXPECT_EQ(refusal([&] { store.append(id, other); }), conflict) << "five lie behind the last point";
  EXPECT_EQ(refusal([&] { store.append(77, batch({0, 5})); }), "not_found at sweep 77");
  EXPECT_EQ(store.sweep(id).done, 10);
}

TEST_F(points, missing_are_the_gaps) {
  EXPECT_THAT(store.missing_ranges(id), ElementsAre(IndexRange{0, 80}));
  store.append(id, batch({10, 20}));
  store.append(id, batch({0, 5}));
  store.append(id, batch({20, 30}));
  EXPECT_THAT(store.missing_ranges(id), ElementsAre(IndexRange{5, 10}, IndexRange{30, 80}));
  run_sample(store, id, space, {.threads = 2, .batch_points = 7});
  EXPECT_THAT(store.missing_ranges(id), testing::IsEmpty());
}

TEST_F(points, come_back_as_columns_in_index_order) {
  store.append(id, batch({40, 80}));
  store.append(id, batch({0, 30}));
  const std::vector<Measure> wanted = {Metric::area_mm2, Metric::active_cores};
  const Columns columns = store.columns(id, space, wanted);
  ASSERT_EQ(columns.index.size(), 70u);
  EXPECT_EQ(columns.index[30], 40);
  for (std::size_t i = 0; i < 70; ++i) {
    const Machine machine = point(space, columns.index[i]);
    const Outcome outcome = sample_evaluate(*sample_compile(machine), machine);
    ASSERT_EQ(columns.feasible[i] != 0, outcome.feasible);
    if (!outcome.feasible)
      ASSERT_TRUE(std::isnan(columns.values[0][i]));
    else
      ASSERT_EQ(columns.values[0][i], outcome.values[static_cast<std::size_t>(Metric::area_mm2)]);
  }
}

TEST_F(points, come_back_one_by_one) {
  store.append(id, batch({0, 30}));
  EXPECT_EQ(store.point(id, 13)->index, 13);
  EXPECT_EQ(store.point(id, 6)->reason, "dsram: 1 bytes, \"too\" many");
  EXPECT_FALSE(store.point(id, 30).has_value());
  EXPECT_FALSE(store.point(id, -1).has_value());
}

TEST_F(points, are_paged_in_any_order_without_loss_or_repeat) {
  run_sample(store, id, space, {.batch_points = 7});
  for (const char* sort : {"index", "-index", "latency_s", "-latency_s", "cores", "-batch", "active_cores"}) {
    const auto walked = walk({.limit = 9, .sort = sort});
    EXPECT_EQ(walked.size(), 80u) << sort;
    EXPECT_EQ(std::set(walked.begin(), walked.end()).size(), 80u) << sort;
    EXPECT_EQ(walk({.limit = 80, .sort = sort}), walked) << sort;
  }
  EXPECT_EQ(walk({.sort = "-index"}).front(), 79);
  const Page best = store.page(id, space, {.limit = 70, .sort = "-latency_s"});
  for (std::size_t i = 1; i < 70; ++i)
    EXPECT_GE(best.points[i - 1].values[1], best.points[i].values[1]) << "infeasible points come last";
  EXPECT_EQ(best.total, 80);
}

TEST_F(points, have_formulas_as_columns_orders_and_exports) {
  run_sample(store, id, space, {.batch_points = 7});
  const Formula formula = parse_formula("pace", "s*core", "latency_s * cores - batch / 2", "");
  const auto of = [&](std::int64_t index) {
    const Machine machine = point(space, index);
    const Outcome outcome = sample_evaluate(*sample_compile(machine), machine);
    const auto cores = static_cast<double>(machine.cores), batch = static_cast<double>(machine.batch);
    const double value = outcome.values[static_cast<std::size_t>(Metric::latency_s)] * cores - batch / 2;
    return outcome.feasible ? value : std::nan("");
  };
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  const Columns columns = store.columns(id, space, std::vector<Measure>{Measure(formula), Metric::latency_s});
  ASSERT_EQ(columns.values[0].size(), 80u);
  for (std::size_t i = 0; i < 80; ++i) EXPECT_TRUE(same(columns.values[0][i], of(columns.index[i]))) << i;

  const Page page = store.page(id, space, {.limit = 80, .sort = "-pace", .formulas = {formula}});
  for (std::size_t i = 1; i < 70; ++i) EXPECT_GE(of(page.points[i - 1].index), of(page.points[i].index));
  EXPECT_TRUE(std::isnan(of(page.points[79].index)));
  EXPECT_EQ(walk({.limit = 9, .sort = "pace", .formulas = {formula}}),
            walk({.limit = 80, .sort = "pace", .formulas = {formula}}));
  EXPECT_EQ(refusal([&] { store.page(id, space, {.sort = "pace"}); }), "unknown_metric at sort");

  const std::vector<Formula> formulas = {formula};
  std::istringstream csv(exported(store, id, space, ExportFormat::csv, formulas));
  std::string line;
  std::getline(csv, line);
  EXPECT_THAT(line, testing::HasSubstr(",pace [s*core],sqnr_db [dB],"));
  std::istringstream lines(exported(store, id, space, ExportFormat::ndjson, formulas));
  for (std::int64_t i = 0; std::getline(lines, line); ++i) {
    const nlohmann::json row = nlohmann::json::parse(line);
    EXPECT_EQ(row["pace"], std::isnan(of(i)) ? nlohmann::json() : nlohmann::json(of(i)));
  }
}

TEST_F(points, are_paged_past_many_candidates) {
  const Space wide = sample_space(30'000);
  const auto many = add_sample_sweep(store, wide);
  run_sample(store, many, wide, {.threads = 2, .batch_points = 4096});
  const Page page = store.page(many, wide, {.limit = 3, .sort = "-index"});
  EXPECT_EQ(page.points[2].index, 59'997);
  EXPECT_EQ(page.total, 60'000);
  EXPECT_FALSE(page.next.empty());
}

TEST_F(points, are_filtered_by_feasibility) {
  run_sample(store, id, space, {});
  EXPECT_EQ(store.page(id, space, {.feasible = true}).total, 70);
  const Page infeasible = store.page(id, space, {.feasible = false});
  EXPECT_EQ(infeasible.points.size(), 10u);
  for (const auto& point : infeasible.points) EXPECT_FALSE(point.feasible);
}

TEST_F(points, added_meanwhile_neither_repeat_nor_hide_others) {
  store.append(id, batch({40, 80}));
  const Page first = store.page(id, space, {.limit = 10, .sort = "-cores"});
  run_sample(store, id, space, {});
  const Page second = store.page(id, space, {.limit = 100, .cursor = first.next, .sort = "-cores"});
  for (const auto& a : first.points)
    for (const auto& b : second.points) ASSERT_NE(a.index, b.index);
}

TEST_F(points, refuse_a_page_that_cannot_be) {
  EXPECT_EQ(refusal([&] { store.page(id, space, {.limit = 0}); }), "value_out_of_range at limit");
  EXPECT_EQ(refusal([&] { store.page(id, space, {.limit = 10'001}); }), "value_out_of_range at limit");
  EXPECT_EQ(refusal([&] { store.page(id, space, {.sort = "speed"}); }), "unknown_metric at sort");
  EXPECT_EQ(refusal([&] { store.page(id, space, {.sort = "steps"}); }), "unknown_metric at sort") << "not swept";
  for (const char* cursor :
       {"x", "index", "index:", "index:0", "index:0:", "index:z:1", "-index:0:1", "index:0:1x"})
    EXPECT_EQ(refusal([&] { store.page(id, space, {.cursor = cursor}); }), "value_invalid at cursor") << cursor;
}

TEST_F(points, are_exported_as_csv_with_units_and_shortest_numbers) {
  store.append(id, batch({5, 8}));
  const std::string text = exported(store, id, space, ExportFormat::csv);
  EXPECT_THAT(text, testing::StartsWith(
                        "index,feasible,reason,cores,batch [frames],throughput_fps [frame/s],latency_s [s],"));
  EXPECT_THAT(text, testing::HasSubstr("\n5,1,,6,1,0.05555555555555555,1.0555555555555556,2.0555555555555554,"));
  EXPECT_THAT(text, testing::HasSubstr("\n6,0,\"dsram: 1 bytes, \"\"too\"\" many\",7,1,,,"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
}

TEST_F(points, are_exported_as_json_lines) {
  store.append(id, batch({5, 8}));
  std::istringstream lines(exported(store, id, space, ExportFormat::ndjson));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto first = nlohmann::json::parse(line);
  EXPECT_EQ(first["index"], 5);
  EXPECT_EQ(first["feasible"], true);
  EXPECT_EQ(first["cores"], 6);
  EXPECT_EQ(first["latency_s"], 1 + 1 / 18.0);
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_TRUE(nlohmann::json::parse(line)["latency_s"].is_null());
}

TEST_F(points, show_what_was_measured_of_them_and_nothing_of_others) {
  store.append(id, batch({5, 8}));
  store.add_accuracy("int8", {31.5, 0.999, true});
  store.add_accuracy("int8", {1, 0.5, false});  // known already: the first stays
  store.add_accuracy("exact", {HUGE_VAL, 1, false});
  store.add_accuracy("broken", {NAN, NAN, true});
  EXPECT_EQ(store.accuracy("int8")->sqnr_db, 31.5);
  EXPECT_TRUE(std::isnan(store.accuracy("broken")->cosine));
  store.set_point_accuracy(id, 5, "int8");
  store.set_point_accuracy(id, 7, "exact");
  EXPECT_EQ(store.point_accuracies(id).size(), 2u);
  EXPECT_EQ(store.point_accuracies(id).at(7).sqnr_db, HUGE_VAL);
  const std::string text = exported(store, id, space, ExportFormat::csv);
  EXPECT_THAT(text, testing::HasSubstr(",sqnr_db [dB],cosine,accuracy_weights\n5,1,"));
  EXPECT_THAT(text, testing::ContainsRegex(",31.5,0.999,random\n6,0,.*,,,\n7,1,.*,inf,1,file\n"));
  std::istringstream lines(exported(store, id, space, ExportFormat::ndjson));
  std::string line;
  std::vector<nlohmann::json> rows;
  while (std::getline(lines, line)) rows.push_back(nlohmann::json::parse(line));
  EXPECT_EQ(rows[0]["sqnr_db"], 31.5);
  EXPECT_EQ(rows[0]["accuracy_weights"], "random");
  EXPECT_TRUE(rows[1]["sqnr_db"].is_null() && rows[1]["accuracy_weights"].is_null());
  EXPECT_EQ(rows[2]["sqnr_db"], "inf");
  EXPECT_EQ(refusal([&] { store.set_point_accuracy(id, 5, "never"); }), "not_found at never");
  EXPECT_EQ(refusal([&] { store.set_point_accuracy(id, 5000, "int8"); }), "not_found at index");
  store.remove_sweep(id);
  EXPECT_TRUE(store.accuracy("int8").has_value());  // for the next sweep
}

TEST_F(points, cannot_smuggle_a_formula_into_a_spreadsheet) {
  PointBatch evil;
  for (const char* reason : {"=1+1", "+1+x", "-1", "@x", "\tx", "plain", "a\r\nb"}) {
    Outcome outcome;
    outcome.reason = reason;
    append(evil, outcome);
  }
  store.append(id, evil);
  const std::string text = exported(store, id, space, ExportFormat::csv);
  for (const char* expected :
       {"0,0,'=1+1,", "1,0,'+1+x,", "2,0,-1,", "3,0,'@x,", "4,0,'\tx,", "5,0,plain,", "6,0,\"a\r\nb\","})
    EXPECT_THAT(text, testing::HasSubstr(expected));
}

TEST_F(points, stop_being_exported_when_the_sink_has_enough) {
  run_sample(store, id, space, {.batch_points = 10});
  int pieces = 0;
  store.export_points(id, space, whole_export(space, {}, ExportFormat::csv),
                      [&](std::string_view) { return ++pieces < 3; });
  EXPECT_EQ(pieces, 3);
}

TEST_F(points, can_be_read_while_they_are_written) {
  std::atomic<bool> stop{false};
  std::jthread reader([&] {
    while (!stop) {
      const Columns columns = store.columns(id, space, std::vector<Measure>{Metric::area_mm2});
      EXPECT_EQ(columns.index.size(), columns.values[0].size());
      EXPECT_EQ(columns.index.size() % 2, 0u) << "batches are seen whole";
    }
  });
  run_sample(store, id, space, {.threads = 2, .batch_points = 2});
  stop = true;
}

}  // namespace
}  // namespace sdip
