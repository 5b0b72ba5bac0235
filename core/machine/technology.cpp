// Energy and area constants, and the laws that join them.
#include "core/machine/technology.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr std::string_view horowitz = "Horowitz, ISSCC 2014, energy table, 45 nm 0.9 V";
constexpr std::string_view jouppi = "Jouppi et al., ISCA 2021, Table 2, 7 nm";
constexpr std::string_view scaled = "assumption: int8 figures scaled by the square of the operand width";
constexpr std::string_view model_7nm = "public model of a 7 nm lane, assumption-grade";
constexpr std::string_view mantissa =
    "assumption: adder 23 um2 + multiplier 0.35 um2 x mantissa bits squared, fitted to bf16";

using enum Confidence;

// Energies in pJ, areas in um2 a lane, SRAM in pJ per 64 bits and mm2 per MiB.
constexpr TechnologyRow table[] = {
    {"n45.multiply.int8", 0.2, 0.2, 0.2, "pJ", cited, horowitz},
    {"n45.multiply.int16", 0.8, 0.4, 1.6, "pJ", assumption, scaled},
    {"n45.multiply.int32", 3.1, 3.1, 3.1, "pJ", cited, horowitz},
    {"n45.multiply.int4", 0.05, 0.03, 0.1, "pJ", assumption, scaled},
    {"n45.multiply.fp8", 0.2, 0.1, 0.4, "pJ", assumption, "assumption: as int8"},
    {"n45.multiply.fp16", 1.1, 1.1, 1.1, "pJ", cited, horowitz},
    {"n45.multiply.bf16", 0.7, 0.5, 1.1, "pJ", assumption, "assumption: fp16 x the 7 nm ratio of bf16 to fp16"},
    {"n45.multiply.fp32", 3.7, 3.7, 3.7, "pJ", cited, horowitz},
    {"n45.add.int32", 0.1, 0.1, 0.1, "pJ", cited, horowitz},
    {"n45.add.int16", 0.05, 0.03, 0.1, "pJ", assumption, "assumption: half of int32"},
    {"n45.add.int8", 0.03, 0.03, 0.03, "pJ", cited, horowitz},
    {"n45.add.fp16", 0.4, 0.4, 0.4, "pJ", cited, horowitz},
    {"n45.add.fp32", 0.9, 0.9, 0.9, "pJ", cited, horowitz},
    {"n45.sram.8KB", 10, 6.05, 10, "pJ/64b", cited, horowitz},
    {"n45.sram.32KB", 20, 17, 20, "pJ/64b", cited, horowitz},
    {"n45.sram.1MB", 100, 60, 121, "pJ/64b", cited, horowitz},
    {"n45.sram.area", 3.56, 3.3, 3.8, "mm2/MiB", cited, "CACTI 7, itrs-hp, 1RW, 45 nm: 2.1 to 2.4 Mib/mm2"},
    {"n45.area.int8", 419, 419, 419, "um2", cited, "Horowitz, ISSCC 2014: int8 multiplier 282 + int32 adder 137"},
    {"n45.area.int16", 1265, 800, 1700, "um2", assumption, scaled},
    {"n45.area.int32", 3632, 2400, 4700, "um2", assumption, scaled},
    {"n45.area.int4", 208, 100, 300, "um2", assumption, scaled},
    {"n45.area.fp8", 500, 300, 900, "um2", assumption, "assumption: near int8, with alignment"},
    {"n45.area.fp16", 5824, 5824, 5824, "um2", cited,
     "Horowitz, ISSCC 2014: fp16 multiplier 1640 + fp32 adder 4184"},
    {"n45.area.bf16", 5100, 4700, 5824, "um2", assumption,
     "assumption: fp16 with the multiplier by mantissa squared"},
    {"n45.area.fp32", 11884, 11884, 11884, "um2", cited, "Horowitz, ISSCC 2014: fp32 multiplier 7700 + adder 4184"},

    {"n7.multiply.int8", 0.07, 0.07, 0.07, "pJ", cited, jouppi},
    {"n7.multiply.int16", 0.28, 0.14, 0.56, "pJ", assumption, scaled},
    {"n7.multiply.int32", 1.48, 1.48, 1.48, "pJ", unverified, jouppi},
    {"n7.multiply.int4", 0.0175, 0.01, 0.035, "pJ", assumption, scaled},
    {"n7.multiply.fp8", 0.07, 0.035, 0.14, "pJ", assumption, "assumption: as int8"},
    {"n7.multiply.fp16", 0.34, 0.34, 0.34, "pJ", cited, jouppi},
    {"n7.multiply.bf16", 0.21, 0.21, 0.21, "pJ", unverified, jouppi},
    {"n7.multiply.fp32", 1.31, 1.31, 1.31, "pJ", cited, jouppi},
    {"n7.add.int32", 0.03, 0.03, 0.03, "pJ", cited, jouppi},
    {"n7.add.int16", 0.015, 0.01, 0.03, "pJ", assumption, "assumption: half of int32"},
    {"n7.add.int8", 0.007, 0.007, 0.007, "pJ", unverified, jouppi},
    {"n7.add.fp16", 0.16, 0.16, 0.16, "pJ", unverified, jouppi},
    {"n7.add.fp32", 0.38, 0.38, 0.38, "pJ", unverified, jouppi},
    {"n7.sram.8KB", 7.5, 7.5, 7.5, "pJ/64b", cited, jouppi},
    {"n7.sram.32KB", 8.5, 8.5, 8.5, "pJ/64b", cited, jouppi},
    {"n7.sram.1MB", 14, 14, 14, "pJ/64b", cited, jouppi},
    {"n7.sram.area", 0.32, 0.32, 0.32, "mm2/MiB", cited,
     "bitcell 0.027 um2 (Wu, IEDM 2016) at 70 % macro efficiency"},
    {"n7.area.int8", 27, 13, 54, "um2", assumption, model_7nm},
    {"n7.area.int16", 100, 50, 200, "um2", assumption, scaled},
    {"n7.area.int32", 380, 190, 760, "um2", assumption, scaled},
    {"n7.area.int4", 11, 5, 22, "um2", assumption, scaled},
    {"n7.area.fp8", 29, 15, 58, "um2", assumption, mantissa},
    {"n7.area.fp16", 65, 33, 130, "um2", assumption, mantissa},
    {"n7.area.bf16", 45, 23, 90, "um2", assumption, model_7nm},
    {"n7.area.fp32", 225, 110, 450, "um2", assumption, mantissa},

    {"rom.over_sram", 0.25, 0.15, 0.5, "", assumption, "assumption: area of a ROM bit over that of an SRAM bit"},

    {"dram.lpddr4", 8, 4, 20, "pJ/bit", cited,
     "Accelergy table (public data); Dally CACM 2020 says about 4, Horowitz 20"},
    {"dram.ddr4", 20, 20, 20, "pJ/bit", cited, "Jouppi et al., ISCA 2021, Table 2: 1300 pJ per 64 b, I/O only"},
    {"dram.gddr6", 6.5, 5.5, 7.5, "pJ/bit", cited,
     "Jouppi et al., ISCA 2021, Table 2: 350 to 480 pJ per 64 b, I/O only"},
    {"dram.hbm2", 5.5, 3.9, 13.1, "pJ/bit", cited,
     "Jouppi et al., ISCA 2021, Table 2: 250 to 450 pJ per 64 b; A100 measured 13.1 with controllers (Antepara, SC "
     "2025)"},
};

