// An explanation as text for people.
#include "server/cli/text/explain_text.h"

#include <algorithm>

#include "server/cli/text/roofline_text.h"
#include "server/io/text.h"

namespace sdip {
namespace {

constexpr std::size_t page_width = 100, text_indent = 10;

std::string share_of(std::int64_t part, std::int64_t whole) {
  return share_text(whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole));
}

/// A formula, its numbers and what they come to.
void print_term(std::ostream& out, const FilledTerm& term, std::string_view unit) {
  const std::string lead(text_indent, ' ');
  out << "      " << term.what << " = " << count_text(term.value) << " " << unit << "   (" << term.section << ")\n";
  out << lead << broken_text(term.formula, page_width - text_indent, text_indent) << "\n";
  if (!term.numbers.empty())
    out << lead << "= " << broken_text(term.numbers, page_width - text_indent - 2, text_indent + 2) << "\n";
}

void print_terms(std::ostream& out, const std::vector<FilledTerm>& terms) {
  for (const FilledTerm& term : terms) print_term(out, term, unit_of(term));
}

void print_stage(std::ostream& out, const StageExplanation& s, bool colour) {
  print_heading(out, fmt::format("{}: {} limits", s.name, needed_text(s.limiter)), colour);
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < needed_count; ++i) {
    if (s.needs[i] == 0) continue;
    rows.push_back({std::string(needed_text(static_cast<Needed>(i))), count_text(s.needs[i]),
                    share_of(s.needs[i], s.cycles), count_text(s.cycles - s.needs[i]),
                    share_of(s.limited[i], s.cycles)});
  }
  print_table(out,
              {{"a steady pass"},
               {"needed, cycles", Align::right},
               {"of pass", Align::right},
               {"slack, cycles", Align::right},
               {"layers limited", Align::right}},
              rows, colour);
  out << "  " << count_text(s.cycles) << " cycles, of them " << count_text(s.bound_cycles)
      << " at full utilization (" << share_of(s.bound_cycles, s.cycles) << ")\n  "
      << quantity_text(static_cast<double>(s.dram_bytes), "B") << " through DRAM, of them "
      << quantity_text(static_cast<double>(s.bound_dram_bytes), "B") << " with this SRAM in any schedule ("
      << share_of(s.bound_dram_bytes, s.dram_bytes) << ")\n";
  print_terms(out, s.bounds);
}

std::string others_text(const LayerExplanation& e) {
  if (e.alike.size() == 1) return "";
  std::string text = ", alike ";
  for (std::size_t i = 1; i < e.alike.size(); ++i) text += (i == 1 ? "#" : " #") + std::to_string(e.alike[i]);
  return text;
}

void print_layer(std::ostream& out, const Analysis& analysis, const Explanation& explanation,
                 const LayerExplanation& e, std::size_t place, bool colour) {
  const StageExplanation& stage = explanation.stages[e.layer.stage];
  const auto& program = analysis.application.stages[e.layer.stage].program;
  const Instruction& instruction = program.instructions[e.layer.index];
  const std::int64_t count = static_cast<std::int64_t>(e.alike.size());
  print_heading(
      out,
      fmt::format("{}. {}: {} limits", place, middle_cut(instruction.mnemonic, 40), needed_text(e.layer.limiter)),
      colour);
  out << "    " << printable(stage.name) << " #" << e.layer.index << " " << middle_cut(instruction.name, 70)
      << "\n";
  const std::string others = others_text(e);
  if (!others.empty()) out << "    " << broken_text(others.substr(2), page_width - 4, 4) << "\n";
  out << "    " << count << " x " << count_text(e.layer.cycles) << " cycles, "
      << share_of(count * e.layer.cycles, stage.cycles) << " of the pass\n";
  std::string slack = "slack:";
  for (std::size_t i = 0; i < needed_count; ++i) {
    const auto needed = static_cast<Needed>(i);
    if (needed == e.layer.limiter || e.layer.needs[i] == 0) continue;
    slack += (slack.ends_with(':') ? " " : ", ") + std::string(needed_text(needed)) + " " +
             share_of(e.slack(needed), e.layer.cycles);
  }
  out << "    " << broken_text(slack, page_width - 4, 6) << "\n";
  print_terms(out, e.terms);
  out << "    gaps: " << count_text(e.layer.cycles - e.bound_cycles) << " cycles above full utilization, "
      << count_text(e.layer.dram_bytes - e.least_dram_bytes) << " B above the least traffic\n";
}

}  // namespace

std::string broken_text(std::string_view text, std::size_t width, std::size_t indent) {
  std::string broken;
  std::size_t line = 0;
  while (!text.empty()) {
    std::size_t end = text.find(' ', 1);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    if (line > 0 && line + word.size() > width) {
      broken += "\n" + std::string(indent, ' ');
      line = word.size() - 1;
      broken += word.substr(1);  // its space
      continue;
    }
    broken += word;
    line += word.size();
  }
  return broken;
}

void print_explanation(std::ostream& out, const Analysis& analysis, const Explanation& e, bool colour) {
  if (!e.feasible) return;
  const StageExplanation& pace = e.stages[e.pace];
  print_heading(out, "Why a frame takes what it takes", colour);
  out << "  " << printable(pace.name) << " sets the pace, and " << needed_text(pace.limiter) << " limits it\n";
  print_terms(out, e.terms);
  out << "\n";
  print_heading(out, "Before processing", colour);
  print_terms(out, e.load);
  for (const StageExplanation& stage : e.stages) {
    out << "\n";
    print_stage(out, stage, colour);
  }
  out << "\n";
  print_roofline(out, analysis, e, colour);
  for (std::size_t i = 0; i < e.worst.size(); ++i) {
    out << "\n";
    print_layer(out, analysis, e, e.worst[i], i + 1, colour);
  }
}

}  // namespace sdip
