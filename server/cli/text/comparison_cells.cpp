// The cells of a comparison's tables.
#include "server/cli/text/comparison_cells.h"

#include <algorithm>
#include <cmath>

namespace sdip {
namespace {

constexpr ComparedColumn compared[] = {
    {"latency", "latency_s", Shown::own, Block::time, "$T$"},
    {"calibrated", "latency_s", Shown::calibrated, Block::time, "$T_c$"},
    {"throughput", "throughput_fps", Shown::own, Block::time, "fps"},
    {"calibrated", "throughput_fps", Shown::calibrated, Block::time, "fps$_c$"},
    {"over ours", "", Shown::against, Block::time, ""},
    {"utilization", "utilization", Shown::own, Block::time, "$U$"},
    {"DRAM a frame", "dram_bytes_per_frame", Shown::own, Block::time, "DRAM"},
    {"weights of DRAM", "dram_filled", Shown::own, Block::time, ""},
    {"energy a frame", "energy_j_per_frame", Shown::own, Block::cost, "$E$"},
    {"calibrated", "energy_j_per_frame", Shown::calibrated, Block::cost, "$E_c$"},
    {"design power x time", "design_energy_j_per_frame", Shown::own, Block::cost, "$E_d$"},
    {"frames a joule", "frames_per_j", Shown::own, Block::cost, ""},
    {"area", "area_mm2", Shown::own, Block::cost, "mm$^2$"},
    {"throughput a mm2", "fps_per_mm2", Shown::own, Block::cost, "fps/mm$^2$"},
    {"on-chip memory", "sram_bytes", Shown::own, Block::cost, "SRAM"},
    {"price, modelled", "price_usd", Shown::own, Block::cost, "USD"}};

constexpr MarkMeaning meanings[] = {
    {'m', "measured here: these very frames were measured on it, with software that compiles"},
    {'n', "near: it was measured on other frames, batches or models of the kind, and not on these"},
    {'u', "unvalidated: nothing of the kind was measured on it; ours nobody has built"},
    {'f', "in another format than the first machine of ours: no like for like"},
    {'e', "estimated: its die is not published; clock tree and leakage are of the area that its lanes take"}};

std::string mark_of(Checked checked) {
  constexpr const char* letters[] = {"", "m", "n", "u"};
  return letters[at(checked)];
}

std::string loss_text(const Loss& loss) {
  std::string text = loss.name + " by " + quantity_text(loss.times, "x") + " (";
  text += loss.kind == RowKind::roofline ? "bound over bound" : loss.calibrated ? "calibrated" : "not calibrated";
  if (loss.checked == Checked::here) text += ", measured here";
  if (loss.checked == Checked::near) text += ", near";
  if (loss.checked == Checked::unvalidated) text += ", unvalidated";
  if (loss.format != loss.our_format) text += ", " + loss.format + " beside " + loss.our_format;
  if (loss.estimated) text += ", estimated area";
  return text + ")";
}

}  // namespace

std::span<const ComparedColumn> compared_columns() { return compared; }

std::optional<double> shown_value(const ComparisonRow& row, const ComparedColumn& column) {
  if (column.shown == Shown::against) return row.against;
  if (column.shown == Shown::own) return row.value(column.metric);
  return row.calibration ? compared_value(row.calibration->values, column.metric) : std::nullopt;
}

std::string cell_text(const ComparisonRow& row, const ComparedColumn& column) {
  const auto value = shown_value(row, column);
  if (!value) return "-";
  if (std::string_view(column.metric) == "dram_filled")
    return *value > 1 ? quantity_text(*value, "x") + ", exceeded" : share_text(*value);
  return quantity_text(*value, compared_unit(column.metric));
}

std::string row_marks(const ComparisonRow& row) { return mark_of(row.checked); }

std::string format_marks(const ComparisonRow& row) { return row.other_format && !row.format.empty() ? "f" : ""; }

std::string value_marks(const ComparisonRow& row, const ComparedColumn& column) {
  constexpr std::string_view of_area[] = {"energy_j_per_frame", "frames_per_j"};
  const bool estimated = row.area_basis == AreaBasis::lanes &&
                         std::ranges::find(of_area, column.metric) != std::end(of_area) &&
                         shown_value(row, column).has_value();
  return estimated ? "e" : "";
}

std::vector<MarkMeaning> legend_of(std::span<const ComparisonRow> rows) {
  std::vector<MarkMeaning> legend;
  for (const MarkMeaning& meaning : meanings) {
    const bool has = std::ranges::any_of(rows, [&](const ComparisonRow& row) {
      std::string marks = row_marks(row) + format_marks(row);
      for (const ComparedColumn& column : compared) marks += value_marks(row, column);
      return marks.find(meaning.letter) != std::string::npos;
    });
    if (has) legend.push_back(meaning);
  }
  return legend;
}

std::string factors_text(const ComparisonRow& row) {
  if (row.kind != RowKind::device) return "";
  std::vector<double> factors, errors;
  for (const Compared& one : row.measured)
    if (!is_eager(*one.measurement))
      (one.fitted ? factors : errors).push_back(one.fitted ? one.factor : one.error());
  if (factors.empty()) return "";
  const auto percent = [](double share) {
    return fmt::format("{}{} %", share < 0 ? "-" : "+", std::llround(std::abs(share) * 100));
  };
  const auto [low, high] = std::ranges::minmax(factors);
  std::string text = "measured " + quantity_text(low, "x");
  if (high > low) text += " to " + quantity_text(high, "x");
  if (errors.empty()) return text;
  const auto [least, most] = std::ranges::minmax(errors);
  return fmt::format("{}, with it {}{} off", text, percent(least), most > least ? " to " + percent(most) : "");
}

std::string kind_text(const ComparisonRow& row) {
  constexpr const char* kinds[] = {"modelled", "predicted", "measured", "bound", "unpublished"};
  return std::string(kinds[at(row.kind)]) + (row.feasible ? "" : ", infeasible");
}

std::string group_text(RowKind kind) {
  constexpr const char* groups[] = {"Model beside model", "Model beside model", "Measured beside measured",
                                    "Bound beside bound", "Peak or memory rate not published"};
  return groups[at(kind)];
}

std::vector<LossLines> loss_lines(std::span<const ComparisonRow> rows, std::size_t most_named) {
  std::vector<LossLines> all;
  const std::vector<Loss> losses = losses_of(rows);
  for (const ComparisonRow& row : rows) {
    if (!is_own_machine(row) || row.batch != rows.front().batch) continue;
    LossLines& lines = all.emplace_back(LossLines{row.name, {}});
    auto first = std::ranges::find(losses, row.id, &Loss::ours);
    while (first != losses.end() && first->ours == row.id) {
      const auto last = std::find_if(first, losses.end(), [&](const Loss& one) {
        return one.ours != first->ours || one.batch != first->batch || one.metric != first->metric;
      });
      std::string line = fmt::format("batch {}, {}: behind ", first->batch, first->metric);
      const auto count = as_size(last - first);
      for (std::size_t i = 0; i < std::min(count, most_named); ++i)
        line += (i > 0 ? ", " : "") + loss_text(first[static_cast<std::ptrdiff_t>(i)]);
      if (count > most_named) line += fmt::format(" and {} more", count - most_named);
      lines.lines.push_back(std::move(line));
      first = last;
    }
    if (lines.lines.empty())
      lines.lines.push_back(row.feasible ? "nowhere: no device that has values does better"
                                         : "nothing is compared: it cannot be built as it is");
  }
  return all;
}

std::vector<TableRow> grouped(std::span<const ComparisonRow> rows, std::size_t columns,
                              const std::function<TextRow(const ComparisonRow&)>& cells_of) {
  std::vector<TableRow> all;
  std::string group;
  for (const ComparisonRow& row : rows) {
    if (group != group_text(row.kind)) {
      group = group_text(row.kind);
      TextRow heading(columns);
      heading[0] = group;
      all.push_back({true, std::move(heading)});
    }
    all.push_back({false, cells_of(row)});
  }
  return all;
}

}  // namespace sdip
