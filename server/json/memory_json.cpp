// Memory views as JSON, and as a Chrome trace.
#include "server/json/memory_json.h"

#include <algorithm>

namespace sdip {
namespace {

/// All stages of an analysis.
struct MemoryViews {
  const Analysis& analysis;
  const Outcome& outcome() const { return analysis.report.outcome; }
};

}  // namespace

template <>
Record<WaitingValue> make_record() {
  return Record<WaitingValue>("WaitingValue")
      .field("lower", &WaitingValue::lower)
      .field("upper", &WaitingValue::upper)
      .field("dies", &WaitingValue::dies)
      .field("waits_to", &WaitingValue::waits_to);
}
template <>
Record<MemoryFigures> make_record() {
  return Record<MemoryFigures>("MemoryFigures")
      .field("memory", &MemoryFigures::memory)
      .field("capacity_bytes", &MemoryFigures::capacity_bytes)
      .field("peak_bytes", &MemoryFigures::peak_bytes)
      .field("live_bytes", &MemoryFigures::live_bytes)
      .field("crossing_pairs", &MemoryFigures::crossing_pairs)
      .field("waiting", &MemoryFigures::waiting)
      .field("occupancy_bytes", &MemoryFigures::occupancy_bytes);
}
template <>
Record<MemoryRectangle> make_record() {
  return Record<MemoryRectangle>("MemoryRectangle", SchemaOrder::counts_first)
      .field("memory", &MemoryRectangle::memory)
      .field("name", &MemoryRectangle::name)
      .field("address", &MemoryRectangle::address)
      .field("bytes", &MemoryRectangle::bytes)
      .field("from", &MemoryRectangle::from)
      .field("to", &MemoryRectangle::to)
      .field("start_cycle", &MemoryRectangle::start_cycle)
      .field("end_cycle", &MemoryRectangle::end_cycle);
}
template <>
Record<MemoryView> make_record() {
  return Record<MemoryView>("StageMemory")
      .field("name", &MemoryView::stage)
      .field("instructions", &MemoryView::instructions)
      .field("memories", &MemoryView::memories)
      .field("rectangles", &MemoryView::rectangles);
}
template <>
Record<MemoryViews> make_record() {
  return Record<MemoryViews>("MemoryViews")
      .field("model", [](const MemoryViews& of) { return of.analysis.model; })
      .field("feasible", [](const MemoryViews& of) { return of.outcome().feasible; })
      .field("reason", [](const MemoryViews& of) { return of.outcome().reason; })
      .field("stages", [](const MemoryViews& of) { return memory_views(of.analysis); });
}

namespace {

/// Threads of one memory such that what is alive at once never shares a thread: rows of the trace.
std::vector<std::int32_t> rows_of(const std::vector<MemoryRectangle>& rectangles) {
  std::vector<std::size_t> order(rectangles.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  std::ranges::stable_sort(order, {}, [&](std::size_t r) { return rectangles[r].from; });
  std::vector<std::int32_t> rows(rectangles.size(), 0);
  List<std::vector<std::int32_t>> busy_to(memory_names);  // by memory: the last instruction of each row
  for (const std::size_t r : order) {
    auto& rows_there = busy_to[rectangles[r].memory];
    const auto free = std::ranges::find_if(rows_there, [&](std::int32_t to) { return to < rectangles[r].from; });
    rows[r] = static_cast<std::int32_t>(free - rows_there.begin());
    if (free == rows_there.end())
      rows_there.push_back(rectangles[r].to);
    else
      *free = rectangles[r].to;
  }
  return rows;
}

void add_stage(const MemoryView& view, const std::vector<InstructionCost>& costs, std::int64_t start,
               OrderedJson& events) {
  const std::vector<std::int32_t> rows = rows_of(view.rectangles);
  for (std::size_t r = 0; r < view.rectangles.size(); ++r) {
    const MemoryRectangle& one = view.rectangles[r];
    events.push_back({{"name", one.name},
                      {"cat", view.stage},
                      {"ph", "X"},
                      {"pid", static_cast<int>(one.memory)},
                      {"tid", rows[r]},
                      {"ts", start + one.start_cycle},
                      {"dur", one.end_cycle - one.start_cycle},
                      {"args", {{"address", one.address}, {"bytes", one.bytes}}}});
  }
  for (const MemoryFigures& figures : view.memories)
    for (std::size_t i = 0; i < figures.occupancy_bytes.size(); ++i)
      events.push_back({{"name", "bytes in use"},
                        {"ph", "C"},
                        {"pid", static_cast<int>(figures.memory)},
                        {"ts", start + costs[i].start.value},
                        {"args", {{"bytes", figures.occupancy_bytes[i]}}}});
}

}  // namespace

std::vector<MemoryView> memory_views(const Analysis& analysis) {
  std::vector<MemoryView> views;
  if (!analysis.report.outcome.feasible) return views;
  for (std::size_t s = 0; s < analysis.application.stages.size(); ++s) {
    std::vector<CycleSpan> times;
    for (const InstructionCost& cost : analysis.report.stages.at(s).instructions)
      times.emplace_back(cost.start.value, cost.end.value);
    views.push_back(memory_view(analysis.application.stages[s], analysis.machine, times));
  }
  return views;
}

OrderedJson memory_json(const Analysis& analysis) { return record<MemoryViews>().json({analysis}); }

void add_memory_schemas(OrderedJson& schemas) {
  add_schemas<WaitingValue, MemoryFigures, MemoryRectangle, MemoryView, MemoryViews>(schemas);
}

OrderedJson memory_trace(const Analysis& analysis) {
  OrderedJson events = OrderedJson::array();
  const std::vector<MemoryView> views = memory_views(analysis);
  std::int64_t start = 0;
  for (std::size_t s = 0; s < views.size(); ++s) {
    if (s == 0)
      for (const MemoryFigures& figures : views[s].memories)
        events.push_back({{"name", "process_name"},
                          {"ph", "M"},
                          {"pid", static_cast<int>(figures.memory)},
                          {"args", {{"name", memory_text(figures.memory)}}}});
    add_stage(views[s], analysis.report.stages[s].instructions, start, events);
    start += analysis.report.stages[s].steady_cycles.value;
  }
  return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
}

}  // namespace sdip
