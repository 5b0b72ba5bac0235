// The load before processing: IMEM, DRAM and memories that multiply; for an FPGA its configuration.
#include "core/cost/explain/load.h"

#include <cmath>
#include <utility>

#include "core/cost/explain/filled.h"
#include "core/cost/price/stage.h"
#include "core/machine/rate.h"

namespace sdip {
namespace {

/// Bytes of every stage that are loaded into each memory.
struct LoadedBytes {
  Filled imem, dram, fefet;
  std::int64_t kept = 0;
};

LoadedBytes loaded_bytes(const Application& application, const Machine& m) {
  LoadedBytes loaded;
  for (const CompiledStage& stage : application.stages) {
    if (!on_chip(stage.role, m)) continue;
    const std::int64_t words = program_size(stage, m).bytes;
    const bool streamed = words > m.imem_bytes;  // held, it would have room
    if (!streamed) loaded.imem += number(words);
    if (streamed && !m.host_memory) loaded.dram += number(words);
    const WeightPlace place = weight_place(m, stage.role);
    const Filled weights = number(stage.program.stored_weight_bytes.value);
    if (place == WeightPlace::fefet) loaded.fefet += weights;
    if (place != WeightPlace::psram) continue;
    if (!m.host_memory) loaded.dram += weights;
    loaded.kept += stage.program.pinned_bytes.value;
  }
  return loaded;
}

Configuration configuration_of(const Machine& m) {
  const auto at = [&](Bound bound) { return fpga_configuration(process_of(m, bound)); };
  const FpgaConfiguration least = at(Bound::least), value = at(Bound::value), most = at(Bound::most);
  return {{value.bytes, least.bytes, most.bytes}, {value.seconds(), least.seconds(), most.seconds()}};
}

}  // namespace

Load load_of(const Application& application, const Machine& m) {
  const LoadedBytes loaded = loaded_bytes(application, m);
  const DramRate rate = dram_rate(m, Decimal{100});
  const Hertz clock(static_cast<double>(m.core_clock_mhz) * 1e6);
  Load load;
  std::int64_t bytes = 0;
  const std::pair<const char*, const Filled*> memories[] = {
      {"imem", &loaded.imem}, {"dram", &loaded.dram}, {"fefet", &loaded.fefet}};
  for (const auto& [memory, its] : memories) {
    if (its == &loaded.fefet && its->is_zero()) continue;
    bytes += its->value();
    const Cycles before = load.cycles;
    load.cycles = rate.time_for(Bytes(bytes));
    const Cycles cycles = load.cycles - before;
    load.parts.push_back({memory, Bytes(its->value()), cycles, (cycles / clock).value});
  }
  load.kept = Bytes(loaded.kept);
  load.seconds = (load.cycles / clock).value;
  if (is_fpga(m.technology_node)) {
    load.configuration = configuration_of(m);
    load.seconds += load.configuration->seconds.value;
  }
  return load;
}

std::vector<FilledTerm> load_terms(const Application& application, const Machine& m) {
  const LoadedBytes loaded = loaded_bytes(application, m);
  const DramRate rate = dram_rate(m, Decimal{100});
  std::vector<FilledTerm> terms;
  const auto add = [&](const char* what, const char* formula, const Filled& f) {
    terms.push_back({what, "docs/model/frames.md#load-phase", formula, f.text(), f.value()});
  };
  add("loaded_imem_bytes", "words of each stage whose program stays in IMEM", loaded.imem);
  add("loaded_dram_bytes", "stored weights of each stage that streams them + words of programs larger than IMEM",
      loaded.dram);
  if (!loaded.fefet.is_zero())
    add("loaded_fefet_bytes", "stored weights of each stage whose products are made in memory", loaded.fefet);
  const Filled all = number(loaded.imem.value()) + number(loaded.dram.value()) + number(loaded.fefet.value());
  add("load_cycles", "ceil((IMEM + DRAM + FeFET memories) x q/p) of the whole channel",
      ceiling(all, rate.q, rate.p));
  if (!is_fpga(m.technology_node)) return terms;
  const FpgaConfiguration part = fpga_configuration(process_of(m));
  const auto us = static_cast<std::int64_t>(std::ceil(part.bytes / part.megabytes_per_s));
  const auto whole = [](double x) { return x == std::floor(x); };
  const bool shown = whole(part.bytes) && whole(part.megabytes_per_s);
  const std::string numbers = shown ? ceiling(number(static_cast<std::int64_t>(part.bytes)),
                                              static_cast<std::int64_t>(part.megabytes_per_s))
                                          .text()
                                    : std::string();
  terms.push_back({"configuration_us", "docs/model/frames.md#load-phase", "ceil(bitstream bytes/MB/s of its port)",
                   numbers, us});
  return terms;
}

}  // namespace sdip
