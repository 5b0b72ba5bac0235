// The dies that a machine is made of: their links, whether they can be made, and what all of it costs.
#pragma once

#include <array>
#include <span>
#include <string>

#include "core/cost/price/area.h"
#include "core/cost/price/dram_price.h"
#include "core/machine/machine.h"
#include "core/machine/technology.h"

namespace sdip {

/// The ends of all links between dies, and what one end takes of its die. docs/model/dies.md.
struct BuiltLinks {
  double area_mm2 = 0, end_mm2 = 0, end_edge_mm = 0;
  double standing_w = 0;
};
/// Nothing on one die.
BuiltLinks built_links(const Machine& machine, Bound bound = Bound::value);

/// Dies alike, links and their even share of DRAM's PHYs and controllers included; the edge is what these take of
/// one.
struct BuiltDie {
  std::int64_t count = 0;
  double mm2 = 0, edge_mm = 0;
};
/// The first, those between, and the last; of one die the first alone.
std::array<BuiltDie, 3> built_dies(const DieAreas& areas, const BuiltDram& dram, const BuiltLinks& links);

/// Says that a die is larger than a scanner exposes, or has too little edge, or that a link is to be faster than it
/// is; empty where none of it holds.
std::string broken_dies(const std::array<BuiltDie, 3>& dies, const Machine& machine);

/// USD of a machine in its package. Silicon: of dies that work.
struct Price {
  double silicon = 0, package = 0, dram = 0;
  double total() const { return silicon + package + dram; }
};
/// Share of dies of that area that work: (1 + area x defects / clusters)^-clusters.
double die_yield(double mm2, const PriceFigures& figures);
/// Price of dies in one package, on an interposer where there is more than one; no figure (NaN) where a die cannot
/// be exposed. Requires a node that is no FPGA.
Price package_price(std::span<const BuiltDie> dies, Process process, bool interposer, double dram_usd);
/// Whether its stacks stand on the package's interposer.
bool is_hbm(DramKind kind);
/// No figure (NaN) of an FPGA, nor where a die cannot be exposed.
Price price_of(const std::array<BuiltDie, 3>& dies, const Machine& machine, Bound bound = Bound::value);

/// USD of a million images: the machine's share of so many years of work, and electricity.
double million_images_usd(const Price& price, double frames_per_s, double energy_j_per_frame,
                          const Machine& machine, Bound bound = Bound::value);

}  // namespace sdip
