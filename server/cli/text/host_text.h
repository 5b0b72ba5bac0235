// Where the time of a machine with a host goes, as text, Markdown and JSON.
#pragma once

#include <ostream>

#include "core/study/host_report.h"
#include "server/io/json_in.h"

namespace sdip {

void print_host_report(std::ostream& out, const HostReport& report, bool colour);
/// The same as tables of docs/model/published.md.
void print_host_markdown(std::ostream& out, const HostReport& report);
OrderedJson host_json(const HostReport& report);

}  // namespace sdip
