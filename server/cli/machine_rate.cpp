// How fast programs are made for machines that differ in everything, and published machines evaluated.
#include "server/cli/machine_rate.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string_view>

#include "core/base/error.h"
#include "core/baseline/device_run.h"
#include "core/explore/search/rows.h"
#include "core/explore/search/search.h"
#include "core/program/form/parse.h"
#include "server/cli/sweep_rate.h"
#include "server/io/threads.h"
#include "server/models/request.h"
#include "server/studies/analysis.h"
#include "server/studies/comparison.h"

namespace sdip {
namespace {

bool may_be(const Machine& machine) {
  try {
    check_machine(machine);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool same_programs(const Application& a, const Application& b) {
  if (a.feasible != b.feasible || a.stages.size() != b.stages.size()) return false;
  for (std::size_t s = 0; a.feasible && s < a.stages.size(); ++s)
    if (write_graph_binary(a.stages[s]) != write_graph_binary(b.stages[s])) return false;
  return true;
}

constexpr std::string_view varied_rows[] = {"cores",
                                            "conv_lanes_in",
                                            "conv_lanes_out",
                                            "conv_lanes_pixel",
                                            "linear_lanes_m",
                                            "linear_lanes_n",
                                            "linear_lanes_k",
                                            "matmul_lanes_m",
                                            "matmul_lanes_n",
                                            "matmul_lanes_k",
                                            "vector_lanes",
                                            "softmax_lanes",
                                            "norm_lanes",
                                            "transpose_lanes",
                                            "weight_format",
                                            "activation_format",
                                            "accumulator_format",
                                            "psram_bytes",
                                            "psram_port_bits",
                                            "dsram_bytes",
                                            "dsram_port_bits",
                                            "stackram_bytes",
                                            "stackram_port_bits",
                                            "dram_kind",
                                            "dram_channels",
                                            "mac_sharing",
                                            "activation_memory",
                                            "fusion",
                                            "fused_attention",
                                            "strips",
                                            "transposition",
                                            "skip_handling",
                                            "schedule"};

/// The preset's machine with its changes, and the rows that vary around it.
SearchSpace space_of(const RatedMachines& rated) {
  Machine base = require_preset(std::string(rated.preset), "").machine;
  std::vector<std::string_view> fixed;
  for (const Setting& setting : settings_of(rated.changes)) {
    setting.row->write(base, setting.value);
    fixed.push_back(setting.row->name);
  }
  SearchSpace space{base, searched_axes(base, fixed, {})};
  if (!rated.whole)
    std::erase_if(space.axes, [](const Axis& axis) {
      return std::ranges::find(varied_rows, axis.row->name) == std::end(varied_rows);
    });
  return space;
}

/// A machine that breaks no rule, and what was made of it.
struct Drawn {
  Machine machine;
  std::shared_ptr<const Application> kept{};
  double compile_seconds = 0, seconds = 0;
  bool fits = false;
};

/// Compiles some of them once more, from scratch.
void compare(const Catalog& catalog, const List<const Drawn*>& drawn, MachineRate& rate) {
  CompileOptions scratch;
  scratch.say_needed_bytes = false;
  std::atomic<std::int64_t> unequal{0};
  List<double> seconds(drawn.size());
  on_threads(rate.rated.threads, std::ssize(drawn), [&](std::int64_t i) {
    const Drawn& one = *drawn[i];
    const auto workload = catalog.workload(std::string(rate.rated.model), one.machine);
    Application anew;
    seconds[i] = seconds_of([&] { anew = compile(*workload, one.machine, scratch); });
    if (!same_programs(*one.kept, anew)) ++unequal;
  });
  rate.compared = std::ssize(drawn);
  rate.unequal = unequal;
  for (const double one : seconds) rate.scratch_seconds += one;
  for (const Drawn* one : drawn) rate.compared_seconds += one->compile_seconds;
}

}  // namespace

MachineRate machine_rate(const RatedMachines& rated, std::int64_t machines, std::int64_t compared_every) {
  const Catalog catalog;
  const std::string model(rated.model);
  const SearchSpace space = space_of(rated);
  const CompileFunction quickly = compile_quickly(catalog, {{model, 1}});
  MachineRate rate{.rated = rated};
  List<Drawn> drawn;
  for (; std::ssize(drawn) < machines; ++rate.drawn) {
    Machine machine = machine_drawn(space, 1, static_cast<std::uint64_t>(rate.drawn));
    if (may_be(machine)) drawn.push_back({std::move(machine)});
  }
  rate.refused = rate.drawn - machines;
  const auto compared = [&](std::int64_t i) { return compared_every > 0 && i % compared_every == 0; };
  catalog.workload(model, space.base);  // its model is read once
  rate.seconds = seconds_of([&] {
    on_threads(rated.threads, machines, [&](std::int64_t i) {
      Drawn& one = drawn[i];
      one.compile_seconds = one.seconds = seconds_of([&] { one.kept = quickly(one.machine).of[0]; });
      one.fits = one.kept->feasible;
      if (rated.costed)
        one.seconds += seconds_of([&] {
          Outcome outcome;
          evaluate_each(side_by_side(*one.kept), {&one.machine, 1}, {&outcome, 1});
        });
      if (!compared(i)) one.kept = nullptr;
    });
  });
  List<const Drawn*> again;
  for (const Drawn& one : drawn) {
    ++(one.fits ? rate.fitting : rate.misfits);
    if (one.fits) rate.fitting_seconds += one.seconds;
    if (one.kept) again.push_back(&one);
  }
  compare(catalog, again, rate);
  return rate;
}

std::vector<DeviceRate> device_rates() {
  constexpr int runs = 21;
  const std::vector<LayeredStage> work = layered_work(built_in_workloads(), "sd15", Machine{});
  std::vector<DeviceRate> rates;
  for (std::size_t kind = 0; kind <= at(Archetype::roofline); ++kind) {
    const auto archetype = static_cast<Archetype>(kind);
    DeviceRate rate;
    rate.archetype = archetype_text(archetype);
    for (const Device& device : devices()) {
      if (!can_run(device) || (has_model(device) ? device.archetype : Archetype::roofline) != archetype) continue;
      ++rate.devices;
      const double first = median_of(1, [&] { run_device(device, work, 1); });
      Device varied = device;
      const double again = median_of(runs, [&] {
        varied.dram_bytes_per_s *= 1.001;
        for (DeviceFigure& figure : varied.figures)
          if (figure.key == "clock_mhz") figure.value *= 0.999;
        run_device(varied, work, 1);
      });
      if (first > rate.first_s) rate.first_s = first, rate.slowest_first = device.id;
      if (again > rate.again_s) rate.again_s = again, rate.slowest_again = device.id;
    }
    if (rate.devices > 0) rates.push_back(std::move(rate));
  }
  return rates;
}

}  // namespace sdip
