// All points of a sweep as JSON columns, written a column after the other as they are read.
#include <set>

#include "server/jobs/sweep_json.h"
#include "server/json/report_json.h"

namespace sdip {
namespace {

/// Text on its way to a sink, in pieces of some size.
class Pieces {
 public:
  explicit Pieces(const Sink& sink) : sink_(sink) {}

  /// False: the sink has enough.
  bool add(std::string_view text) {
    constexpr std::size_t piece_bytes = 64 << 10;
    piece_ += text;
    if (piece_.size() >= piece_bytes) end();
    return open_;
  }
  void end() {
    open_ = open_ && sink_(piece_);
    piece_.clear();
  }

 private:
  const Sink& sink_;
  std::string piece_;
  bool open_ = true;
};

/// A cell of each point.
using Cells = std::function<void(const PointRun&, OrderedJson& cells)>;

/// "[...]", a cell for each point.
bool add_array(Pieces& pieces, const StoredPoints& points, const std::optional<Measure>& measure,
               const Cells& cells) {
  bool open = pieces.add("["), first = true;
  if (!open) return false;
  points.each(measure, [&](const PointRun& run) {
    OrderedJson some = OrderedJson::array();
    cells(run, some);
    const std::string text = json_text(some);
    open = pieces.add(first ? "" : ",") && pieces.add(std::string_view(text).substr(1, text.size() - 2));
    first = false;
    return open;
  });
  return open && pieces.add("]");
}

/// Cells of what follows from a point's index.
Cells by_index(const std::function<OrderedJson(std::int64_t)>& cell) {
  return [cell](const PointRun& run, OrderedJson& cells) {
    for (std::size_t i = 0; i < run.feasible.size(); ++i)
      cells.push_back(cell(run.first + static_cast<std::int64_t>(i)));
  };
}

void values_of(const PointRun& run, OrderedJson& cells) {
  for (const double value : run.values) cells.push_back(number_or_null(value));
}

void flags_of(const PointRun& run, OrderedJson& cells) {
  for (const std::uint8_t flag : run.feasible) cells.push_back(flag);
}

struct NamedColumn {
  std::string name;
  std::optional<Measure> measure;
  Cells cells;
};

std::vector<NamedColumn> columns_of(const Store& store, const SweepRecord& sweep, const Fields& fields) {
  const Space& space = sweep.spec.space;
  std::vector<NamedColumn> columns;
  for (const std::size_t axis : fields.axes)
    columns.push_back(
        {std::string(space.axes[axis].row->name), std::nullopt, by_index([&space, axis](std::int64_t index) {
           return value_json(*space.axes[axis].row, axis_value(space, axis, index));
         })});
  for (const Measure& measure : fields.metrics)
    columns.push_back({std::string(measure.name()), measure, values_of});
  if (fields.accuracies.empty()) return columns;
  const auto measured = std::make_shared<const PointAccuracies>(store.point_accuracies(sweep.row.id));
  for (const AccuracyField field : fields.accuracies)
    columns.push_back(
        {std::string(accuracy_field_name(field)), std::nullopt,
         by_index([measured, field](std::int64_t index) { return accuracy_cell(field, *measured, index); })});
  return columns;
}

}  // namespace

void write_columns(const Store& store, const SweepRecord& sweep, const Fields& fields, const Sink& sink) {
  const StoredPoints points(store, sweep.row.id, sweep.spec.space);
  Pieces pieces(sink);
  const auto index = by_index([](std::int64_t one) { return OrderedJson(one); });
  bool open = pieces.add(fmt::format("{{\"count\":{},\"index\":", points.check({}))) &&
              add_array(pieces, points, std::nullopt, index) && pieces.add(",\"feasible\":") &&
              add_array(pieces, points, std::nullopt, flags_of) && pieces.add(",\"columns\":{");
  std::set<std::string> written;  // a name that was asked for twice stands once
  for (const NamedColumn& column : columns_of(store, sweep, fields)) {
    if (!written.insert(column.name).second) continue;
    const std::string name = (written.size() > 1 ? "," : "") + json_text(OrderedJson(column.name)) + ":";
    if (!(open = open && pieces.add(name) && add_array(pieces, points, column.measure, column.cells))) return;
  }
  if (open && pieces.add("}}")) pieces.end();
}

}  // namespace sdip