double constant(const std::string& name) {
  const auto row = std::ranges::find(table, name, &TechnologyRow::name);
  check(row != std::end(table), "a technology constant without a row");
  return row->value;
}

constexpr std::size_t nodes = 2, formats = std::size(number_formats);
constexpr std::string_view node_prefix[nodes] = {"n7", "n45"};

/// The row a format's arithmetic is priced by: fixed point as the integer of its width.
std::string_view arithmetic_name(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return "fp32";
    case NumberFormat::fp16:
      return "fp16";
    case NumberFormat::bf16:
      return "bf16";
    case NumberFormat::fp8_e4m3:
    case NumberFormat::fp8_e5m2:
      return "fp8";
    default:
      break;
  }
  switch (bits_of(format)) {
    case 32:
      return "int32";
    case 16:
      return "int16";
    case 8:
      return "int8";
    default:
      return "int4";
  }
}

/// Additions: floats narrower than fp32 add as fp16, integers narrower than int8 as int8.
std::string adder_name(NumberFormat format) {
  const std::string_view name = arithmetic_name(format);
  if (name == "fp32") return "fp32";
  if (name == "fp16" || name == "bf16" || name == "fp8") return "fp16";
  return name == "int4" ? "int8" : std::string(name);
}

/// The table by number, so that a sweep never compares strings.
struct Numbers {
  double multiply[nodes][formats], add[nodes][formats], area[nodes][formats];
  double sram_pj[nodes][3], sram_mm2[nodes], rom_over_sram, dram_pj[4];
};

