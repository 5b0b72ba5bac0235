// Period and latency of a frame and the bounds of a stage, with their numbers: docs/model/frames.md.
#include "core/cost/explain/explain_layer.h"
#include "core/cost/explain/explain_symbols.h"
#include "core/cost/price/clock.h"
#include "core/cost/price/frame.h"

namespace sdip {
namespace {

FilledTerm frame_term(const std::string& what, const char* section, const std::string& formula,
                      const Filled& numbers) {
  return {what, section, formula, numbers.text(), numbers.value()};
}

}  // namespace

std::vector<FilledTerm> bound_terms(const StageRun& run) {
  constexpr const char* section = "docs/model/frames.md#bounds";
  constexpr const char* crossings = "active cores x (in + out)";
  const Machine& m = run.machine;
  std::string arrays;
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul})
    if (run.work.of_family[family] != FamilyWork())
      arrays += (arrays.empty() ? "" : ", ") + std::string(family_text(family));
  return {frame_term("bound_cycles", section, bound_symbols(run, m, arrays),
                     bound_cycles<Filled>(run.work.of_family, m)),
          frame_term("bound_dram_bytes", section,
                     weights_in_place(m, run.stage->role)
                         ? crossings
                         : std::string("max(0, distinct weights - psram_bytes) + ") + crossings,
                     bound_dram_bytes<Filled>(*run.stage, run.schedule.active_cores, m))};
}

FrameTerms frame_terms(const std::vector<ExplainedStage>& stages, const Machine& m) {
  constexpr const char* section = "docs/model/frames.md";
  FrameCycles<Filled> cycles;
  const auto role_of = [](const ExplainedStage& s) { return s.run.stage->role; };
  in_turn(stages, m, role_of, [&](std::size_t i) {
    const StageRun& run = stages[i].run;
    cycles.add({run.stage, run.schedule, run.alone.total<Filled>(passes_per_frame(run.stage->role, m)),
                number(run.steady().cycles), number(run.link_cycles)},
               i, m);
  });
  cycles.end(number(stages.front().run.steady().cycles));
  const std::int64_t frames = cycles.frames * m.batch;
  const bool crossed = has_crossbar(m);
  return {
      {frame_term(frames == 1 ? "period" : fmt::format("period of {} frames", frames), section,
                  crossed ? "max(T x step + link, N x encoder, N x decoder) + N x text encoder, if prompt_per_frame"
                          : "max(s x step + link, encoder, decoder) + text encoder, if prompt_per_frame",
                  cycles.period()),
       frame_term("latency", section,
                  crossed ? "text encoder + encoder + T passes from cold + link + decoder"
                          : "text encoder + encoder + T passes from cold + active cores x link + decoder",
                  cycles.alone)},
      cycles.pace};
}

std::vector<FilledTerm> clock_terms(const Application& application, const Machine& m) {
  constexpr const char* section = "docs/model/limits.md#clock-and-supply";
  const SlowestCircuit slowest =
      slowest_circuit(application, widest_formats(application_totals(application).formats, m), m);
  const Supply supply = chip_supply(slowest, m);
  // Rows of the technology table are no whole numbers: the formula is told, and what it comes to.
  const auto term = [&](const char* what, const std::string& formula, double value) {
    const auto whole = static_cast<std::int64_t>(value);
    return FilledTerm{what, section, formula, number(whole).text(), whole};
  };
  const std::string name(slowest.name);
  if (is_fpga(m.technology_node))
    return {term("fastest_clock_mhz", "clock of the part's blocks x min(1, pipeline_stages/3)",
                 clock_limit_at(slowest, supply))};
  const std::string limit =
      slowest.name == "conv2d"
          ? "of lanes: 10^6/(fo4 x clock.margin x (max(depth/pipeline_stages, clock.least_stage) + clock.overhead))"
          : "of a bank of " + name + ": 10^6/(fo4 x (clock.sram.least + clock.sram.root_kib x sqrt(KiB)))";
  const std::string at = " x (V0/V) x ((V - Vt)/(V0 - Vt))^supply.alpha";
  const char* lowest = "the lowest multiple of 10 mV that allows core_clock_mhz; the most where none does";
  return {term("fastest_clock_mhz", limit + at, clock_limit_at(slowest, supply)),
          term("supply_mv", m.supply_mv > 0 ? "supply_mv" : lowest, static_cast<double>(supply.mv))};
}

}  // namespace sdip
