// Period and latency of a frame and the bounds of a stage, with their numbers: docs/model/frames.md.
#include <algorithm>
#include <span>

#include "core/cost/explain/explain_layer.h"
#include "core/cost/explain/explain_symbols.h"
#include "core/cost/price/clock.h"
#include "core/cost/price/frame.h"
#include "core/cost/work/micro_operations.h"

namespace sdip {
namespace {

constexpr const char* array_names[] = {"conv2d", "linear", "matmul"};

/// Passes from cold: each as long as it takes, the last for all that follow.
Filled passes_from_cold(const TimelineResult& alone, std::int64_t count) {
  Filled sum;
  const auto known = std::min(count, static_cast<std::int64_t>(alone.passes.size()));
  std::int64_t times{}, cycles{};
  for (const PassCost& pass : std::span(alone.passes).first(as_size(known))) {
    if (pass.cycles != cycles) {
      sum += number(times) * number(cycles);
      times = 0;
      cycles = pass.cycles;
    }
    ++times;
  }
  return sum + number(times + count - known) * number(cycles);
}

/// Cycles between frames of a saturated stream, and of a frame alone.
struct FrameCycles {
  Filled period, latency;
  std::int64_t frames = 1;
  std::size_t pace{};
};

class Adding {
 public:
  Adding(const std::vector<ExplainedStage>& stages, const Machine& m) : stages_(stages), m_(m) {}

  FrameCycles all() {
    const auto each = [&](auto&& wanted) {
      for (std::size_t i = 0; i < stages_.size(); ++i)
        if (wanted(stages_[i].run.stage->role) && on_chip(stages_[i].run.stage->role, m_)) add(i);
    };
    each([](Role role) { return role == Role::core || role == Role::network; });
    each([](Role role) { return role == Role::text_encoder; });
    each([](Role role) { return role == Role::encoder || role == Role::decoder; });
    if (!has_main_ && sum_.period.value() < stages_.front().run.steady().cycles) {
      one_of_.push_back(number(stages_.front().run.steady().cycles));
      sum_.pace = 0;
    }
    sum_.period = largest(one_of_);
    return sum_;
  }

 private:
  /// A stage beside the others: the longest sets the pace.
  void beside(std::size_t stage, const Filled& cycles) {
    if (cycles.value() > sum_.period.value()) {
      sum_.pace = stage;
      sum_.period = cycles;
    }
    one_of_.push_back(cycles);
  }

  void add(std::size_t i) {
    const StageRun& run = stages_[i].run;
    const Role role = run.stage->role;
    const std::int64_t steady = run.steady().cycles;
    if (role == Role::core) {
      has_main_ = true;
      beside(i, number(run.schedule.steps_per_core) * number(steady) + number(run.link_cycles));
      sum_.latency +=
          passes_from_cold(run.alone, m_.steps) + number(run.schedule.cores_of_frame) * number(run.link_cycles);
      sum_.frames *= run.schedule.frames();
      together_ = run.schedule.frames();
      return;
    }
    sum_.latency += number(run.alone.passes[0].cycles);
    if (run.stage->part.count > 1) {
      has_main_ = true;
      beside(i, number(steady) + number(run.link_cycles));
      sum_.latency += number(run.link_cycles);
      return;
    }
    if (role == Role::text_encoder) {
      if (m_.prompt_per_frame) on_the_cores_time(number(together_) * number(steady));
      return;
    }
    if (role == Role::network) {
      has_main_ = true;
      sum_.frames *= run.schedule.active_cores;
    }
    beside(i, number(together_) * number(steady));
  }

  void on_the_cores_time(const Filled& cycles) {
    sum_.period = largest(one_of_) + cycles;
    one_of_ = {sum_.period};
  }

  const std::vector<ExplainedStage>& stages_;
  const Machine& m_;
  FrameCycles sum_;
  std::int64_t together_ = 1;  // frames that the cores take in at once
  std::vector<Filled> one_of_;
  bool has_main_ = false;
};

}  // namespace

std::vector<FilledTerm> bound_terms(const StageRun& run) {
  const Machine& m = run.machine;
  const Program& program = run.stage->program;
  std::array<std::int64_t, 3> macs{}, in_memory{};  // cycles of one MAC
  for (std::size_t c = 0; c < run.costs.size(); ++c) {
    if (!run.costs[c].plan.nest) continue;
    const auto family = at(program.classes[c].work.family);
    macs[family] += mac_cycles(run.costs[c]) * run.uses.of[c];
    in_memory[family] += run.costs[c].memory_cycles * run.uses.of[c];
  }
  std::vector<Filled> arrays;
  Filled sum;
  std::string names;
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul}) {
    const ArrayLanes lanes = array_lanes(family, m);
    const auto place = at(family);
    if (macs[place] == 0 && in_memory[place] == 0) continue;
    arrays.push_back(ceiling(number(macs[place]), lanes.rows * lanes.channels * lanes.sum) +
                     number(in_memory[place]));
    sum += arrays.back();
    names += (names.empty() ? "" : ", ") + std::string(array_names[place]);
  }
  const bool beside = has_pairs(m) && m.mac_sharing == MacSharing::separate;
  const Filled cycles = beside ? largest(arrays) : sum;
  const bool in_place = weights_in_place(m, run.stage->role);
  const std::int64_t distinct = program.distinct_weight_bytes.value;
  const Filled weights =
      in_place || distinct <= m.psram_bytes ? Filled() : number(distinct) - number(m.psram_bytes);
  const Filled crossing =
      number(run.schedule.active_cores) * (number(program.input_bytes.value) + number(program.output_bytes.value));
  const Filled bytes = weights + crossing;
  const auto agreed = [](const Filled& f, std::int64_t value) {
    return f.value() == value ? f.text() : std::string();
  };
  const std::int64_t least = bound_dram_bytes(*run.stage, run.schedule.active_cores, m);
  const std::string crossings = "active cores x (in + out)";
  return {{"bound_cycles", "docs/model/frames.md#bounds", bound_symbols(run, m, names),
           agreed(cycles, run.work.bound_cycles), run.work.bound_cycles},
          {"bound_dram_bytes", "docs/model/frames.md#bounds",
           in_place ? crossings : "max(0, distinct weights - psram_bytes) + " + crossings, agreed(bytes, least),
           least}};
}

FrameTerms frame_terms(const std::vector<ExplainedStage>& stages, const Machine& m, const MetricValues& metrics) {
  const FrameCycles cycles = Adding(stages, m).all();
  const Hertz clock(static_cast<double>(m.core_clock_mhz) * 1e6);
  const std::int64_t frames = cycles.frames * m.batch;
  const bool period_agrees = static_cast<double>(frames) / (Cycles(cycles.period.value()) / clock).value ==
                             metrics[Metric::throughput_fps];
  const bool latency_agrees = (Cycles(cycles.latency.value()) / clock).value == metrics[Metric::latency_s];
  const bool crossed = has_crossbar(m);
  return {{{frames == 1 ? "period" : fmt::format("period of {} frames", frames), "docs/model/frames.md",
            crossed ? "max(T x step + link, N x encoder, N x decoder) + N x text encoder, if prompt_per_frame"
                    : "max(s x step + link, encoder, decoder) + text encoder, if prompt_per_frame",
            period_agrees ? cycles.period.text() : std::string(), cycles.period.value()},
           {"latency", "docs/model/frames.md",
            crossed ? "text encoder + encoder + T passes from cold + link + decoder"
                    : "text encoder + encoder + T passes from cold + active cores x link + decoder",
            latency_agrees ? cycles.latency.text() : std::string(), cycles.latency.value()}},
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
