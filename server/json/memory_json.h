// Memory views as JSON, and as a Chrome trace.
#pragma once

#include <vector>

#include "core/program/form/memory_view.h"
#include "server/json/report_json.h"

namespace sdip {

/// Views of every stage of an analysis, with the cycles of its steady pass. Empty when it is infeasible.
std::vector<MemoryView> memory_views(const Analysis& analysis);

/// The answer of POST /memory-views.
OrderedJson memory_json(const Analysis& analysis);
/// The schemas of that.
void add_memory_schemas(OrderedJson& schemas);

/// Trace events for Perfetto and chrome://tracing: a process a memory, "X" a rectangle, "C" the bytes in use. A
/// cycle is shown as a microsecond. Stages follow each other.
OrderedJson memory_trace(const Analysis& analysis);

}  // namespace sdip
