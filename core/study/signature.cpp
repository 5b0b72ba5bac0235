// The signature: every counter of every case, hashed.
#include "core/study/signature.h"

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/sha256.h"
#include "core/study/analysis.h"

namespace sdip {
namespace {

struct Case {
  std::string_view model, preset;
  std::string_view changes;  // JSON over the preset
};

/// Small enough to run in seconds, wide enough that no number of the engine can move unseen.
constexpr Case cases[] = {
    {"tiny-sd", "essay", "{}"},
    {"tiny-sd", "edge", "{}"},
    {"tiny-sd", "stream", "{}"},
    {"tiny-sd", "essay", R"({"guidance": "two_passes", "sampler": "euler", "mode": "image_to_image"})"},
    {"tiny-sd", "essay", R"({"guidance": "off", "sampler": "ddpm", "batch": 2, "cores": 3})"},
    {"tiny-sd", "essay", R"({"weight_format": "int8", "activation_format": "int8", "weight_storage": "resident"})"},
    {"tiny-sd", "essay", R"({"dsram_bytes": 65536, "stackram_bytes": 0, "psram_bytes": 65536})"},
    {"tiny-sd", "essay", R"({"fusion": "pointwise", "transposition": "dynamic", "hoisted_context": true})"},
    {"sd15", "essay", "{}"},
    {"sd15", "edge", R"({"cores": 10, "sequencer": "host"})"},
    {"sd15", "stream", "{}"},
    {"resnet50", "essay", "{}"},
    {"mobilenetv2", "edge", "{}"},
    {"bert-base", "stream", "{}"},
};

class Text {
 public:
  void count(std::int64_t value) { text_ += std::to_string(value) + "\n"; }
  void real(double value) {
    const auto bits =
        std::bit_cast<std::uint64_t>(value == value ? value : std::numeric_limits<double>::quiet_NaN());
    for (int shift = 60; shift >= 0; shift -= 4) text_ += "0123456789abcdef"[(bits >> shift) & 15];
    text_ += "\n";
  }
  void word(std::string_view value) { text_ += std::string(value) + "\n"; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_breakdown(Text& text, const Breakdown& parts) {
  for (const auto& [part, value] : parts) text.word(part), text.real(value);
}

void add_instruction(Text& text, const InstructionCost& cost) {
  for (const auto value : {cost.start, cost.end, cost.stall_weights, cost.stall_activations, cost.stall_program})
    text.count(value.value);
  for (const auto value : cost.busy) text.count(value.value);
  text.count(static_cast<std::int64_t>(cost.limiter));
  for (const auto value :
       {cost.dram_weights, cost.dram_activations_in, cost.dram_activations_out, cost.dram_program,
        cost.dsram_read_side, cost.dsram_write_side, cost.stackram, cost.psram})
    text.count(value.value);
  text.count(cost.macs.value);
  text.real(cost.energy_j);
}

void add_stage(Text& text, const StageReport& stage) {
  text.word(stage.name);
  for (const auto value : {stage.cold_cycles, stage.steady_cycles, stage.bound_cycles, stage.stall_weights,
                           stage.stall_activations, stage.stall_program})
    text.count(value.value);
  for (const auto value :
       {stage.bound_dram_bytes, stage.dram_weights, stage.dram_activations, stage.dram_program, stage.weight_bytes,
        stage.imem_bytes, stage.dsram_peak, stage.stackram_peak, stage.psram_peak})
    text.count(value.value);
  text.count(stage.macs.value);
  text.count(stage.passes_per_frame);
  text.real(stage.energy_j);
  for (const auto& instruction : stage.instructions) add_instruction(text, instruction);
}

void add_case(Text& text, const Workloads& workloads, const Case& one) {
  Machine machine = find_preset(one.preset)->machine;
  assign_json(machine, nlohmann::json::parse(one.changes));
  check_machine(machine);
  const Analysis analysis = analyze(workloads, std::string(one.model), machine);
  text.word(fmt::format("{} {} {}", one.model, one.preset, one.changes));
  text.word(analysis.report.outcome.reason);
  for (const double value : analysis.report.outcome.values) text.real(value);
  add_breakdown(text, analysis.report.energy_j);
  add_breakdown(text, analysis.report.area_mm2);
  add_breakdown(text, analysis.report.latency_s);
  text.count(analysis.report.load.cycles.value);
  for (const auto& stage : analysis.report.stages) add_stage(text, stage);
}

std::string sha256_of(const std::string& text) { return sha256_hex(std::as_bytes(std::span(text))); }

}  // namespace

std::string signature_text() {
  const Workloads workloads = built_in_workloads();
  Text text;
  for (const auto& one : cases) add_case(text, workloads, one);
  return text.take();
}

const std::string& signature() {
  static const std::string once = sha256_of(signature_text());
  return once;
}

std::string devices_signature_text() {
  const Workloads workloads = built_in_workloads();
  Text text;
  const auto work = layered_work(workloads, "tiny-sd", Machine{});
  for (const auto& device : devices()) {
    text.word(device.id);
    if (!can_run(device)) continue;
    const DeviceRun run = run_device(device, work, 4);
    for (const double value : {run.latency_s, run.throughput_fps, run.utilization, run.dram_bytes_per_frame})
      text.real(value);
    for (const DeviceStage& stage : run.stages)
      for (const double value : {stage.pass.compute_s, stage.pass.vector_s, stage.pass.memory_s,
                                 stage.pass.on_chip_s, stage.pass.overhead_s})
        text.real(value);
  }
  return text.take();
}

std::string devices_signature() { return sha256_of(devices_signature_text()); }

}  // namespace sdip
