// Instructions executed alone, beside their graphs.
#include "core/explore/validate/validate_tensors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>

#include "core/base/code_runs.h"
#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/numbers/formats.h"
#include "core/explore/validate/validate.h"
#include "core/explore/validate/validate_alone.h"
#include "core/program/kinds.h"

namespace sdip {
namespace {

/// Bits of a floating format's fraction, and the exponent of its least normal number.
struct Fraction {
  int bits = 23, least_exponent = -126;
};
Fraction fraction_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp16:
      return {10, -14};
    case NumberFormat::bf16:
      return {7, -126};
    case NumberFormat::fp16_e6m9:
      return {9, -30};
    case NumberFormat::fp8_e4m3:
      return {3, -6};
    case NumberFormat::fp8_e5m2:
      return {2, -14};
    default:
      return {};
  }
}

/// The distance between neighbours of a format at a magnitude.
double step_of(NumberFormat format, double magnitude, float scale) {
  if (needs_scale(format)) return static_cast<double>(scale);
  if (!is_floating(format)) return static_cast<double>(decoded(format, 1));
  const Fraction fraction = fraction_of(format);
  int exponent = fraction.least_exponent;
  if (magnitude > 0 && std::isfinite(magnitude)) exponent = std::max(exponent, std::ilogb(magnitude));
  return std::ldexp(1.0, exponent - fraction.bits);
}

/// The format that the arithmetic rounds results of this type to.
NumberFormat format_of(ElementType type) {
  if (type == ElementType::float16) return NumberFormat::fp16;
  return type == ElementType::bfloat16 ? NumberFormat::bf16 : NumberFormat::fp32;
}

/// As a memory in that format holds it: with infinities where it is the tensor's own.
void round_to(Tensor& tensor, NumberFormat format, const WeightScale& s) {
  const std::int64_t zero = s.zero.value_or(0);
  const bool own = exec::holds(format, tensor.type);
  for (double& x : tensor.floats) {
    const std::uint32_t code = encoded_kept(format, static_cast<float>(x), {s.scale, zero}, own);
    x = static_cast<double>(decoded(format, code, s.scale, zero));
  }
}

WeightScale scale_of(const ActivationScales& scales, ValueId v) {
  const auto found = scales.find(v);
  return found == scales.end() ? WeightScale() : found->second;
}

/// The format in which the machine keeps a value.
NumberFormat kept_in(const Value& value, const Machine& machine) {
  return value.format.value_or(machine.activation_format);
}

double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (const double x : tensor.floats)
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  return largest;
}

