// How fast programs are made for machines that differ in everything, and published machines evaluated.
#include "server/cli/machine_rate.h"

#include <memory>

#include "core/base/error.h"
#include "core/baseline/device_run.h"
#include "core/explore/search/rows.h"
#include "core/explore/search/search.h"
#include "core/program/form/parse.h"
#include "server/cli/sweep_rate.h"
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

}  // namespace

MachineRate machine_rate(const std::string& model, std::int64_t machines, std::int64_t compared_every) {
  const Catalog catalog;
  const Machine base = require_preset(std::string(default_preset), "").machine;
  const SearchSpace space{base, searched_axes(base, {}, {})};
  const CompileFunction quickly = compile_quickly(catalog, {{model, 1}});
  CompileOptions scratch;
  scratch.say_needed_bytes = false;
  MachineRate rate{.model = model};
  for (; rate.misfits + rate.fitting < machines; ++rate.drawn) {
    const Machine machine = machine_drawn(space, 1, static_cast<std::uint64_t>(rate.drawn));
    if (!may_be(machine)) {
      ++rate.refused;
      continue;
    }
    const auto workload = catalog.workload(model, machine);
    std::shared_ptr<const Application> kept;
    const double seconds = seconds_of([&] { kept = quickly(machine).of[0]; });
    rate.seconds += seconds;
    if (kept->feasible) rate.fitting_seconds += seconds;
    ++(kept->feasible ? rate.fitting : rate.misfits);
    if (compared_every == 0 || (rate.misfits + rate.fitting) % compared_every != 0) continue;
    Application anew;
    rate.scratch_seconds += seconds_of([&] { anew = compile(*workload, machine, scratch); });
    rate.compared_seconds += seconds;
    ++rate.compared;
    if (!same_programs(*kept, anew)) ++rate.unequal;
  }
  return rate;
}

std::vector<DeviceRate> device_rates() {
  constexpr int runs = 21;
  const std::vector<LayeredStage> work = layered_work(Catalog(), "sd15", Machine{});
  std::vector<DeviceRate> rates;
  for (std::size_t kind = 0; kind <= static_cast<std::size_t>(Archetype::roofline); ++kind) {
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
