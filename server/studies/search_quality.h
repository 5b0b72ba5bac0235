// How good the search is: the share of the volume beaten by the true front that it finds, for `sdip bench
// --search`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/explore/search/search.h"
#include "server/models/catalog.h"

namespace sdip {

/// A space, and what it is searched for.
struct SearchedSpace {
  std::string name, model;
  SearchSpace space;
  SearchGoal goal;
};

/// Three spaces of 100,000 machines and more over cores, lanes, formats, all SRAM capacities, DRAM and fusion, for
/// throughput_fps and area_mm2: small enough to visit.
std::vector<SearchedSpace> small_spaces();
/// Every row that `sdip best` searches, of Stable Diffusion 1.5 around the preset balanced: for throughput_fps and
/// area_mm2; and with formats below 8 bits for seven objectives under four conditions, SQNR being measured on
/// tiny-sd: sd15 is too large for the executor.
SearchedSpace whole_space();
SearchedSpace whole_space_of_seven(const Catalog& catalog, int threads);

/// Costs of machines, each to be made small.
using CostPoints = std::vector<std::vector<double>>;

/// Every machine of a small space, visited.
struct Visited {
  std::int64_t points = 0, programs = 0, feasible = 0;
  List<Outcome> outcomes;       // by mixed radix of the places, the first axis slowest
  List<std::uint8_t> compiled;  // likewise: whether it has a program, 0 or 1
  CostPoints front;
};
Visited visit(const Catalog& catalog, const SearchedSpace& searched, int threads);

/// The costs of the machines that a search of a visited space finds, and those that a draw at large of as many
/// finds. Both look the machines up, and so take no time of their own. `options`: an optimiser, islands, a seed,
/// evaluations, threads.
CostPoints searched_front(const SearchedSpace& searched, const Visited& visited, const SearchOptions& options);
CostPoints drawn_front(const SearchedSpace& searched, const Visited& visited, std::uint64_t seed,
                       std::int64_t evaluations);

/// The front that a search of a space finds, and that of as many machines drawn at large, a program for each 64 of
/// them; a program that does not fit counts as one machine. Programs are compiled.
struct FoundFront {
  CostPoints costs;
  std::int64_t evaluated = 0, compiled = 0;
  double seconds = 0;
};
FoundFront compiled_search(const Catalog& catalog, const SearchedSpace& searched, const SearchOptions& options);
FoundFront compiled_draw(const Catalog& catalog, const SearchedSpace& searched, std::uint64_t seed,
                         std::int64_t evaluations, int threads);

/// Those that no other beats.
CostPoints front_of(const CostPoints& points);

/// The volume that points beat up to the worst of a front in each cost, a tenth worse, in log10 of the costs; of
/// more than two costs estimated from 100,000 places drawn alike for all. The share is that of the volume that the
/// front itself beats. `error`: the standard error of an estimate, the places in the front's volume being so many
/// draws.
class VolumeShare {
 public:
  /// `front`: not empty.
  explicit VolumeShare(const CostPoints& front);
  double of(const CostPoints& points) const;
  double error(double share) const;
  const std::vector<double>& reference() const { return reference_; }  // costs

 private:
  double volume(const CostPoints& points) const;
  std::vector<double> reference_, ideal_;
  double whole_ = 0;
};

}  // namespace sdip
