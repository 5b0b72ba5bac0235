// The search beside fronts that are known, as tables for `sdip bench --search`. Internal to its room.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/explore/search/search.h"

namespace sdip {

struct SearchReport {
  bool small = false, whole = false, seven = false;  // which spaces: server/studies/search_quality.h
  bool json = false;
  Optimiser optimiser = Optimiser::families;  // of the searches that are measured; long ones are by families
  std::size_t islands = 1;                    // likewise
  int seeds = 10;                             // of searches and draws that are measured
  std::int64_t evaluations = 60'000;          // of each of these in the whole space; of small ones 5 % of the space
  int runs = 10;                              // of longer searches, whose union is the whole space's front
  std::int64_t run_evaluations = 600'000;     // of each of these
  std::filesystem::path kept = {};  // where what searches of the whole space find is kept, and read again; or none
};

/// Measures and prints; returns the exit code.
int run_search_report(const SearchReport& report);

}  // namespace sdip
