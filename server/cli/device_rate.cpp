// Evaluations of published machines, timed.
#include "server/cli/device_rate.h"

#include "core/baseline/device_run.h"
#include "server/cli/sweep_rate.h"
#include "server/studies/comparison.h"

namespace sdip {

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
      const double kept = median_of(runs, [&] { run_device(device, work, 1); });
      if (first > rate.first_s) rate.first_s = first, rate.slowest_first = device.id;
      if (kept > rate.kept_s) rate.kept_s = kept, rate.slowest_kept = device.id;
    }
    if (rate.devices > 0) rates.push_back(std::move(rate));
  }
  return rates;
}

}  // namespace sdip
