// All points of a sweep, or some, as text or as a database of their own.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "db/export_text.h"
#include "db/parts.h"

namespace sdip {
namespace {

using Kind = ExportCell::Kind;

/// Shortest decimal form that reads back as the same double; nothing when there is no finite value.
void set_number(ExportCell& cell, double value) {
  cell.kind = std::isfinite(value) ? Kind::number : Kind::nothing;
  cell.text.clear();
  if (cell.kind == Kind::nothing) return;
  char text[32];
  cell.text.assign(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void set_accuracy(ExportCell& cell, AccuracyField field, const StoredAccuracy* measured) {
  cell = {};
  if (measured == nullptr) return;
  const bool exact = std::isinf(measured->sqnr_db) && measured->sqnr_db > 0;
  if (field == AccuracyField::accuracy_weights)
    cell = {Kind::text, measured->random_weights ? "random" : "file"};
  else if (field == AccuracyField::sqnr_db && exact)
    cell = {Kind::text, "inf"};
  else
    set_number(cell, field == AccuracyField::sqnr_db ? measured->sqnr_db : measured->cosine);
}

bool holds(const std::vector<IndexRange>& ascending, std::int64_t index) {
  const auto behind = std::ranges::upper_bound(ascending, index, {}, &IndexRange::first);
  return behind != ascending.begin() && index < std::prev(behind)->end;
}

/// The points of a chunk, as far as a query asks for them.
struct ChunkTable {
  ChunkHead chunk;
  std::vector<std::string> reasons;
  std::vector<std::vector<double>> measures;
};

/// Reads a sweep's points in one snapshot and makes rows of cells of them.
class RowReader {
 public:
  RowReader(Connection& connection, const MetricIds& metric_ids, std::int64_t sweep, const Space& space,
            const ExportQuery& query)
      : sweep_(sweep),
        space_(space),
        query_(query),
        reader_(connection, metric_ids),
        measured_(query.accuracies.empty() ? std::map<std::int64_t, StoredAccuracy>()
                                           : point_accuracies_in(connection, sweep)) {
    check(total_of(connection, sweep) == point_count(space), "export_points: the sweep's own space");
  }

  /// Visits rows; `after_chunk` is called where a piece may end. Either returns false to stop.
  void each(const std::function<bool(std::span<const ExportCell>)>& visit,
            const std::function<bool()>& after_chunk) {
    if (query_.only) return each_of(*query_.only, visit, after_chunk);
    reader_.each(sweep_, 0, [&](const ChunkHead& chunk) {
      if (query_.stored && !holds(*query_.stored, chunk.first)) return true;  // a chunk is kept whole or not at all
      const ChunkTable table = table_of(chunk);
      for (std::size_t i = 0; i < table.reasons.size(); ++i)
        if (!visit(row(table, i))) return false;
      return after_chunk();
    });
  }

 private:
  ChunkTable table_of(const ChunkHead& chunk) {
    ChunkTable table{chunk, reader_.reasons(chunk), {}};
    table.measures.resize(query_.measures.size());
    for (std::size_t m = 0; m < query_.measures.size(); ++m)
      reader_.measure(chunk, space_, query_.measures[m], table.measures[m]);
    return table;
  }

  void each_of(const std::vector<std::int64_t>& points,
               const std::function<bool(std::span<const ExportCell>)>& visit,
               const std::function<bool()>& after_chunk) {
    ChunkTable table;
    for (const std::int64_t index : points) {
      if (index < table.chunk.first || index >= table.chunk.first + table.chunk.count) {
        const auto chunk = reader_.holding(sweep_, index);
        if (!chunk) throw Error("not_found", "point " + std::to_string(index), "this point is not stored (yet)");
        table = table_of(*chunk);
      }
      if (!visit(row(table, as_size(index - table.chunk.first))) || !after_chunk()) return;
    }
  }

  std::span<const ExportCell> row(const ChunkTable& table, std::size_t place) {
    const std::int64_t index = table.chunk.first + static_cast<std::int64_t>(place);
    cells_.resize(3 + query_.axes.size() + query_.measures.size() + query_.accuracies.size());
    cells_[0] = {Kind::number, std::to_string(index)};
    cells_[1] = {Kind::flag, table.chunk.feasible[place] != 0 ? "1" : "0"};
    cells_[2] = {Kind::text, table.reasons[place]};
    std::size_t next = 3;
    for (const std::size_t a : query_.axes) {
      const ParameterRow& row = *space_.axes[a].row;
      const bool choice = row.type == ParameterType::choice, flag = row.type == ParameterType::flag;
      cells_[next++] = {choice ? Kind::text
                        : flag ? Kind::raw
                               : Kind::number,
                        value_text(row, axis_value(space_, a, index))};
    }
    for (const std::vector<double>& values : table.measures) set_number(cells_[next++], values[place]);
    const auto found = measured_.find(index);
    for (const AccuracyField field : query_.accuracies)
      set_accuracy(cells_[next++], field, found == measured_.end() ? nullptr : &found->second);
    return cells_;
  }

  std::int64_t sweep_;
  const Space& space_;
  const ExportQuery& query_;
  ChunkReader reader_;
  std::map<std::int64_t, StoredAccuracy> measured_;
  std::vector<ExportCell> cells_;
};

std::string sql_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

void bind_cell(Statement& statement, const ExportCell& cell) {
  if (cell.kind == Kind::nothing)
    statement.bind_null();
  else if (cell.kind == Kind::text)
    statement.bind(cell.text);
  else if (cell.kind == Kind::flag || cell.kind == Kind::raw)
    statement.bind(std::int64_t{cell.text == "1" || cell.text == "true"});
  else if (cell.text.find_first_of(".en") == std::string::npos && cell.text.size() < 18)
    statement.bind(std::int64_t{std::stoll(cell.text)});
  else
    statement.bind(std::stod(cell.text));
}

void create_tables(Connection& file, std::span<const ExportColumn> columns, const std::string& manifest_json) {
  std::string points = "CREATE TABLE point(";
  for (std::size_t c = 0; c < columns.size(); ++c)
    points += (c > 0 ? ", " : "") + sql_name(columns[c].name) + (c == 0 ? " INTEGER PRIMARY KEY" : "");
  file.execute((points + ")").c_str());
  file.execute(
      "CREATE TABLE point_column(position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL);"
      "CREATE TABLE manifest(json TEXT NOT NULL)");
  Statement column(file, "INSERT INTO point_column(name, unit) VALUES(?, ?)");
  for (const ExportColumn& one : columns) column.bind(one.name).bind(one.unit).run();
  if (!manifest_json.empty()) Statement(file, "INSERT INTO manifest(json) VALUES(?)").bind(manifest_json).run();
}

}  // namespace

ExportQuery whole_export(const Space& space, std::span<const Formula> formulas, ExportFormat format) {
  ExportQuery query;
  query.format = format;
  for (std::size_t a = 0; a < space.axes.size(); ++a) query.axes.push_back(a);
  for (std::size_t m = 0; m < metric_count; ++m) query.measures.emplace_back(static_cast<Metric>(m));
  for (const Formula& formula : formulas) query.measures.emplace_back(formula);
  query.accuracies = {AccuracyField::sqnr_db, AccuracyField::cosine, AccuracyField::accuracy_weights};
  return query;
}

std::vector<ExportColumn> export_columns(const Space& space, const ExportQuery& query) {
  std::vector<ExportColumn> columns = {{"index", ""}, {"feasible", ""}, {"reason", "", false}};
  for (const std::size_t a : query.axes) {
    const ParameterRow& row = *space.axes[a].row;
    const bool number = row.type != ParameterType::choice && row.type != ParameterType::flag;
    columns.push_back({std::string(row.name), std::string(row.unit), number});
  }
  for (const Measure& measure : query.measures)
    columns.push_back({std::string(measure.name()), std::string(measure.unit())});
  for (const AccuracyField field : query.accuracies)
    columns.push_back({std::string(accuracy_fields[at(field)]), field == AccuracyField::sqnr_db ? "dB" : "",
                       field != AccuracyField::accuracy_weights});
  return columns;
}

void Store::export_points(std::int64_t id, const Space& space, const ExportQuery& query,
                          const std::function<bool(std::string_view)>& sink) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  RowReader rows(reading.connection(), parts_->metric_ids, id, space, query);
  const TextFormat& format = text_format(query.format);
  const std::vector<ExportColumn> columns = export_columns(space, query);
  std::string text = format.head(columns, query.manifest_json);
  if (!text.empty() && !sink(text)) return;
  text.clear();
  bool first = true, open = true;
  rows.each(
      [&](std::span<const ExportCell> cells) {
        format.line(columns, cells, first, text);
        first = false;
        return true;
      },
      [&] {
        open = sink(text);
        text.clear();
        return open;
      });
  text = format.tail(query.manifest_json);
  if (open && !text.empty()) sink(text);
}

void Store::export_database(std::int64_t id, const Space& space, const ExportQuery& query,
                            const std::string& path) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  RowReader rows(reading.connection(), parts_->metric_ids, id, space, query);
  const std::vector<ExportColumn> columns = export_columns(space, query);
  Connection file(path, Connection::Access::read_write);
  file.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");  // whoever wants it whole renames it
  Transaction transaction(file, Transaction::Kind::write);
  create_tables(file, columns, query.manifest_json);
  std::string insert = "INSERT INTO point VALUES(?";
  for (std::size_t c = 1; c < columns.size(); ++c) insert += ", ?";
  Statement point(file, (insert + ")").c_str());
  rows.each(
      [&](std::span<const ExportCell> cells) {
        for (const ExportCell& cell : cells) bind_cell(point, cell);
        point.run();
        return true;
      },
      [] { return true; });
  transaction.commit();
}

}  // namespace sdip
