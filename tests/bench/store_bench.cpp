// How fast is the store, against one row a point in the same SQLite? Ratios, in one run.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "core/explore/front.h"
#include "db/sqlite.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

constexpr std::int64_t cores = 50'000;  // times two batches: 100,000 points
constexpr std::int64_t points_in_batch = 256;

template <class Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void line(const char* what, double count, double took, const char* of) {
  std::printf("%-42s %12.0f %s/s   %.3f s\n", what, count / took, of, took);
}

std::vector<PointBatch> batches_of(const Space& space) {
  std::vector<PointBatch> batches;
  const std::vector<IndexRange> all = {{0, point_count(space)}};
  sweep(space, all, sample_compile, one_by_one(sample_evaluate), {.batch_points = points_in_batch},
        [&](PointBatch&& batch) { batches.push_back(std::move(batch)); });
  return batches;
}

/// The simple form: a row a point, a column a metric, a transaction a batch.
double one_row_a_point(const std::string& path, const std::vector<PointBatch>& batches) {
  Connection connection(path, Connection::Access::read_write);
  connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  std::string columns, marks;
  for (const MetricRow& metric : metrics()) columns += ", " + std::string(metric.name) + " REAL", marks += ", ?";
  connection.execute(("CREATE TABLE point(sweep INTEGER, idx INTEGER, feasible INTEGER, reason TEXT" + columns +
                      ", PRIMARY KEY(sweep, idx)) STRICT, WITHOUT ROWID")
                         .c_str());
  Statement add(connection, ("INSERT INTO point VALUES(1, ?, ?, ?" + marks + ")").c_str());
  return seconds([&] {
    for (const PointBatch& batch : batches) {
      Transaction transaction(connection, Transaction::Kind::write);
      for (std::size_t i = 0; i < batch.feasible.size(); ++i) {
        add.bind(batch.first + static_cast<std::int64_t>(i)).bind(std::int64_t{batch.feasible[i]});
        add.bind(batch.reasons[batch.reason[i]]);
        for (const auto& values : batch.values) add.bind(values[i]);
        add.run();
      }
      transaction.commit();
    }
  });
}

/// A formula of stored points, with a metric's column beside it; and computed alone, over 1,000,000 points.
void formulas(const Store& store, std::int64_t id, const Space& space, const Columns& columns, double points) {
  const Formula efficiency =
      parse_formula("efficiency", "", "throughput_fps / (area_mm2 * min(latency_s, 1)) + cores", "");
  const std::vector<Measure> one = {Measure(efficiency)};
  line("read a formula of 3 metrics, 1 parameter", points, seconds([&] { store.columns(id, space, one); }),
       "points");
  constexpr std::size_t many = 1'000'000;
  std::vector<std::vector<double>> inputs(4, std::vector<double>(many));
  for (std::size_t k = 0; k < inputs.size(); ++k)
    for (std::size_t i = 0; i < many; ++i) inputs[k][i] = columns.values[k % 3][i % columns.index.size()];
  const std::vector<std::span<const double>> views(inputs.begin(), inputs.end());
  std::vector<double> values(many);
  line("the formula alone, 1,000,000 points", static_cast<double>(many),
       seconds([&] { compute(efficiency, views, values); }), "points");
}

void run() {
  const Space space = sample_space(cores);
  const auto points = static_cast<double>(point_count(space));
  const TemporaryFolder folder, simple;
  std::printf("%.0f points of %zu metrics, batches of %lld, %u threads of the machine\n", points, metric_count,
              static_cast<long long>(points_in_batch), std::thread::hardware_concurrency());

  std::vector<PointBatch> batches;
  line("sweep, evaluation next to nothing, 1 thread", points, seconds([&] { batches = batches_of(space); }),
       "points");

  std::int64_t id = 0;
  double columns_s = 0;
  {
    Store store(folder.store());
    id = add_sample_sweep(store, space);
    columns_s = seconds([&] {
      for (const PointBatch& batch : batches) store.append(id, batch);
    });
  }
  const double rows_s = one_row_a_point(simple.store(), batches);
  line("append, columns in chunks", points, columns_s, "points");
  line("append, one row a point", points, rows_s, "points");
  const auto bytes = [&](const std::string& path) { return static_cast<double>(std::filesystem::file_size(path)); };
  std::printf("%-42s %.2f times as fast, %.1f against %.1f bytes a point\n", "  columns against rows",
              rows_s / columns_s, bytes(folder.store()) / points, bytes(simple.store()) / points);

  Store store(folder.store());
  Columns columns;
  const std::vector<Measure> objectives = {Metric::throughput_fps, Metric::area_mm2, Metric::latency_s};
  line("read three columns", points, seconds([&] { columns = store.columns(id, space, objectives); }), "points");
  formulas(store, id, space, columns, points);
  double simple_s = 0;
  {
    Connection connection(simple.store(), Connection::Access::read_only);
    simple_s = seconds([&] {
      Statement row(connection,
                    "SELECT idx, feasible, throughput_fps, area_mm2, latency_s FROM point ORDER BY idx");
      while (row.step()) row.integer(0);
    });
  }
  line("read three columns, one row a point", points, simple_s, "points");
  for (const char* what : {"page of 100 by a metric, the first", "page of 100 by a metric, again"})
    line(what, 1, seconds([&] { store.page(id, space, {.limit = 100, .sort = "-latency_s"}); }), "pages");
  line("export CSV", points, seconds([&] { exported(store, id, space, ExportFormat::csv); }), "points");
  const std::vector<Better> better = {Better::higher, Better::lower, Better::lower};
  const std::vector<std::span<const double>> views(columns.values.begin(), columns.values.end());
  const std::span all(views);
  line("front of two objectives", points, seconds([&] { pareto_front(all.first(2), std::span(better).first(2)); }),
       "points");
  line("front of three objectives", points, seconds([&] { pareto_front(all, better); }), "points");
}

}  // namespace
}  // namespace sdip

int main() {
  sdip::run();
  return 0;
}
