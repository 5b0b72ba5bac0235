// The technology table's view of published machines.
#include "core/baseline/device_cost.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/baseline/chips.h"
#include "core/machine/dram.h"

namespace sdip {
namespace {

constexpr double pico = 1e-12, milli = 1e-3, kib_a_mib = 1024, bits_a_byte = 8;
/// Size of a bank where it is not published, as for known chips.
constexpr std::int64_t bank_bytes = 32LL * 1024;

struct NamedDram {
  std::string_view name;
  DramKind kind;
};
/// The first that is found counts: longer names before those that they contain.
constexpr NamedDram named_drams[] = {
    {"hbm3e", DramKind::hbm3e},     {"hbm3", DramKind::hbm3},       {"hbm2e", DramKind::hbm2e},
    {"hbm", DramKind::hbm2},        {"lpddr5x", DramKind::lpddr5x}, {"lpddr5", DramKind::lpddr5},
    {"lpddr4x", DramKind::lpddr4x}, {"lpddr4", DramKind::lpddr4},   {"gddr7", DramKind::gddr7},
    {"gddr6x", DramKind::gddr6x},   {"gddr6", DramKind::gddr6},     {"gddr5", DramKind::gddr5},
    {"ddr5", DramKind::ddr5},       {"ddr4", DramKind::ddr4},       {"ddr3", DramKind::ddr3}};

std::optional<DramKind> kind_named_in(std::string_view said) {
  const std::string text = lower(said);
  for (const NamedDram& one : named_drams)
    if (text.find(one.name) != std::string::npos) return one.kind;
  return std::nullopt;
}

struct FormatOfDevice {
  std::string_view begins;
  NumberFormat operand, sum;
};
/// MN-Core's half precision has 6 bits of exponent.
constexpr FormatOfDevice formats_of_devices[] = {
    {"int8", NumberFormat::int8, NumberFormat::int32},     {"uint8", NumberFormat::uint8, NumberFormat::int32},
    {"int16", NumberFormat::int16, NumberFormat::int32},   {"int32", NumberFormat::int32, NumberFormat::int32},
    {"mxfp8", NumberFormat::mxfp8, NumberFormat::fp32},    {"fp8", NumberFormat::fp8_e4m3, NumberFormat::fp32},
    {"bf16", NumberFormat::bf16, NumberFormat::fp32},      {"fp16", NumberFormat::fp16, NumberFormat::fp32},
    {"TF16", NumberFormat::fp16_e6m9, NumberFormat::fp32}, {"tf16", NumberFormat::fp16_e6m9, NumberFormat::fp32},
    {"fp32", NumberFormat::fp32, NumberFormat::fp32},      {"tf32", NumberFormat::fp32, NumberFormat::fp32}};

MacFormats formats_of(const Device& device) {
  for (const FormatOfDevice& one : formats_of_devices)
    if (device.native_format.starts_with(one.begins)) return {one.operand, one.operand, one.sum};
  check(false, "a native format that read_device refuses");
  return {};
}

double or_none(const Device& device, std::string_view key) { return figure_of(device, key).value_or(0); }

/// Memories that the model of its kind has.
double modelled_sram_mib(const Device& d) {
  const double processing = or_none(d, "mabs_per_l1") * or_none(d, "pes_per_mab") *
                            (or_none(d, "lm_kib_per_pe") + or_none(d, "grf_kib_per_pe"));
  const double tree = or_none(d, "l2_blocks") *
                      (or_none(d, "l2_kib") + or_none(d, "l1_blocks_per_l2") * (or_none(d, "l1_kib") + processing));
  const double caches = d.archetype == Archetype::cpu ? or_none(d, "l1_kib") + or_none(d, "l2_kib") : 0;
  const double buffers = or_none(d, "l0a_kib") + or_none(d, "l0b_kib") + or_none(d, "l0c_kib") +
                         or_none(d, "ub_kib") + (d.archetype == Archetype::cube ? or_none(d, "l1_kib") : 0);
  return or_none(d, "l2_mib") + or_none(d, "l3_mib") + or_none(d, "buffer_mib") + or_none(d, "accumulator_mib") +
         (or_none(d, "cores") * (caches + buffers) + or_none(d, "buffer_kib")) / kib_a_mib +
         (or_none(d, "processors") * or_none(d, "shared_kib") + or_none(d, "tiles") * or_none(d, "tile_kib") +
          tree) /
             kib_a_mib;
}

double macros_mm2(const DeviceSilicon& s) {
  return at_place(s.place, [&](TechnologyNode node) { return chip_areas(node, s.formats, 0, s.sram_mib).sram; });
}

/// Lanes and what stands with them, as of a chip with a host interface.
double logic_of_lanes(const Device& device, const DeviceSilicon& s) {
  const double macs = device.peak_flops / 2 / s.clock_hz;
  return at_place(s.place, [&](TechnologyNode node) {
    double mm2 = chip_areas(node, s.formats, macs, s.sram_mib).logic();
    if (s.dram) mm2 += s.dram_gb_per_s * dram_figures(node, *s.dram).controller_mm2;
    return mm2;
  });
}

void add_dram(const Device& device, DeviceSilicon& s) {
  s.dram = dram_kind_of(device);
  s.dram_gb_per_s = device.dram_bytes_per_s / 1e9;
  if (!s.dram) {
    s.notes.push_back("The kind of its DRAM is not named: its modelled energy is without DRAM.");
    return;
  }
  const DramKindRow& kind = dram_kinds()[*s.dram];
  s.dram_bits = bits_a_byte * s.dram_gb_per_s * 1000 / static_cast<double>(kind.usual_mtps);
  s.phy_mm2 = s.dram_bits * dram_figures(s.place.smaller, *s.dram).phy_mm2;
}

}  // namespace

std::optional<DramKind> dram_kind_of(const Device& device) {
  for (const DeviceField& field : device.fields)
    if (field.unit == "GB/s")
      if (const auto kind = kind_named_in(field.name)) return kind;
  for (const DeviceField& field : device.fields)
    if (field.name == "DRAM") return kind_named_in(field.value);
  return std::nullopt;
}

std::string lacking_for_cost(const Device& device) {
  if (std::ranges::find(device.fields, "FPGA", &DeviceField::name) != device.fields.end())
    return "a node: it is made of programmable logic";
  if (device.peak_flops <= 0) return "peak";
  for (const char* key : {"node_nm", "clock_mhz"})
    if (!figure_of(device, key)) return key;
  return {};
}

DeviceSilicon silicon_of(const Device& device) {
  check(lacking_for_cost(device).empty(), "silicon_of: node, clock and peak");
  DeviceSilicon s;
  const double nm = *figure_of(device, "node_nm");
  s.place = node_place(nm);
  if (!has_own_node(nm))
    s.notes.push_back(
        "The technology table has no process of its size: 12 nm stands as 16, 6 as 7, 4 as 5; others are joined by "
        "a "
        "power law of the two beside them.");
  s.formats = formats_of(device);
  s.clock_hz = *figure_of(device, "clock_mhz") * 1e6;
  s.dies = std::llround(figure_of(device, "dies").value_or(1));
  const auto sram = figure_of(device, "sram_mib");
  s.sram_mib = sram ? *sram : modelled_sram_mib(device);
  if (!sram) s.notes.push_back("Its on-chip memory is not published whole: priced is what its model has of it.");
  add_dram(device, s);
  const auto die = figure_of(device, "die_mm2");
  s.published_die = die.has_value();
  if (!die) {
    s.logic_mm2 = logic_of_lanes(device, s);
    s.notes.push_back(
        "Its die is not published: clock tree and leakage are of the area that its lanes take by the table.");
    return s;
  }
  const double rest = *die - macros_mm2(s);
  s.phy_mm2 = std::clamp(rest, 0.0, s.phy_mm2);
  s.logic_mm2 = std::max(0.0, rest - s.phy_mm2);
  if (rest <= 0) s.notes.push_back("Its memories take more than its die by the table: no logic is left to price.");
  return s;
}

DeviceSilicon drawn_in(DeviceSilicon s, TechnologyNode node) {
  const auto logic_area = [](TechnologyNode of) { return register_area(of, 1).value; };
  s.logic_mm2 *= logic_area(node) / at_place(s.place, logic_area);
  s.place = at_node(node);
  return s;
}

double area_of(const DeviceSilicon& s) { return s.logic_mm2 + macros_mm2(s) + s.phy_mm2; }

DeviceEvents events_of(std::span<const LayeredStage> stages, std::int64_t frames, const DeviceRun& run,
                       double bytes_per_element) {
  check(frames >= 1 && run.batches >= 1, "events_of: a frame");
  const double together = static_cast<double>(frames) / static_cast<double>(run.batches);
  DeviceEvents events;
  events.dram_bytes = run.dram_bytes_per_frame;
  for (const LayeredStage& stage : stages)
    for (const Layer& layer : stage.layers) {
      const auto times = static_cast<double>(stage.passes_per_frame * layer.times);
      std::int64_t moved = layer.b_elements + layer.other_elements;
      if (layer.joint != Joint::fused) moved += layer.a_elements + layer.output_elements;
      const double elements = static_cast<double>(moved) + static_cast<double>(layer.weight_elements) / together;
      events.macs += times * static_cast<double>(macs_of(layer));
      events.vector_operations += times * static_cast<double>(operations_of(layer));
      events.on_chip_bytes += times * elements * bytes_per_element;
    }
  return events;
}

double DeviceEnergy::joules(double seconds) const {
  double sum = 0;
  for (const DeviceEnergyPart& part : parts) sum += part.joules + part.watts * seconds;
  return sum;
}

DeviceEnergy energy_of(const DeviceSilicon& s, const DeviceEvents& e) {
  const MacFormats steps{s.formats.activations, s.formats.activations, s.formats.activations};
  const auto at = [&](const auto& of) { return at_place(s.place, of); };
  DeviceEnergy energy;
  energy.parts = {
      {"mac", e.macs * at([&](TechnologyNode n) { return chip_mac_joules(n, s.formats); }), 0},
      {"vector", e.vector_operations * at([&](TechnologyNode n) { return mac_energy(n, steps).value; }), 0},
      {"sram",
       e.on_chip_bytes * at([&](TechnologyNode n) { return sram_energy(n, Bytes(bank_bytes), Bits(8)).value; }), 0},
      {"clock", 0, s.clock_hz * s.logic_mm2 * at([&](TechnologyNode n) { return clock_tree_energy(n).value; })},
      {"leakage", 0, at([&](TechnologyNode n) {
         const double macros = chip_areas(n, s.formats, 0, s.sram_mib).sram;
         return leakage_watts(n, SquareMm(s.logic_mm2), sram_mib_of(n, SquareMm(macros)), Supply{});
       })}};
  energy.has_dram = s.dram.has_value();
  if (!s.dram) return energy;
  const TechnologyNode any = s.place.smaller;  // DRAM and PHYs are the same in every process
  const DramFigures f = dram_figures(any, *s.dram);
  const double channels = s.dram_bits / static_cast<double>(dram_kinds()[*s.dram].channel_bits);
  energy.parts.push_back({"dram", e.dram_bytes * dram_energy(any, *s.dram, Bytes(1)).value, 0});
  energy.parts.push_back(
      {"dram_phy", e.dram_bytes * bits_a_byte * f.phy_pj * pico, bits_a_byte * s.dram_gb_per_s * f.phy_mw * milli});
  energy.parts.push_back({"dram_background", 0, channels * f.background_mw * milli});
  return energy;
}

std::optional<Price> price_of(const DeviceSilicon& s, double dram_gib) {
  if (!s.published_die) return std::nullopt;
  const BuiltDie die{s.dies, area_of(s) / static_cast<double>(s.dies), 0};
  const bool interposer = s.dram && is_hbm(*s.dram);
  const auto part = [&](double Price::*of) {
    return at_place(s.place, [&](TechnologyNode node) {
      const double dram_usd = s.dram ? dram_gib * dram_gib_usd(node, *s.dram) : 0;
      return package_price(std::span(&die, 1), node, interposer, dram_usd).*of;
    });
  };
  const Price price{part(&Price::silicon), part(&Price::package), part(&Price::dram)};
  return std::isfinite(price.total()) ? std::optional(price) : std::nullopt;
}

}  // namespace sdip
