// Formats of layers as users say them.
#include "core/study/said_formats.h"

#include "core/base/error.h"

namespace sdip {

std::string rules_text(const SaidFormats& formats) {
  std::string text;
  for (const FormatRule& rule : parse_formats(formats.text, formats.from)) text += format_rule_text(rule) + "\n";
  return text;
}

Application compile_said(const Workload& workload, const Machine& machine, const SaidFormats& formats,
                         CompileOptions options, const std::string& mappings_from) {
  options.format_rules = parse_formats(formats.text, formats.from);
  try {
    return compile(workload, machine, options);
  } catch (const Error& error) {
    const std::string* from = error.code == "mapping_unmatched"                                     ? &mappings_from
                              : error.code == "format_unmatched" || error.code == "formats_invalid" ? &formats.from
                                                                                                    : nullptr;
    if (from == nullptr || !error.where.starts_with("line ")) throw;
    throw Error(error.code, *from + ":" + error.where.substr(5), error.what());
  }
}

}  // namespace sdip
