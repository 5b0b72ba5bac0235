// What is counted over many models.
#include "tests/generate/census.h"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "tests/generate/rows/rows.h"

namespace sdip::generate {

namespace {

/// Those that come most often first.
std::vector<std::pair<std::uint64_t, std::string>> by_count(const std::map<std::string, std::uint64_t>& counts,
                                                            std::size_t most) {
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [what, count] : counts) sorted.emplace_back(count, what);
  std::ranges::sort(sorted, std::greater<>());
  if (sorted.size() > most) sorted.resize(most);
  return sorted;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> expected_findings(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> known;
  std::ifstream file(SDIP_SOURCE_DIR "/" + path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t bar = line.find(" | ");
    if (line.empty() || line[0] == '#' || bar == std::string::npos) continue;
    known.emplace_back(line.substr(0, bar), line.substr(bar + 3));
  }
  return known;
}

bool is_expected(const std::string& code) {
  static const auto known = expected_findings();
  return std::ranges::any_of(known, [&](const auto& one) { return code.starts_with(one.first); });
}

void Census::count(const Checked& checked) {
  const Outcome& o = checked.outcome;
  ++models;
  ++verdicts[o.verdict];
  ++nodes[o.nodes];
  values += o.values;
  executed += o.executed;
  tensors += o.tensors;
  instructions += o.instructions;
  for (const std::string& one : checked.drawn) ++drawn[one];
  if (o.verdict == Verdict::refused || o.verdict == Verdict::infeasible) {
    ++refusals[o.code];
    ++refused_details[o.code + ": " + without_names(o.detail)];
  }
  if (o.verdict != Verdict::finding) return;
  ++findings[o.code];
  auto& first = seeds[o.code];
  if (first.size() < 5) first.push_back(checked.seed);
}

std::int64_t Census::median_nodes() const {
  std::uint64_t below = 0;
  for (const auto& [count, models_of] : nodes)
    if (2 * (below += models_of) >= models) return count;
  return 0;
}

double Census::compiled_share() const {
  const auto of = [&](Verdict v) { return verdicts.contains(v) ? verdicts.at(v) : 0; };
  return models == 0 ? 0
                     : static_cast<double>(models - of(Verdict::refused) - of(Verdict::infeasible)) /
                           static_cast<double>(models);
}

std::map<std::string, std::uint64_t> Census::unexpected() const {
  std::map<std::string, std::uint64_t> others;
  for (const auto& [code, count] : findings)
    if (!is_expected(code)) others[code] = count;
  return others;
}

std::vector<std::pair<std::uint64_t, std::string>> Census::coverage() const {
  std::vector<std::pair<std::uint64_t, std::string>> counts;
  for (const std::string& choice : all_choices()) {
    const auto found = drawn.find(choice);
    counts.emplace_back(found == drawn.end() ? 0 : found->second, choice);
  }
  std::ranges::sort(counts);
  return counts;
}

std::string Census::text() const {
  std::ostringstream out;
  out << models << " models, median " << median_nodes() << " nodes, " << instructions << " instructions; "
      << std::fixed << std::setprecision(1) << 100 * compiled_share() << " % compile\n";
  for (const auto& [verdict, count] : verdicts) out << "  " << verdict_text(verdict) << " " << count << "\n";
  out << "  compared: values after rewriting " << values << ", whole execution " << executed << ", layers "
      << tensors << "\n";
  out << "refusals by code:\n";
  for (const auto& [code, count] : refusals) out << "  " << std::setw(7) << count << "  " << code << "\n";
  out << "the most frequent of them:\n";
  for (const auto& [count, message] : by_count(refused_details, 12))
    out << "  " << std::setw(7) << count << "  " << message << "\n";
  out << "findings by class:\n";
  for (const auto& [count, code] : by_count(findings, findings.size())) {
    out << "  " << std::setw(7) << count << "  " << code << (is_expected(code) ? " (expected)" : "") << "  seeds";
    for (const std::uint64_t seed : seeds.at(code)) out << " " << seed;
    out << "\n";
  }
  const auto counts = coverage();
  out << counts.size() << " pairs of operator and type, the rarest:\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(10, counts.size()); ++i)
    out << "  " << std::setw(7) << counts[i].first << "  " << counts[i].second << "\n";
  return out.str();
}

}  // namespace sdip::generate
