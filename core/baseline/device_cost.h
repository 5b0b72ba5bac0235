// Energy of a frame on a published machine, and its die's area and price, by the technology table that prices SDIP.
// docs/model/devices.md#energy-area-and-price.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/baseline/device.h"
#include "core/baseline/device_run.h"
#include "core/baseline/node_place.h"
#include "core/cost/price/dies_price.h"
#include "core/machine/machine.h"
#include "core/machine/technology.h"

namespace sdip {

/// The kind of DRAM that its bandwidth, or else its field "DRAM", names: "HBM2e bandwidth"; HBM alone is HBM2.
/// Nothing where none is named.
std::optional<DramKind> dram_kind_of(const Device& device);

/// The parts of a device's chip that the table prices: all its dies together.
struct DeviceSilicon {
  NodePlace place;
  MacFormats formats;  // of its native format
  double clock_hz = 0;
  double logic_mm2 = 0;  // the die less memories and PHYs
  double sram_mib = 0;
  double phy_mm2 = 0;
  std::int64_t dies = 1;
  bool published_die = false;      // else logic is what so many multiply-accumulators take
  std::optional<DramKind> dram;    // where its kind is named
  double dram_gb_per_s = 0;        // published
  double dram_bits = 0;            // of its bus, at the usual rate of the kind
  std::vector<std::string> notes;  // what was taken for what is not published
};

/// The figure without which the table says nothing of a device: "node_nm", "clock_mhz", "peak", or that it is made
/// of programmable logic; "": none.
std::string lacking_for_cost(const Device& device);
/// The memories and the logic of a device. Memories are what sram_mib says, else what its model has; logic is the
/// published die less memories and PHYs, else its lanes (peak / 2 clock), what stands with them, and DRAM
/// controllers, as known chips have them. Requires that nothing is lacking.
DeviceSilicon silicon_of(const Device& device);

/// The same drawn in a node of the table: logic by the ratio of logic_area, memories of as many MiB, PHYs as they
/// are. The clock stays. Example: 400 mm2 of logic at 16 nm are 400 x 0.075 / 0.21 = 143 mm2 at 7 nm.
DeviceSilicon drawn_in(DeviceSilicon silicon, TechnologyNode node);
/// Logic, memories' macros with their floor-plan factor, and PHYs: the published die where nothing was drawn anew.
double area_of(const DeviceSilicon& silicon);

/// The events of a frame that cost energy. On-chip bytes are the least of any schedule: each layer reads its
/// operands once and writes its result once; what is fused stays in registers.
struct DeviceEvents {
  double macs = 0, vector_operations = 0, on_chip_bytes = 0, dram_bytes = 0;
};
/// The events of one frame in a run of `frames`; weights are read once for all frames of a batch. Requires frames
/// >= 1.
DeviceEvents events_of(std::span<const LayeredStage> stages, std::int64_t frames, const DeviceRun& run,
                       double bytes_per_element);

/// A part of a frame's energy, of what happens and of what stands all the time.
struct DeviceEnergyPart {
  std::string_view name;  // as SDIP's (docs/model/energy.md), "sram" for all memories on the chip
  double joules = 0, watts = 0;
};
struct DeviceEnergy {
  std::vector<DeviceEnergyPart> parts;
  bool has_dram = false;  // whether DRAM is in it: its kind is named
  /// Energy of a frame that takes so many seconds.
  double joules(double seconds) const;
};
/// MACs as known chips have them, elementwise work as MACs of its format, memories' banks of 32 KiB, DRAM and its
/// PHYs by kind, clock tree and leakage of its area, at the nominal supply. Links to other chips, wires between
/// blocks and control are not in it.
DeviceEnergy energy_of(const DeviceSilicon& silicon, const DeviceEvents& events);

/// USD of its dies, package and `dram_gib` of its DRAM as those of SDIP are priced: nothing where its die is not
/// published, or is larger than a scanner exposes.
std::optional<Price> price_of(const DeviceSilicon& silicon, double dram_gib);

}  // namespace sdip
