// The census as text, and pairs of settings that are missing.
#include <algorithm>
#include <map>
#include <sstream>

#include "tests/witness/pairs.h"

namespace sdip::witness {
namespace {

/// Settings that no machine has at once.
bool exclude(const Setting& a, const Setting& b) {
  const auto are = [&](std::string_view row, std::string_view value, std::string_view other, auto&&... values) {
    const auto hold = [&](const Setting& x, const Setting& y) {
      return x.row == row && x.text == value && y.row == other && ((y.text == values) || ...);
    };
    return hold(a, b) || hold(b, a);
  };
  const auto of_rows = [&](std::string_view x, std::string_view y) {
    return (a.row == x && b.row == y) || (a.row == y && b.row == x);
  };
  const auto row_of_format = [](const Setting& s) {
    return std::ranges::find(number_formats, s.text, &NumberFormatRow::name);
  };
  for (const Setting* s : {&a, &b})
    if ((s->row == "accumulator_format" || s->row == "activation_format") && row_of_format(*s)->block > 0)
      return true;
  if (of_rows("accumulator_format", "weight_format") || of_rows("sparsity", "weight_format")) {
    const bool first = a.row == "weight_format";
    const Setting& other = first ? b : a;
    const bool floats =
        other.row == "accumulator_format" ? row_of_format(other)->floating : other.text != "skipping";
    if (row_of_format(first ? a : b)->block > 0 && !floats) return true;
  }
  for (const char* held : {"accumulator_folds", "weight_registers"})
    if (of_rows(held, "weight_format")) {
      const bool first = a.row == "weight_format";
      if ((first ? b : a).text == "another" && row_of_format(first ? a : b)->block > 0) return true;
    }
  if (of_rows("accumulator_format", "activation_format")) {
    const auto bits = [](const Setting& s) {
      return std::ranges::find(number_formats, s.text, &NumberFormatRow::name)->bits;
    };
    return bits(a.row == "accumulator_format" ? a : b) < bits(a.row == "accumulator_format" ? b : a);
  }
  if (of_rows("in_memory_weights", "weight_format") || of_rows("in_memory_weights", "activation_format")) {
    const bool first = a.row == "in_memory_weights";
    const std::string& format = first ? b.text : a.text;
    return (first ? a : b).text == "fefet" &&
           std::ranges::find(number_formats, format, &NumberFormatRow::name)->floating;
  }
  return are("in_memory_weights", "fefet", "sparsity", "skipping") ||
         are("in_memory_weights", "fefet", "weight_compression", "another") ||
         are("memory_hierarchy", "writable_psram", "activation_memory", "unified") ||
         are("operator_dsram", "per_operator", "activation_memory", "unified") ||
         are("operator_dsram", "per_operator", "granularity", "tile", "micro") ||
         are("attention_parts", "another", "granularity", "micro") ||
         are("accumulator_folds", "another", "dataflow", "input") ||
         are("weight_registers", "another", "dataflow", "input") ||
         are("accumulator_folds", "another", "weight_registers", "its default") ||
         are("weight_registers", "another", "accumulator_folds", "its default") ||
         are("dies", "another", "memory_hierarchy", "crossbar", "writable_psram") ||
         are("dies", "another", "branches", "parallel", "channels") ||
         are("dies", "another", "core_weights", "per_core") || are("dies", "another", "host_memory", "true") ||
         are("norm_statistics", "producer", "fusion", "none", "pointwise") ||
         are("norm_statistics", "recompute", "fusion", "none", "pointwise") ||
         are("norm_statistics", "recompute", "strips", "off") ||
         are("core_weights", "per_core", "branches", "parallel", "channels") ||
         are("weight_density", "another", "sparsity", "none") ||
         are("sparsity_group", "another", "sparsity", "none") ||
         are("activation_density", "another", "sparsity", "none") ||
         are("image_height_px", "its default", "image_width_px", "another") ||
         are("image_height_px", "another", "image_width_px", "its default");
}

std::string percent(std::int64_t part, std::int64_t whole) {
  const std::int64_t tenths = whole == 0 ? 0 : 1000 * part / whole;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

}  // namespace

std::vector<std::string> missing_pairs(const Census& census) {
  std::vector<std::string> missing;
  const std::vector<Setting>& all = settings();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      if (all[i].row == all[j].row || !all[i].option || !all[j].option || exclude(all[i], all[j])) continue;
      if (census.together.empty() || !census.together[i * all.size() + j])
        missing.push_back(all[i].row + "=" + all[i].text + ", " + all[j].row + "=" + all[j].text);
    }
  return missing;
}

std::string census_table(const Census& census) {
  std::ostringstream out;
  out << "| of " << census.pairs << " pairs | pairs | share |\n| --- | --- | --- |\n";
  for (std::size_t i = 0; i < trait_count; ++i)
    out << "| " << trait_text(static_cast<Trait>(i)) << " | " << census.traits[i] << " | "
        << percent(census.traits[i], census.pairs) << " |\n";
  out << "| weights of groups on several cores | " << census.shared_groups << " | "
      << percent(census.shared_groups, census.pairs) << " |\n";
  out << "| compiled from a network | " << census.compiled << " | " << percent(census.compiled, census.pairs)
      << " |\n\n";
  out << census.instructions << " instructions (at least " << census.least_instructions
      << " in each program, changed ones, too), " << census.tile_operations << " tile operations in the last pass; "
      << census.stages << " comparisons of a program's counters, " << census.changes
      << " of them with one parameter changed; " << census.repeats << " reached a steady pass, of "
      << census.reported << " the public report was compared; " << census.findings.size() << " differences.\n\n";
  out << "| parameter | proof | changed | a counter changed |\n| --- | --- | --- | --- |\n";
  std::map<Proof, std::string> others;
  for (const ValidationCase& one : validation_cases()) {
    const auto count = [&](const auto& map) {
      const auto found = map.find(one.name);
      return found == map.end() ? std::int64_t{0} : found->second;
    };
    const std::string name = "`" + std::string(one.name) + "`";
    if (one.changes_counters())
      out << "| " << name << " | " << proof_text(one.proof) << " | " << count(census.tried) << " | "
          << count(census.changed) << " |\n";
    else
      others[one.proof] += (others[one.proof].empty() ? "" : ", ") + name;
  }
  out << "\nNo counter of a pass can change:\n\n";
  for (const auto& [proof, names] : others) out << "- " << proof_text(proof) << ": " << names << "\n";
  return out.str();
}

}  // namespace sdip::witness
