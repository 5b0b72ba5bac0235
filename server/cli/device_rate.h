// How long published machines take to be evaluated: for `sdip bench`.
#pragma once

#include <string>
#include <vector>

namespace sdip {

/// Of the devices of an archetype, each on a frame of SD 1.5: how long the slowest takes at first, when mappings,
/// layouts and layers' times are found, and again, when they are kept (the median of several).
struct DeviceRate {
  std::string archetype;
  int devices = 0;
  std::string slowest_first, slowest_kept;  // by id
  double first_s = 0, kept_s = 0;
};
/// In order of archetypes. The first times are so in a process that has evaluated no device before.
std::vector<DeviceRate> device_rates();

}  // namespace sdip
