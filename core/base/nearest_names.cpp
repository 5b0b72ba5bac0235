// Suggestions by edit distance.
#include "core/base/nearest_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sdip {
namespace {

/// Insertions, deletions and replacements between two names.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_names(std::string_view name, const std::vector<std::string_view>& names) {
  if (name.empty() || name.size() > 100) return "";
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const auto candidate : names) {
    const auto distance = edit_distance(name, candidate);
    const bool part = name.size() >= 3 && candidate.find(name) != std::string_view::npos;
    if (part || distance <= 1 + std::max(name.size(), candidate.size()) / 4) near.emplace_back(distance, candidate);
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 3); ++i)
    text += (i == 0 ? "did you mean " : ", ") + std::string(near[i].second);
  return text.empty() ? text : text + "?";
}

}  // namespace sdip
