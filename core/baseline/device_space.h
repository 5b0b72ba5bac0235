// Devices whose figures vary: a TPU-style array of any size, an MN-Core of any tree.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/baseline/device.h"

namespace sdip {

/// A figure of a device, by its key, or "dram_gb_per_s", and the values that it takes.
struct DeviceAxis {
  std::string key;
  std::vector<double> values;
};
inline constexpr std::size_t most_device_variants = 256;

/// A device for each combination of the values, the last axis fastest: "tpu_v4i_1" of the name "Google TPU v4i,
/// array_rows=64". Its peak is the base's times what its units do over what the base's do. What is published of the
/// base as a whole, its die, power, price and measured results, is not the variant's, and left out. Throws
/// Error("value_invalid" | "value_out_of_range" | "limit_exceeded", where, ...): a figure that the base has not,
/// twice the same key, values that devices cannot have, more combinations than the limit.
///
/// Worked example. tpu_v4i has four arrays of 128 x 128 at 1,050 MHz and a peak of 138 TFLOP/s; with array_rows=64
/// and array_columns=64 its peak is 34.5.
std::vector<Device> device_space(const Device& base, std::span<const DeviceAxis> axes, const std::string& where);

/// Adds those of {"tpu_v4i": {"array_rows": [64, 128]}}, over devices of this program or of `own`, to these, one
/// after the other. Throws Error("unknown_baseline", ...), too, and as require_own_id does.
void add_device_spaces(const nlohmann::json& object, std::vector<Device>& own, const std::string& where);

}  // namespace sdip
