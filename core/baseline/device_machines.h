// A device's figures as the machine that the model of its kind reads. Internal to its room.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/baseline/archetypes/cube.h"
#include "core/baseline/archetypes/layer_time.h"
#include "core/baseline/archetypes/layers.h"
#include "core/baseline/device.h"

namespace sdip {

/// Times of layers by the model of its archetype. `eager`: layer by layer, as a framework without a compiler runs
/// them. Requires that no figure is lacking.
std::vector<LayerTime> times_on(const Device& device, std::span<const Layer> layers, bool eager);

/// The machine of a device of archetype cube. Requires that no figure is lacking.
CubeMachine cube_machine_of(const Device& device);

/// Operations a second of all its units, two a multiply-accumulate; 0 of a roofline. Requires what its model reads.
double structural_flops(const Device& device);

/// The assumptions of its model, in words.
std::vector<std::string> assumptions_of(const Device& device);

}  // namespace sdip
