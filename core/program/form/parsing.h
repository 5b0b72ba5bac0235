// A `.graph` text on its way to a stage. Internal to its room.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/custom.h"
#include "core/program/form/scan.h"
#include "core/program/form/text_fields.h"

namespace sdip {

/// As value lines say them; the last: an activation that an instruction makes, and no node.
inline constexpr std::string_view value_kinds[] = {"input", "weight", "activation", "sums"};

struct Parsing {
  CompiledStage stage;
  Graph graph;
  std::map<std::string, ValueId, std::less<>> labels;
  std::size_t line = 0, sums = 0;  // sums: how many values are
};

/// "%label" that a value or node line gave a value; "-": none, where that may be.
ValueId read_label(const Parsing& parsing, Scanner& in, bool may_be_none);
/// "%a,%b" or nothing.
std::vector<ValueId> read_labels(const Parsing& parsing, Scanner& in, bool may_be_none);

/// value %LABEL KIND TYPE[SHAPE] "NAME" fields
void read_value_line(Parsing& parsing, Scanner& in);
/// node N OUTPUTS = TYPE(INPUTS) "NAME" fields. Outputs that no value line gave are values of the inferred shape.
void read_node_line(Parsing& parsing, Scanner& in);

/// Whether a text stands for itself without quotes.
bool is_plain(std::string_view text);

}  // namespace sdip
