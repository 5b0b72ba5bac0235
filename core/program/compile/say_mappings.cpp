// passes `say_mappings` and `keep_said`: mappings that the user says.
//
// Worked example: the rule "*conv1" rows=8 ... dram, and layers /a/conv1 and /b/conv2: the first is worked through
// in tiles of 8 rows and its result goes to DRAM; the second is the compiler's to map.
#include "core/base/error.h"
#include "core/program/compile/passes.h"
#include "core/program/tiling/mapping_text.h"

namespace sdip {
namespace {

std::string line_of(const MappingRule& rule) { return "line " + std::to_string(rule.line); }

}  // namespace

void say_mappings(Compilation& c) {
  for (Draft& draft : c.drafts) {
    if (!is_nest(draft.work.family)) continue;
    const std::string& name = c.graph->nodes[draft.node].name;
    for (std::size_t i = 0; i < c.mapping_rules.size(); ++i) {
      const MappingRule& rule = c.mapping_rules[i];
      if (!matches(rule, c.stage, name)) continue;
      ++c.rules_met[i];
      if (draft.rule != nullptr) continue;
      draft.rule = &rule;
      Life& life = c.lives[draft.destination];
      if (rule.result == Place::dram) life.in_dram = true;
    }
  }
}

void keep_said(Compilation& c) {
  for (const Draft& draft : c.drafts) {
    if (draft.rule == nullptr || draft.rule->result != Place::dsram) continue;
    const Life& life = c.lives[draft.destination];
    if (!life.in_dram && !life.spilled) continue;
    c.infeasible = c.graph->nodes[draft.node].name + ": the mapping rule of " + line_of(*draft.rule) +
                   " keeps its result on chip, where its " + std::to_string(life.bytes) + " bytes have no place";
    return;
  }
}

std::string misfit_of(const MappingRule& rule, InstructionClass c, const TileRoom& room) {
  std::string text = "the mapping rule of " + line_of(rule);
  const Nest nest = nest_of(c);
  c.mapping = mapping_for(rule, nest);
  if (!is_valid(nest, c.mapping))
    return fmt::format("{} cuts {} channels, neither within a group of {} nor whole groups", text,
                       c.mapping.tile_channels, nest.loops.out_channels);
  if (room.read_bytes < 0 || room.write_bytes < 0) return text + " leaves no room: whole operands exceed DSRAM";
  const MissingBytes missing = missing_bytes(c, room, 1);
  const auto add = [&](std::int64_t bytes, const char* where) {
    if (bytes > 0) text += fmt::format(" misses {} B {};", bytes, where);
  };
  add(missing.read_bytes, "on the reading side of DSRAM");
  add(missing.write_bytes, "on the writing side of DSRAM");
  add(missing.weight_bytes, "of PSRAM");
  text.pop_back();
  return text;
}

}  // namespace sdip
