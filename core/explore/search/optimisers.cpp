// The table of optimisers.
#include "core/explore/search/optimisers.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/row_names.h"

namespace sdip {
namespace {

constexpr OptimiserRow optimiser_rows[] = {
    {Optimiser::families, "families", step_of_families, parts_of_families, 1, false},
    {Optimiser::nsga2, "nsga2", step_of_nsga2, 1, 2, true},
    {Optimiser::moead, "moead", step_of_moead, 1, 2, true},
    {Optimiser::nspso, "nspso", step_of_nspso, 1, 2, true},
    {Optimiser::local, "local", step_of_local, parts_of_local, 1, false},
};

constexpr auto optimiser_row_names = names_of(optimiser_rows);

}  // namespace

std::span<const std::string_view> optimiser_names() { return optimiser_row_names; }

const OptimiserRow& row_of(Optimiser optimiser) {
  const auto* row = std::ranges::find(optimiser_rows, optimiser, &OptimiserRow::optimiser);
  check(row != std::end(optimiser_rows), "row_of: an optimiser without a row");
  return *row;
}

std::optional<Optimiser> optimiser_named(std::string_view name) {
  const auto* row = std::ranges::find(optimiser_rows, name, &OptimiserRow::name);
  if (row == std::end(optimiser_rows)) return std::nullopt;
  return row->optimiser;
}

std::string_view optimiser_name(Optimiser optimiser) { return row_of(optimiser).name; }
std::size_t least_objectives(Optimiser optimiser) { return row_of(optimiser).least_objectives; }

}  // namespace sdip
