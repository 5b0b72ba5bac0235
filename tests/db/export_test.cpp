// Do exports say what is stored, in every format, and escape what could mean something there?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "db/sqlite.h"
#include "tests/core/explore/refusal.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

using testing::HasSubstr;

struct exports : testing::Test {
  TemporaryFolder folder;
  Store store{folder.store()};
  Space space = sample_space();
  std::int64_t id = add_sample_sweep(store, space);

  exports() { run_sample(store, id, space, {.batch_points = 9}); }

  ExportQuery query_of(ExportFormat format, std::vector<std::int64_t> only = {}) const {
    ExportQuery query = whole_export(space, {}, format);
    query.measures = {Metric::throughput_fps, Metric::latency_s};
    query.accuracies = {AccuracyField::sqnr_db};
    if (!only.empty()) query.only = std::move(only);
    return query;
  }
  std::string text_of(const ExportQuery& query) const {
    std::string text;
    store.export_points(id, space, query, [&](std::string_view piece) {
      text += piece;
      return true;
    });
    return text;
  }
};

TEST_F(exports, as_json_are_one_document_with_units_and_manifest) {
  ExportQuery query = query_of(ExportFormat::json);
  query.manifest_json = R"({"of":"this"})";
  const auto whole = nlohmann::json::parse(text_of(query));
  EXPECT_EQ(whole["manifest"]["of"], "this");
  EXPECT_EQ(whole["columns"][3], nlohmann::json({{"name", "cores"}, {"unit", ""}}));
  EXPECT_EQ(whole["columns"][6], nlohmann::json({{"name", "latency_s"}, {"unit", "s"}}));
  ASSERT_EQ(whole["points"].size(), 80u);
  EXPECT_EQ(whole["points"][79]["index"], 79);
  EXPECT_EQ(whole["points"][79]["latency_s"], 1 + 2 / 120.0);
  EXPECT_TRUE(whole["points"][6]["latency_s"].is_null());
  query.manifest_json.clear();
  EXPECT_TRUE(nlohmann::json::parse(text_of(query))["manifest"].is_null());
}

TEST_F(exports, of_some_points_have_them_in_the_order_given) {
  const std::vector<std::int64_t> some = {70, 3, 4, 50};
  const auto whole = nlohmann::json::parse(text_of(query_of(ExportFormat::json, some)));
  std::vector<std::int64_t> found;
  for (const auto& point : whole["points"]) found.push_back(point["index"]);
  EXPECT_EQ(found, some);
  const std::string csv = text_of(query_of(ExportFormat::csv, some));
  const std::string all = text_of(query_of(ExportFormat::csv));
  EXPECT_THAT(all, HasSubstr(csv.substr(csv.find("\n70,") + 1, csv.find("\n3,") - csv.find("\n70,"))));
  EXPECT_EQ(refusal([&] { text_of(query_of(ExportFormat::csv, {80})); }), "not_found at point 80");
}

