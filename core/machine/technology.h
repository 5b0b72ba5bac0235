// Energy and area per event, by process: every constant with its source and how far it can be trusted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/units.h"
#include "core/machine/machine.h"

namespace sdip {

/// cited: read in the named source. unverified: commonly quoted, source not re-read. assumption: ours, with a
/// range.
enum class Confidence { cited, unverified, assumption };
std::string_view confidence_text(Confidence confidence);

struct TechnologyRow {
  std::string_view name;  // "n7.mac.int8"
  double value, least, most;
  std::string_view unit;
  Confidence confidence;
  std::string_view source;
};

/// Every constant of every process, for docs, API and reports.
std::span<const TechnologyRow> technology_rows();

/// Energy of one multiply-accumulate: a product in the wider of the operands' formats and an addition in `sum`.
Joules mac_energy(TechnologyNode node, NumberFormat operand, NumberFormat sum);

/// Area of one MAC lane, before the floor-plan factor.
SquareMm mac_area(TechnologyNode node, NumberFormat operand);

/// Energy of moving `bits` through the port of an SRAM whose bank holds `bank_bytes`: the table's points (8 KB, 32
/// KB, 1 MB, each per 64 bits), joined and continued by power laws.
Joules sram_energy(TechnologyNode node, Bytes bank_bytes, Bits bits);

/// Macro area of an SRAM, before the floor-plan factor.
SquareMm sram_area(TechnologyNode node, Bytes capacity);

/// Area of weights kept in ROM.
SquareMm rom_area(TechnologyNode node, Bytes capacity);

/// Energy of moving `bytes` between chip and DRAM.
Joules dram_energy(DramKind kind, Bytes bytes);

}  // namespace sdip