/// The weights as `.weight` has them; what is no weight there (small constants, shapes) as the model has it.
StoredTensors written_weights(CompiledStage& stage, const Machine& machine, const StoredTensors& stored,
                              std::vector<std::byte>& bytes) {
  const WeightSource source = [&](const Value& value) {
    const bool known = !is_floating(value.operand.type) && value.operand.value.has_value();
    const auto tensor = known ? value.operand.value : stored(value);  // the executor takes known integers, too
    if (!tensor) throw Error("weights_absent", value.name, "the weight '" + value.name + "' has no values");
    std::vector<float> numbers(tensor->floats.begin(), tensor->floats.end());
    for (const std::int64_t x : tensor->ints) numbers.push_back(static_cast<float>(x));
    return numbers;
  };
  const WrittenWeights written = write_weight_file(stage, machine, source, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  for (std::size_t i = 0; i < written.scales.size(); ++i) stage.program.instructions[i].scales = written.scales[i];
  stage.program.stored_weight_bytes = Bytes(std::ssize(bytes));  // lookup tables stand there whole
  auto file = std::make_shared<const WeightFile>(read_weight_file(stage, machine, bytes));
  return [file, stored](const Value& value) {
    auto tensor = stored_in(*file)(value);
    return tensor ? tensor : stored(value);
  };
}

/// The graph with every float weight that is fetched, by the tested instruction or by the one whose further result
/// it copies, asked for, even where its values stand in the graph or nodes make it: `.weight` has it in another
/// format. Integers stand there as they are, unless pruned.
std::shared_ptr<const Graph> asking_for(const Graph& graph, const CompiledStage& stage, const Machine& machine) {
  Graph asking = graph;
  std::set<std::string> fetched;
  for (const Instruction& instruction : stage.program.instructions)
    for (const ValueId w : instruction.weights) fetched.insert(stage.graph->values[w].name);
  for (Value& value : asking.values) {
    const bool as_it_is = !is_floating(value.operand.type) && machine.sparsity == Sparsity::dense;
    if (as_it_is || !fetched.contains(value.name)) continue;
    value.operand.value.reset();
    value.bytes = WeightBytes{};
    value.producer = none;
  }
  std::erase_if(asking.nodes, [&](Node& node) {  // one that makes others, too, no longer makes what is asked for
    for (ValueId& v : node.outputs)
      if (v != none && asking.values[v].producer == none) v = none;
    return std::ranges::all_of(node.outputs, [](ValueId v) { return v == none; });
  });
  remove_dead(asking);
  return std::make_shared<const Graph>(std::move(asking));
}

/// Scalars in registers stay as they are.
bool in_memory(const CompiledStage& stage, ValueId v) {
  for (const Instruction& instruction : stage.program.instructions)
    for (const PlacedOperand& source : instruction.sources)
      if (source.value == v) return source.place != Place::scalar;
  return false;
}

/// The format in which the instruction keeps its sums.
NumberFormat sums_in(const AloneInstruction& one) {
  return machine_for(one.stage.program.classes.back(), one.machine).accumulator_format;
}

/// Rounds what an instruction before the tested one made, which lies in a memory between them. The reference and
/// `scales` must outlive it.
ChangeResult rounding_of_made(const CompiledStage& stage, const Machine& machine, const Graph& reference,
                              const ActivationScales& scales) {
  std::map<std::string, std::pair<NumberFormat, WeightScale>> held;
  for (const Instruction& instruction : stage.program.instructions) {
    const ValueId v = instruction.destination;
    if (&instruction == &stage.program.instructions.back() || v == none || is_scalar(stage.graph->values[v]))
      continue;
    const Value& value = stage.graph->values[v];
    held[value.name] = {kept_in(value, machine), scale_of(scales, v)};
  }
  return [held, &reference](const Node& node, std::size_t output, Tensor& made) {
    const auto found = held.find(reference.values[node.outputs[output]].name);
    if (found != held.end()) round_to(made, found->second.first, found->second.second);
  };
}

/// Numbers with each a few last places of the format more or less.
std::vector<Tensor> nearly(std::vector<Tensor> tensors, NumberFormat format, std::mt19937_64& engine) {
  const double share = 64 * step_of(is_floating(format) ? format : NumberFormat::fp32, 1, 1);
  for (Tensor& tensor : tensors)
    for (double& x : tensor.floats) x *= 1 + share * (static_cast<double>(engine() >> 11) * 0x1p-52 - 1);
  return tensors;
}

/// How far each element of a graph's result moves when what its nodes make between is off by up to what is allowed
/// there: all more, all less, and mixed, then with inputs that are nearly the same, too: sums that cancel.
std::vector<double> moved_by_rounding(const Graph& graph, const std::vector<Tensor>& inputs,
                                      const StoredTensors& stored, const Tensor& exact, NumberFormat sums,
                                      std::int64_t tiles, const ChangeResult& as_held, const Stop& stop) {
  constexpr int mixed = 6;
  std::mt19937_64 engine(1);
  double least = 1, most = 1;  // of the share of what is allowed
  const auto change = [&](const Node& node, std::size_t output, Tensor& made) {
    if (std::ranges::find(graph.outputs, node.outputs[output]) != graph.outputs.end()) return;
    const double step = allowed_difference(made, format_of(made.type), sums, tiles, 1);
    for (double& x : made.floats)
      if (std::isfinite(x)) x += step * (least + (most - least) * static_cast<double>(engine() >> 11) * 0x1p-53);
    as_held(node, output, made);
  };
  const std::vector<Tensor> outputs = {exact};
  std::vector<Tensor> near = inputs;
  std::vector<double> moved = moved_by(graph, near, stored, outputs, change, 1, stop).at(0);
  const auto add = [&](double from, double to) {
    least = from;
    most = to;
    const std::vector<double> other = moved_by(graph, near, stored, outputs, change, 1, stop).at(0);
    std::ranges::transform(moved, other, moved.begin(), [](double a, double b) { return std::max(a, b); });
  };
  add(-1, -1);
  for (int i = 0; i < mixed; ++i) {
    near = nearly(inputs, sums, engine);
    add(-1, 1);
  }
  return moved;
}

/// Compares one instruction. Throws what running and computing it throw.
ComparedTensor run_alone(AloneInstruction one, const StoredTensors& stored, const TensorOptions& given) {
  const Machine& machine = one.machine;
  const Graph& graph = *one.stage.graph;
  std::vector<Tensor> inputs;
  for (const ValueId v : graph.inputs)
    inputs.push_back(seeded_tensor(graph.values[v].operand, given.seed, inputs.size()));
  const ActivationScales scales = activation_scales(graph, machine, inputs, stored, given.stop);
  ExecuteOptions options;
  options.scales = scales;
  options.charged = options.sums_of_inputs = true;
  options.stop = given.stop;
  const Run run = execute(one.stage, machine, inputs, stored, options);
  std::map<std::string, Tensor> by_name;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (in_memory(one.stage, graph.inputs[i]))
      round_to(inputs[i], kept_in(graph.values[graph.inputs[i]], machine), scale_of(scales, graph.inputs[i]));
    by_name[graph.values[graph.inputs[i]].name] = inputs[i];
  }
  std::vector<std::byte> bytes;
  const StoredTensors written = written_weights(one.stage, machine, stored, bytes);
  const auto reference = asking_for(graph, one.stage, machine);
  std::vector<Tensor> held;
  for (const ValueId v : reference->inputs) held.push_back(by_name.at(reference->values[v].name));
  const ChangeResult as_held = rounding_of_made(one.stage, machine, *reference, scales);
  const Tensor exact = compute(*reference, held, written, given.stop, as_held).at(0);
  Tensor expected = exact;
  const WeightScale scale = scale_of(scales, graph.outputs[0]);
  const NumberFormat kept = kept_in(graph.values[graph.outputs[0]], machine);
  const bool no_numbers =
      !expected.floats.empty() && std::ranges::all_of(expected.floats, [](double x) { return std::isnan(x); });
  if (no_numbers)
    throw Error("not_computable", one.stage.name, "its graph's results are all NaN on these inputs and weights");
  round_to(expected, kept, scale);
  const InstructionClass& c = one.stage.program.classes.back();
  const std::int64_t tiles = ceil_div(c.work.nest.in_channels, std::max<std::int64_t>(1, c.mapping.tile_sums));
  const NumberFormat sums = sums_in(one);
  const double allowed = allowed_difference(expected, kept, sums, tiles, scale.scale);
  ComparedTensor compared = compare_tensors(run.outputs[0], expected, allowed);
  if (compared.differing == 0) return compared;
  const auto moved = moved_by_rounding(*reference, held, written, exact, sums, tiles, as_held, given.stop);
  return compare_tensors(run.outputs[0], expected, allowed, moved);
}

