// A stage's machine as an instruction class meets it: what options of machine, stage and class decide of lanes,
// widths and places is decided here, once and in this order. Formulas read what comes of it, and of the machine
// numbers. Internal to its room.
//
// Worked example. A linear of int4 weights on a machine of int8, linear_lanes_k 24, composable_macs=on: a MAC makes
// 2 products, which is 48 lanes along the sums; in groups of 32 weights with a scale each 32 of these.
#pragma once

#include <cstdint>
#include <optional>

#include "core/cost/work/resource.h"
#include "core/machine/machine.h"
#include "core/program/program.h"
#include "core/program/weight_form.h"
#include "core/program/workload.h"

namespace sdip {

/// The port through which what lies there is read: tiles of DRAM operands from DSRAM.
constexpr Resource read_port(Place place) {
  return place == Place::stackram ? Resource::stackram_read
         : place == Place::psram  ? Resource::psram_read
                                  : Resource::dsram_read;
}

/// MACs of a nest's array over rows, channels and the summed dimension, after sharing.
struct ArrayLanes {
  std::int64_t rows, channels, sum;
};
ArrayLanes array_lanes(Family family, const Machine& machine);

/// MACs of a core's arrays, those that families share once: products a cycle at most where none splits.
std::int64_t mac_lanes(const Machine& machine);

/// Lanes of the circuit of row-wise work, after sharing.
std::int64_t row_lanes(Family family, const Machine& machine);

/// With granularity=micro all products share one array of MACs, and all other work the vector lanes.
bool shares_units(const Machine& machine);
/// True when linear and matmul have no MACs of their own.
bool shares_macs(const Machine& machine);

/// Whether PSRAM holds the stacks of the cores.
bool stack_in_psram(const Machine& machine);

/// Cycles that each beat of PSRAM takes on its way over the links between dies: they all take it at once.
std::int64_t psram_pace(const Machine& machine);

/// The numbers of a machine that formulas read.
struct Resolved {
  const Machine& machine;  // of the stage
  // Fields that depend on the stage:
  WeightPlace weights = WeightPlace::psram;
  ByCoreResource<std::int64_t> port_bits{};  // of STACKRAM's: those of what holds the stack
  std::int64_t psram_pace = 1;
  bool unified = false, stack_in_psram = false, shares_units = false;
  Array<std::int64_t, pair_families> row_lanes{};  // by family
  // Fields that depend on the class:
  WeightForm form{};
  std::int64_t activation_bits{}, accumulator_bits{};
  std::int64_t products_in_mac = 1;
  std::int64_t scale_group = 0;    // weights along the sums of which no fold has parts of two; 0: any
  Array<ArrayLanes, 3> arrays{};   // of conv2d, linear, matmul
  std::int64_t cores = 1;          // whose stacks pass through PSRAM's port
  HostOperators host_operators{};  // none inside a compound
  DsramPair own_pair{};            // where results lie; operands may say that they lie there, too

  /// Whether weights stand where they are used, and are not read.
  bool wired() const { return weights != WeightPlace::psram; }
  /// Width of the port that reads what lies at a place.
  std::int64_t read_bits(Place place) const { return port_bits[read_port(place)]; }
  /// Bits of a result, which are not an activation's where the instruction converts.
  std::int64_t result_bits(const InstructionClass& c) const {
    return c.formats ? bits_of(c.formats->results) : activation_bits;
  }
};

/// Resolves classes of a stage on its machine (machine_of_stage), which must outlive it, and whose cores are those
/// in lockstep. Most classes meet it alike.
class Resolver {
 public:
  Resolver(const Machine& its, Role role);
  Resolver(Machine&& its, Role role) = delete;
  /// As the class meets it, and so the steps that its operations are made of. Stands until the next.
  const Resolved& of(const InstructionClass& c);

 private:
  Resolved stage_;
  std::optional<Resolved> own_;
  bool alike_;  // but for what a class itself says
};
inline Resolved resolve(const InstructionClass& c, const Machine& its, Role role = Role::network) {
  return Resolver(its, role).of(c);
}
Resolved resolve(const InstructionClass&, Machine&&, Role = Role::network) = delete;

}  // namespace sdip
