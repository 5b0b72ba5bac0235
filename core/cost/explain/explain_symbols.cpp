// Formulas in symbols, without factors that a machine does not have.
#include "core/cost/explain/explain_symbols.h"

namespace sdip {
namespace {

std::string element_cycles(const InstructionClass& c) {
  return c.work.element_cycles == 1 ? "" : " x element_cycles";
}

/// Cycles of one row of a product in memory.
std::string row_cycles(const InstructionClass& c, const Machine& m) {
  const char* parts = m.fefet_input_bits == 1 ? "activation bits" : "ceil(activation bits/fefet_input_bits)";
  return std::string(parts) + " x fefet_columns_per_converter" + element_cycles(c);
}

/// Whether zeros of the class's own nest are skipped, so that kernel and sum are one compacted dimension.
bool compacted(const InstructionClass& c, const Resolved& r) {
  return r.form.skipping && c.operand_b == Place::psram;
}

bool skips(const ClassCost& cost) { return !made_in_memory(cost) && cost.spent_macs < cost.macs; }

/// Runs of row folds whose sums stay in the array.
std::string held_symbols(const InstructionClass& c, const Machine& m) {
  const std::string folds = "row folds" + element_cycles(c);
  const std::string each = "products x folds(channels) x folds(sums) x ";
  if (m.weight_registers == 1)
    return fmt::format("tile operations x {}({} + beats of B of the runs that load)", each, folds);
  return "tile operations x (beats of B of the first load + " + each + "max(" + folds +
         " of a run, beats of B if it loads), by run)";
}

/// Operands over the bus, the host's work, results over the bus.
std::string host_symbols(const InstructionClass& c, const Machine& m) {
  const std::string bus = m.host_access_cycles == 1 ? "" : " x host_access_cycles";
  const bool behind = c.fused_operators + c.statistics_passes > 0;
  const std::string work = behind ? "(elements x passes + results x what is fused)" : "elements x passes";
  const bool whole = m.host_cycles_per_element.hundredths % 100 == 0;
  return "tile operations x (ceil(operand bits/host_bus_bits)" + bus + " + " + (whole ? "" : "ceil(") + work +
         " x host_cycles_per_element" + (whole ? "" : ")") + " + ceil(result bits/host_bus_bits)" + bus + ")";
}

}  // namespace

std::string compute_symbols(const InstructionClass& c, const Resolved& r, const ClassCost& cost) {
  if (c.compound != Compound::single) return "tile operations x compute of each step, summed";
  if (cost.on_host) return host_symbols(c, r.machine);
  if (!cost.plan.nest) return "tile operations x passes x folds(rows)" + element_cycles(c);
  if (made_in_memory(cost)) return "tile operations x products x rows x " + row_cycles(c, r.machine);
  if (r.machine.accumulator_folds > 0) return held_symbols(c, r.machine);
  const bool groups = r.scale_group > 0;
  const char* lanes = cost.products_in_mac > 1 ? (groups ? "(lanes x products in a MAC that groups leave)"
                                                         : "(lanes x products in a MAC)")
                      : groups                 ? "(lanes that groups leave)"
                                               : "lanes";
  const char* sum = compacted(c, r) ? "ceil(weights kept of kernel x K_tile/" : "kernel x ceil(K_tile/";
  return fmt::format("tile operations x products x ceil(rows/lanes) x ceil(channels/lanes) x {}{}){}", sum, lanes,
                     element_cycles(c));
}

std::string bound_symbols(const InstructionClass& c, const Resolved& r, const ClassCost& cost) {
  if (cost.on_host) return "none: the host computes it";
  if (!cost.plan.nest) return "ceil(passes x elements" + element_cycles(c) + "/lanes)";
  if (made_in_memory(cost))
    return c.compound == Compound::strips ? "cycles of its products in memory, summed over its parts"
                                          : "products x rows x " + row_cycles(c, r.machine);
  return std::string(skips(cost) ? "ceil(MACs not skipped/" : "ceil(MACs/") +
         (cost.products_in_mac > 1 ? "(lanes of the array x products in a MAC))" : "lanes of the array)");
}

std::string bound_symbols(const StageRun& run, const Machine& m, const std::string& arrays) {
  if (arrays.empty()) return "no products";
  bool on_lanes = false, in_memory = false, skipped = false;
  for (const ClassCost& cost : run.costs) {
    on_lanes |= cost.spent_macs > 0;
    in_memory |= made_in_memory(cost);
    skipped |= skips(cost);
  }
  const bool several = arrays.find(',') != std::string::npos;
  const bool beside = has_pairs(m) && m.mac_sharing == MacSharing::separate;
  std::string symbols = several && beside ? "the largest of " : "";
  if (on_lanes)
    symbols += fmt::format("ceil(MAC{}{}/lanes)", run.work.products_in_mac > 1 ? " cycles" : "s",
                           skipped ? " not skipped" : "");
  if (in_memory) symbols += on_lanes ? " + cycles of products in memory" : "cycles of products in memory";
  return symbols + ", by array: " + arrays;
}

}  // namespace sdip