LayerTensors layer_of(const CompiledStage& stage, std::int32_t number) {
  const Instruction& instruction = stage.program.instructions[number];
  return {number, instruction.name, instruction.mnemonic, "", "", 0, false, {}};
}

/// The greatest magnitude that a number of a code format stands for, in steps.
double most_steps(NumberFormat format) {
  return std::ldexp(1.0, static_cast<int>(bits_of(format)) - (needs_zero_point(format) ? 0 : 1));
}

/// Whether sums of so many products, and a bias that takes as much again, may leave the accumulator; one without
/// signs has no place for what is below 0.
bool may_wrap(const AloneInstruction& one) {
  const InstructionClass& c = one.stage.program.classes.back();
  const Machine m = machine_for(c, one.machine);
  const double product =
      most_steps(m.activation_format) * std::max(most_steps(m.activation_format), most_steps(m.weight_format));
  const auto may = [&](const Work& work) {
    const LoopNest& n = work.nest;
    const double sums = static_cast<double>(n.in_channels) * static_cast<double>(n.kernel_h * n.kernel_w);
    return !is_nest(work.family) || needs_zero_point(m.accumulator_format) ||
           2 * sums * product >= most_steps(m.accumulator_format);
  };
  return may(c.work) || std::ranges::any_of(c.parts, [&](const Part& part) { return may(part.work); });
}

/// Tile buffers for sums of 32 bits, behind all that the machine has.
void widen_buffers(AloneInstruction& one) {
  Machine& m = one.machine;
  const std::int64_t times = ceil_div(32, bits_of(sums_in(one)));
  for (Instruction& instruction : one.stage.program.instructions) {
    const std::int64_t end = is_unified(m) ? unified_bytes(m) : m.dsram_bytes;
    instruction.write_tiles = {Bytes(end), Bytes(times * instruction.write_tiles.bytes.value)};
    m.dsram_bytes += instruction.write_tiles.bytes.value;
  }
}

/// Whether a layer that differs passes where sums do not wrap: then its accumulator is too narrow for them.
bool overflows(AloneInstruction one, const StoredTensors& stored, const TensorOptions& options) {
  if (is_floating(sums_in(one)) || !may_wrap(one)) return false;
  widen_buffers(one);
  one.machine.accumulator_format = NumberFormat::fp32;
  if (auto& own = one.stage.program.classes.back().formats) own->accumulators.reset();
  return run_alone(std::move(one), stored, options).differing == 0;
}