Numbers numbers_of_table() {
  Numbers n{};
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::string prefix(node_prefix[node]);
    for (std::size_t f = 0; f < formats; ++f) {
      const auto format = static_cast<NumberFormat>(f);
      const std::string name(arithmetic_name(format));
      n.multiply[node][f] = constant(prefix + ".multiply." + name);
      n.add[node][f] = constant(prefix + ".add." + adder_name(format));
      n.area[node][f] = constant(prefix + ".area." + name);
    }
    n.sram_pj[node][0] = constant(prefix + ".sram.8KB");
    n.sram_pj[node][1] = constant(prefix + ".sram.32KB");
    n.sram_pj[node][2] = constant(prefix + ".sram.1MB");
    n.sram_mm2[node] = constant(prefix + ".sram.area");
  }
  n.rom_over_sram = constant("rom.over_sram");
  const char* kinds[] = {"dram.lpddr4", "dram.ddr4", "dram.gddr6", "dram.hbm2"};
  for (std::size_t kind = 0; kind < 4; ++kind) n.dram_pj[kind] = constant(kinds[kind]);
  return n;
}

const Numbers& numbers() {
  static const Numbers value = numbers_of_table();
  return value;
}

constexpr double pico = 1e-12, mib = 1048576.0;

std::size_t index(TechnologyNode node) {
  check(node == TechnologyNode::n7 || node == TechnologyNode::n45, "a technology node without constants");
  return node == TechnologyNode::n7 ? 0 : 1;
}

}  // namespace

std::string_view confidence_text(Confidence confidence) {
  constexpr std::string_view names[] = {"cited", "unverified", "assumption"};
  return names[static_cast<std::size_t>(confidence)];
}

std::span<const TechnologyRow> technology_rows() { return table; }

Joules mac_energy(TechnologyNode node, NumberFormat operand, NumberFormat sum) {
  const Numbers& n = numbers();
  return Joules(pico * (n.multiply[index(node)][static_cast<std::size_t>(operand)] +
                        n.add[index(node)][static_cast<std::size_t>(sum)]));
}

SquareMm mac_area(TechnologyNode node, NumberFormat operand) {
  return SquareMm(1e-6 * numbers().area[index(node)][static_cast<std::size_t>(operand)]);
}

Joules sram_energy(TechnologyNode node, Bytes bank_bytes, Bits bits) {
  constexpr double kb[] = {8 * 1024.0, 32 * 1024.0, mib};
  const auto& pj = numbers().sram_pj[index(node)];
  const double capacity = std::max(1024.0, static_cast<double>(bank_bytes.value));
  const std::size_t low = capacity < kb[1] ? 0 : 1;
  const double slope = std::log(pj[low + 1] / pj[low]) / std::log(kb[low + 1] / kb[low]);
  const double per_64_bits = pj[low] * std::exp(slope * std::log(capacity / kb[low]));
  return Joules(pico * per_64_bits / 64.0 * static_cast<double>(bits.value));
}

SquareMm sram_area(TechnologyNode node, Bytes capacity) {
  return SquareMm(numbers().sram_mm2[index(node)] * static_cast<double>(capacity.value) / mib);
}

SquareMm rom_area(TechnologyNode node, Bytes capacity) {
  return sram_area(node, capacity) * numbers().rom_over_sram;
}

Joules dram_energy(DramKind kind, Bytes bytes) {
  return Joules(pico * numbers().dram_pj[static_cast<std::size_t>(kind)] * 8.0 * static_cast<double>(bytes.value));
}

}  // namespace sdip