TEST_F(exports, as_markdown_are_a_table_of_six_digits) {
  ExportQuery query = query_of(ExportFormat::markdown, {5, 6});
  query.manifest_json = R"({"of":"```"})";
  EXPECT_EQ(
      text_of(query),
      R"(| index | feasible | reason | cores | batch \[frames\] | throughput\_fps \[frame/s\] | latency\_s \[s\] | sqnr\_db \[dB\] |
| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |
| 5 | 1 |  | 6 | 1 | 0.0555556 | 1.05556 |  |
| 6 | 0 | dsram\: 1 bytes, "too" many | 7 | 1 |  |  |  |

```json
{
  "of": "```"
}
```
)");
}

TEST_F(exports, as_latex_are_a_tabular_with_rules) {
  ExportQuery query = query_of(ExportFormat::latex, {5, 6});
  query.measures = {Metric::throughput_fps};
  query.manifest_json = R"({"of":"\\end{tabular}"})";
  EXPECT_EQ(text_of(query), R"(% \usepackage{booktabs}
% {
%   "of": "\\end{tabular}"
% }
\begin{tabular}{rrlrrrr}
\toprule
index & feasible & reason & cores & batch [frames] & throughput\_fps [frame/s] & sqnr\_db [dB] \\
\midrule
5 & 1 &  & 6 & 1 & 0.0555556 &  \\
6 & 0 & dsram: 1 bytes, \textquotedbl{}too\textquotedbl{} many & 7 & 1 &  &  \\
\bottomrule
\end{tabular}
)");
}

TEST_F(exports, escape_what_a_reason_could_do_and_write_powers_of_ten) {
  const std::int64_t other = add_sample_sweep(store, space);
  PointBatch evil;
  append(evil, {.reason = "a|b <i> \\x & 50 % of #1_a {x} ~^\n\x1b[31m"});
  Outcome small{.feasible = true, .reason = ""};
  small.values.fill(-1.234567891e-12);
  append(evil, small);
  store.append(other, evil);
  const auto text = [&](ExportFormat format) {
    std::string all;
    store.export_points(other, space, query_of(format), [&](std::string_view piece) {
      all += piece;
      return true;
    });
    return all;
  };
  const std::string latex = text(ExportFormat::latex);
  EXPECT_THAT(latex, HasSubstr("a|b \\textless{}i\\textgreater{} \\textbackslash{}x \\& 50 \\% of \\#1\\_a \\{x\\} "
                               "\\textasciitilde{}\\textasciicircum{}"));
  EXPECT_THAT(latex, HasSubstr(" & $-1.23457 \\times 10^{-12}$ & "));
  const std::string markdown = text(ExportFormat::markdown);
  EXPECT_THAT(markdown, HasSubstr("a\\|b &lt;i&gt; "));
  EXPECT_EQ(latex.find('\x1b'), std::string::npos);
  EXPECT_EQ(markdown.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::ranges::count(latex, '\n'), 9) << "a line a point";
  EXPECT_EQ(std::ranges::count(markdown, '\n'), 4) << "a line a point";
}

TEST_F(exports, as_a_database_hold_points_columns_and_manifest) {
  ExportQuery query = whole_export(space, {}, ExportFormat::sqlite);
  query.measures.emplace_back(parse_formula("twice", "s", "2 * latency_s", "/metrics"));
  query.manifest_json = R"({"of":"this"})";
  store.set_point_accuracy(id, 5, (store.add_accuracy("key", {31.5, 0.5, true}), "key"));
  const std::string path = (folder.path / "points.sqlite").string();
  store.export_database(id, space, query, path);
  Connection file(path, Connection::Access::read_only);
  EXPECT_EQ(file.integer("SELECT count(*) FROM point"), 80);
  EXPECT_EQ(file.integer("SELECT sum(feasible) FROM point"), store.sweep(id).feasible);
  EXPECT_EQ(file.text("SELECT typeof(\"index\") || typeof(reason) || typeof(cores) || typeof(latency_s) FROM point "
                      "WHERE \"index\" = 5"),
            "integertextintegerreal");
  EXPECT_EQ(file.integer("SELECT count(*) FROM point WHERE latency_s IS NULL AND feasible = 0"),
            80 - store.sweep(id).feasible);
  EXPECT_EQ(file.integer("SELECT count(*) FROM point WHERE feasible = 1 AND twice IS NOT 2 * latency_s"), 0);
  EXPECT_EQ(file.text("SELECT unit FROM point_column WHERE name = 'latency_s'"), "s");
  EXPECT_EQ(file.text("SELECT accuracy_weights FROM point WHERE sqnr_db = 31.5"), "random");
  EXPECT_EQ(file.text("SELECT json FROM manifest"), query.manifest_json);
  Statement row(file, "SELECT latency_s FROM point ORDER BY \"index\"");
  const Columns stored = store.columns(id, space, std::vector<Measure>{Metric::latency_s});
  for (std::size_t i = 0; row.step(); ++i)
    EXPECT_TRUE(row.null(0) ? stored.feasible[i] == 0 : row.real(0) == stored.values[0][i]) << i;
}

TEST_F(exports, name_their_formats_once) {
  std::set<std::string_view> names, suffixes;
  for (const ExportFormatRow& row : export_formats()) {
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_TRUE(suffixes.insert(row.suffix).second);
    EXPECT_EQ(row_of(row.format).name, row.name);
  }
}

TEST_F(exports, give_batches_back_as_they_were_appended) {
  const std::int64_t copy = add_sample_sweep(store, space);
  store.each_batch(id, {0, 80}, [&](PointBatch&& batch) { store.append(copy, batch); });
  EXPECT_TRUE(exported(store, copy, space, ExportFormat::csv) == exported(store, id, space, ExportFormat::csv));
  std::vector<IndexRange> ranges;
  store.each_batch(id, {12, 30}, [&](PointBatch&& batch) { ranges.push_back(batch.range()); });
  EXPECT_THAT(ranges, testing::ElementsAre(IndexRange{12, 18}, IndexRange{18, 27}, IndexRange{27, 30}));
}

}  // namespace
}  // namespace sdip
