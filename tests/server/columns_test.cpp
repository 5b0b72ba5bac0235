// Are a sweep's columns what is stored, and sent in pieces of which none grows with the sweep?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "server/jobs/sweep_json.h"
#include "server/json/report_json.h"
#include "tests/db/sample.h"

namespace sdip::test {
namespace {

struct Written {
  std::string text;
  std::size_t longest = 0;
};

Written written(const Store& store, const SweepRecord& sweep, const std::string& fields) {
  Written found;
  write_columns(store, sweep, fields_of(sweep.spec, fields, ""), [&](std::string_view piece) {
    found.longest = std::max(found.longest, piece.size());
    found.text += piece;
    return true;
  });
  return found;
}

TEST(columns, are_what_is_stored_in_pieces) {
  const sdip::TemporaryFolder folder;
  Store store(folder.store());
  SweepRecord sweep;
  sweep.spec.space = sample_space(8000);
  const std::int64_t id = add_sample_sweep(store, sweep.spec.space);
  run_sample(store, id, sweep.spec.space, {});
  store.add_accuracy("a", {31.5, 0.999, true});
  store.set_point_accuracy(id, 7, "a");
  sweep.row = store.sweep(id);

  const Written found = written(store, sweep, "cores,latency_s,sqnr_db,latency_s");
  EXPECT_GT(found.text.size(), std::size_t{500'000});
  EXPECT_LT(found.longest, std::size_t{100'000});
  const std::vector<Measure> metrics = {Metric::latency_s};
  const Columns stored = store.columns(id, sweep.spec.space, metrics);
  OrderedJson cores = OrderedJson::array(), latency = OrderedJson::array(), sqnr = OrderedJson::array();
  for (std::size_t i = 0; i < stored.index.size(); ++i) {
    cores.push_back(axis_value(sweep.spec.space, 0, stored.index[i]));
    latency.push_back(number_or_null(stored.values[0][i]));
    sqnr.push_back(i == 7 ? OrderedJson(31.5) : OrderedJson());
  }
  const OrderedJson whole = {{"count", stored.index.size()},
                             {"index", stored.index},
                             {"feasible", stored.feasible},
                             {"columns", {{"cores", cores}, {"latency_s", latency}, {"sqnr_db", sqnr}}}};
  EXPECT_TRUE(found.text == json_text(whole)) << found.text.substr(0, 300);
}

TEST(columns, of_no_points_are_empty_and_a_sink_that_has_enough_ends_them) {
  const sdip::TemporaryFolder folder;
  Store store(folder.store());
  SweepRecord sweep;
  sweep.spec.space = sample_space(8000);
  sweep.row = store.sweep(add_sample_sweep(store, sweep.spec.space));
  EXPECT_EQ(written(store, sweep, "cores").text, R"({"count":0,"index":[],"feasible":[],"columns":{"cores":[]}})");
  run_sample(store, sweep.row.id, sweep.spec.space, {});
  int pieces = 0;
  write_columns(store, sweep, fields_of(sweep.spec, "", ""), [&](std::string_view) { return ++pieces < 2; });
  EXPECT_EQ(pieces, 2);
}

}  // namespace
}  // namespace sdip::test
