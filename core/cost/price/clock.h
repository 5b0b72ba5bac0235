// How fast the circuits that are built may be clocked, at which supply the chip runs, and which limit it breaks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/cost/price/area.h"
#include "core/cost/price/energy.h"

namespace sdip {

/// The slowest of the circuits and memories that are built, and its fastest clock at the nominal supply; "part" of
/// an FPGA. docs/model/limits.md#clock-and-supply.
struct SlowestCircuit {
  std::string_view name;
  double mhz{};
};
SlowestCircuit slowest_circuit(const Application& application, Widest widest, const Machine& machine,
                               Bound bound = Bound::value);

/// The supply that a chip runs at: `supply_mv`, or the lowest of the node that allows its clock; the most of the
/// node where none does.
Supply chip_supply(const SlowestCircuit& slowest, const Machine& machine);

/// Its fastest clock there, in whole MHz, rounded down.
double clock_limit_at(const SlowestCircuit& slowest, const Supply& supply);

/// Which limit of clock or supply the machine breaks, with limit and value; empty: none.
std::string broken_clock(const SlowestCircuit& slowest, const Supply& supply, const Machine& machine);
/// Heat of a die that gives off `watts`, DRAM's apart; nothing for an FPGA.
std::optional<Heat> heat_of(double watts, double area_mm2, const Machine& machine);
/// Which limit it breaks.
std::string broken_heat(const Heat& heat);

}  // namespace sdip