void validate_layer(StageTensors& result, LayerTensors layer, AloneInstruction one, const StoredTensors& stored,
                    const TensorOptions& options) {
  const ExecutionWork work = execution_work(one.stage);
  layer.operations = work.operations;
  if (options.affordable && !options.affordable(work.operations, work.bytes)) {
    layer.left_out = "beyond the time or memory allowed";
  } else {
    try {
      layer.result = run_alone(one, stored, options);
      layer.overflows = layer.result.differing > 0 && overflows(std::move(one), stored, options);
      ++result.compared;
      result.overflows += layer.overflows;
      result.differences += layer.result.differing > 0 && !layer.overflows;
    } catch (const Error& error) {
      layer.result = {};  // of one that may have wrapped it is not known whether it did
      const bool failed = error.code == "execution_failed";  // it read what is not there: no limit of ours
      (failed ? layer.failure : layer.left_out) = is_cancelled(error) ? "out of time" : error.what();
      result.compared += failed;
      result.differences += failed;
    }
  }
  result.layers.push_back(std::move(layer));
}

}  // namespace

Tensor seeded_tensor(const Operand& operand, std::uint64_t seed, std::size_t place) {
  std::mt19937_64 engine(seed + 0x9e3779b97f4a7c15U * (place + 1));
  Tensor tensor = zero_tensor(operand.type, operand.shape);
  for (double& x : tensor.floats) x = rounded(operand.type, static_cast<double>(engine() >> 40) * 0x1p-23 - 1);
  for (std::int64_t& x : tensor.ints) x = static_cast<std::int64_t>(engine() >> 63);
  return tensor;
}

double allowed_difference(const Tensor& expected, NumberFormat kept, NumberFormat accumulator, std::int64_t sums,
                          float scale) {
  if (!is_floating(expected.type)) return 0;
  const double largest = largest_of(expected);
  const double stored = step_of(kept, largest, scale), reach = needs_scale(kept) ? largest + stored / 2 : largest;
  const double typed = step_of(format_of(expected.type), reach, 1);
  // Results that are a step of the type apart may be one of the scale more where the scale's steps are the finer
  // ones.
  double step = needs_scale(kept) && stored < typed ? stored + typed : std::max(stored, typed);
  // Multiples of a scale are rounded to fp32: half an ulp each, of which one may be twice as large as the other.
  if (needs_scale(kept)) step += 2 * step_of(NumberFormat::fp32, largest, 1);
  if (!is_floating(accumulator)) return step;
  return step + (64 + static_cast<double>(sums) / 2) * step_of(accumulator, largest, 1);
}

ComparedTensor compare_tensors(const Tensor& executed, const Tensor& expected, double allowed,
                               std::span<const double> moved) {
  ComparedTensor result;
  result.allowed = allowed;
  const bool floats = is_floating(expected.type);
  const auto count = floats ? expected.floats.size() : expected.ints.size();
  check((floats ? executed.floats.size() : executed.ints.size()) == count, "compare_tensors: of one size");
  result.elements = static_cast<std::int64_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double got = floats ? executed.floats[i] : static_cast<double>(executed.ints[i]);
    const double want = floats ? expected.floats[i] : static_cast<double>(expected.ints[i]);
    const bool same =
        floats ? got == want || (std::isnan(got) && std::isnan(want)) : executed.ints[i] == expected.ints[i];
    if (same) continue;
    const double error = std::fabs(got - want);
    if (std::isfinite(error)) result.largest_error = std::max(result.largest_error, error);
    if (floats && error <= allowed) continue;
    if (!moved.empty() && moved[i] > 0 && (std::isinf(moved[i]) || error <= allowed + 4 * moved[i])) {
      ++result.unsettled;
      continue;
    }
    ++result.differing;
    if (!result.first) result.first = TensorDifference{static_cast<std::int64_t>(i), got, want};
  }
  return result;
}

StageTensors validate_tensors(const CompiledStage& stage, const Machine& machine, const StoredTensors& stored,
                              const TensorOptions& options) {
  StageTensors result;
  result.stage = stage.name;
  std::map<std::int32_t, std::int32_t> first;  // instruction of each class
  for (const std::int32_t i : chosen_instructions(stage, options.layers))
    first.emplace(stage.program.instructions[i].instruction_class, i);
  result.classes = std::ssize(first);
  struct Ready {
    std::int32_t number;
    double work;
  };
  std::vector<Ready> ready;
  for (const auto& [number, instruction] : first) {
    LayerTensors layer = layer_of(stage, instruction);
    std::string reason;
    if (const auto one = alone(stage, machine, at(instruction), reason)) {
      const ExecutionWork work = execution_work(one->stage);
      ready.push_back({instruction, work.operations + work.bytes});
      continue;
    }
    layer.left_out = reason;
    result.layers.push_back(std::move(layer));
  }
  std::ranges::stable_sort(ready, {}, &Ready::work);
  for (const Ready& one : ready) {
    std::string reason;
    validate_layer(result, layer_of(stage, one.number), *alone(stage, machine, at(one.number), reason), stored,
                   options);
  }
  return result;
}

}  // namespace sdip
