// `.weight` written and read back: the same numbers, and a program that runs on them alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "core/machine/scale_groups.h"
#include "core/program/form/parse.h"
#include "tests/core/exec/random_machine.h"
#include "tests/core/exec/written_out.h"

namespace sdip {
namespace {

struct Filed {
  CompiledStage stage;  // with its scales
  std::vector<std::byte> bytes;
};

Filed filed(const CompiledStage& stage, const Machine& machine, const MadeNetwork& network) {
  Filed f{stage, {}};
  const WeightSource source = [&](const Value& value) {
    const std::optional<Tensor> tensor = network.stored(value);
    if (!tensor) throw Error("weights_absent", value.name, "none");
    std::vector<float> floats;
    for (const double x : tensor->floats) floats.push_back(static_cast<float>(x));
    for (const std::int64_t x : tensor->ints) floats.push_back(static_cast<float>(x));
    return floats;
  };
  const WrittenWeights written = write_weight_file(stage, machine, source, [&](std::span<const std::byte> piece) {
    f.bytes.insert(f.bytes.end(), piece.begin(), piece.end());
  });
  for (std::size_t i = 0; i < written.scales.size(); ++i)
    f.stage.program.instructions[i].scales = written.scales[i];
  return f;
}

void draw_weights(Draw& draw, Machine& m, MadeNetwork& network) {
  m.weight_format = static_cast<NumberFormat>(draw.between(0, std::ssize(number_formats) - 1));
  m.accumulator_format = NumberFormat::int32;
  m.scale_granularity = draw.one_in(2) ? ScaleGranularity::tensor : ScaleGranularity::channel;
  if (draw.one_in(3)) m.scale_granularity = static_cast<ScaleGranularity>(draw.between(2, 4));
  const bool groups = m.scale_granularity >= ScaleGranularity::group_32 || is_block_format(m.weight_format);
  if (groups) m.accumulator_format = NumberFormat::fp32;
  if (groups || m.scale_granularity >= ScaleGranularity::group_32) m.accumulator_folds = m.weight_registers = 0;
  if (draw.one_in(2)) {
    m.sparsity = draw.one_in(3) || groups ? Sparsity::gating : Sparsity::skipping;
    m.weight_density = Decimal{draw.between(10, 100)};
    if (draw.one_in(2)) m.sparsity_group = draw.between(2, 9);
  }
  if (!draw.one_in(3)) return;
  m.weight_compression = Decimal{draw.between(101, 120)};
  for (auto& [name, tensor] : network.weights)  // few different numbers, so that they shrink
    for (double& x : tensor.floats) x = std::fabs(x) < 0.2 ? 0 : std::copysign(0.25, x);
}

/// Scalars stand in the program, as an importer keeps them.
void keep_scalars(MadeNetwork& network) {
  for (Value& value : network.graph.values)
    if (value.kind == ValueKind::weight && element_count(value.operand.shape) == 1)
      if (const auto tensor = network.stored(value)) value.operand.value = tensor;
}

struct Seen {
  std::set<NumberFormat> formats;
  std::uint64_t run = 0, packed = 0, sparse = 0, grouped = 0, scaled = 0, refused = 0, own = 0, weights = 0;
};

/// Rules for a third of the nodes: views and constants, of which none may speak, are left out.
Application compiled_with_rules(Draw& draw, Machine& machine, const MadeNetwork& network) {
  const Application plain = compiled_on(machine, network, Role::network);
  CompileOptions options;
  for (const Instruction& instruction : plain.stages.at(0).program.instructions) {
    if (instruction.weights.empty() || draw.one_in(3)) continue;
    FormatRule rule;
    rule.pattern = instruction.name;
    rule.weights = static_cast<NumberFormat>(draw.between(0, std::ssize(number_formats) - 1));
    const bool sums_floats = machine.accumulator_format == NumberFormat::fp32;
    if (is_block_format(*rule.weights) && !sums_floats) rule.weights = NumberFormat::fp16_e6m9;
    if (machine.sparsity != Sparsity::dense && draw.one_in(2)) rule.density_hundredths = draw.between(10, 100);
    options.format_rules.push_back(std::move(rule));
  }
  Workload workload;
  workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(network.graph), {}});
  try {
    return compile(workload, machine, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "format_unmatched") << error.what();  // named after a node that a pass made
    return plain;
  }
}

Machine machine_of(const Filed& f, const Instruction& instruction, const Machine& machine) {
  return machine_for(f.stage.program.classes[static_cast<std::size_t>(instruction.instruction_class)], machine);
}

void expect_read_as_written(const Filed& f, const Machine& machine, const MadeNetwork& network, Seen& seen) {
  const WeightFile file = read_weight_file(f.stage, machine, f.bytes);
  for (std::size_t i = 0; i < f.stage.program.instructions.size(); ++i) {
    const Instruction& instruction = f.stage.program.instructions[i];
    if (instruction.weight_bytes.value == 0) continue;
    const std::vector<CircuitWeight> read = weights_of(file, i);
    ASSERT_EQ(read.size(), instruction.weights.size());
    for (std::size_t w = 0; w < read.size(); ++w) {
      const std::optional<Tensor> want =
          written_weight(network, f.stage, instruction, w, machine_of(f, instruction, machine));
      if (!want) continue;
      ++seen.weights;
      EXPECT_EQ(read[w].numbers.floats, want->floats) << instruction.name << " weight " << w;
      EXPECT_EQ(read[w].numbers.ints, want->ints) << instruction.name << " weight " << w;
    }
  }
}

TEST(weight_file, is_read_as_it_was_quantised_and_runs_without_the_model_s_weights) {
  const std::uint64_t pairs = pair_count(800);
  Seen seen;
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 500000);
    MadeNetwork network = random_network(draw, draw.between(3, 15));
    Machine machine = random_machine(draw);
    machine.in_memory_weights = InMemoryWeights::off;  // rules of layers say floats
    draw_weights(draw, machine, network);
    keep_scalars(network);
    const Application application =
        draw.one_in(2) ? compiled_with_rules(draw, machine, network) : compiled_on(machine, network, Role::network);
    if (!application.feasible) continue;
    Filed f;
    try {
      f = filed(application.stages[0], machine, network);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code == "not_compressible" || error.code == "not_modelled") << error.what();
      ++seen.refused;
      continue;
    }
    ++seen.run;
    seen.formats.insert(machine.weight_format);
    seen.own += std::ranges::any_of(f.stage.program.classes, [](const InstructionClass& c) { return !!c.formats; });
    seen.packed += machine.weight_compression.hundredths > 100 ? 1U : 0U;
    seen.sparse += machine.sparsity == Sparsity::skipping ? 1U : 0U;
    seen.grouped += machine.sparsity == Sparsity::skipping && machine.sparsity_group > 0 ? 1U : 0U;
    seen.scaled += scale_group_of(machine) > 0 ? 1U : 0U;
    expect_read_as_written(f, machine, network, seen);
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const sdip::Run want = execute(application.stages[0], machine, network.inputs, stored);
    const sdip::Run got = execute(f.stage, machine, network.inputs, read_weight_file(f.stage, machine, f.bytes));
    for (std::size_t i = 0; i < want.outputs.size(); ++i) {
      EXPECT_EQ(got.outputs[i].floats, want.outputs[i].floats);
      EXPECT_EQ(got.outputs[i].ints, want.outputs[i].ints);
    }
  }
  EXPECT_EQ(seen.formats.size(), std::size(number_formats));
  EXPECT_GT(seen.run, pairs / 2);
  EXPECT_GT(seen.packed, pairs / 20);
  EXPECT_GT(seen.sparse, pairs / 20);
  EXPECT_GT(seen.grouped, pairs / 40);
  EXPECT_GT(seen.scaled, pairs / 5);
  EXPECT_LT(seen.refused, pairs / 4);
  EXPECT_GT(seen.own, pairs / 5);
  EXPECT_GT(seen.weights, 2 * seen.run);
}

/// A convolution with a bias, in tiles, and a product.
struct Example {
  MadeNetwork network;
  Machine machine;
  Filed filed_program;
};
Example example(NumberFormat format, ScaleGranularity granularity, std::int64_t group = 0) {
  Draw draw(3);
  NetworkMaker make(draw);
  const ValueId x = make.input({1, 24, 4, 4});
  const ValueId h = make.node("Conv", {x, make.weight({64, 24, 3, 3}, 72), make.weight({64}, 1)},
                              {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  const ValueId y = make.node("MatMul", {h, make.weight({4, 12}, 4)});
  Example e{make.finish({y}, false), Machine(), {}};
  for (auto& [name, tensor] : e.network.weights)
    for (double& value : tensor.floats) value = std::round(value * 8) / 8;
  e.machine.weight_format = format;
  e.machine.scale_granularity = granularity;
  e.machine.sparsity = Sparsity::skipping;
  e.machine.weight_density = Decimal{60};
  e.machine.sparsity_group = group;
  e.machine.weight_compression = Decimal{group > 0 ? 100 : 110};
  e.machine.psram_bytes = 6000;
  const Application application = compiled_on(e.machine, e.network, Role::network);
  e.filed_program = filed(application.stages.at(0), e.machine, e.network);
  return e;
}

std::string code_of(const Filed& f, const Machine& machine, std::span<const std::byte> bytes) {
  try {
    const WeightFile file = read_weight_file(f.stage, machine, bytes);
    for (std::size_t i = 0; i < f.stage.program.instructions.size(); ++i) weights_of(file, i);
  } catch (const Error& error) {
    return error.code;
  }
  return "none";
}

TEST(weight_file, with_other_bytes_is_other_numbers_or_refused) {
  std::uint64_t refused = 0, read = 0;
  for (const auto granularity : {ScaleGranularity::tensor, ScaleGranularity::channel}) {
    const Example e = example(NumberFormat::uint4, granularity);
    const Filed& f = e.filed_program;
    ASSERT_EQ(code_of(f, e.machine, f.bytes), "none");
    Draw draw(4);
    for (int i = 0; i < 3000; ++i) {
      std::vector<std::byte> bytes = f.bytes;
      for (std::int64_t changes = draw.between(1, 4); changes > 0; --changes)
        bytes[static_cast<std::size_t>(draw.between(0, std::ssize(bytes) - 1))] =
            static_cast<std::byte>(draw.between(0, 255));
      const std::string code = code_of(f, e.machine, bytes);
      EXPECT_TRUE(code == "none" || code == "weight_file_invalid") << code;
      ++(code == "none" ? read : refused);
    }
    for (std::size_t size = 0; size < f.bytes.size(); size += 7)
      EXPECT_EQ(code_of(f, e.machine, std::span(f.bytes).first(size)), "weight_file_invalid");
    std::vector<std::byte> longer = f.bytes;
    longer.push_back(std::byte{0});
    EXPECT_EQ(code_of(f, e.machine, longer), "weight_file_invalid");
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(read, 100U);
}

TEST(weight_file, of_a_pattern_with_places_that_are_none_is_refused) {
  const Example e = example(NumberFormat::int8, ScaleGranularity::tensor, 5);  // 3 of 5: places of 3 bits
  const Filed& f = e.filed_program;
  ASSERT_EQ(code_of(f, e.machine, f.bytes), "none");
  std::uint64_t refused = 0, read = 0;
  for (std::size_t at = 0; at < f.bytes.size(); ++at) {
    std::vector<std::byte> bytes = f.bytes;
    bytes[at] ^= std::byte{0x24};
    const std::string code = code_of(f, e.machine, bytes);
    EXPECT_TRUE(code == "none" || code == "weight_file_invalid") << code;
    ++(code == "none" ? read : refused);
  }
  // Behind each 24 bits of values stand 9 of places: nearly every change of these is no place in order.
  EXPECT_GT(refused, f.bytes.size() / 5);
  EXPECT_GT(read, f.bytes.size() / 2);
}

TEST(weight_file, of_a_program_with_other_scales_is_refused) {
  const Example e = example(NumberFormat::uint8, ScaleGranularity::tensor);
  Filed f = e.filed_program;
  InstructionScales& scales = f.stage.program.instructions.at(0).scales;
  const InstructionScales right = scales;
  const auto expect = [&](InstructionScales wrong, const char* code) {
    scales = std::move(wrong);
    EXPECT_EQ(code_of(f, e.machine, f.bytes), code);
    scales = right;
  };
  expect({}, "weights_absent");
  expect({right[0]}, "weight_file_invalid");
  expect({std::nullopt, right[1]}, "weight_file_invalid");
  expect({WeightScale{0.5F}, right[1]}, "weight_file_invalid");  // no zero point
  for (const float scale : {0.0F, -1.0F, std::nanf(""), HUGE_VALF})
    expect({WeightScale{scale, 3}, right[1]}, "weight_file_invalid");
  EXPECT_EQ(code_of(f, e.machine, f.bytes), "none");
}

TEST(weight_file, goes_with_the_text_and_the_binary_form_of_its_program) {
  const Example e = example(NumberFormat::uint8, ScaleGranularity::channel);
  const Filed& f = e.filed_program;
  const sdip::Run want =
      execute(f.stage, e.machine, e.network.inputs, [&](const Value& v) { return e.network.stored(v); });
  const std::string binary = write_graph_binary(f.stage);
  for (const CompiledStage& stage :
       {parse_graph_text(graph_text(f.stage)), read_graph_binary(std::as_bytes(std::span(binary)))}) {
    const sdip::Run got = execute(stage, e.machine, e.network.inputs, read_weight_file(stage, e.machine, f.bytes));
    EXPECT_EQ(got.outputs[0].floats, want.outputs[0].floats);
  }
}

/// Blocks of a convolution in tiles of sums and of a product, in files and in both forms of the program.
TEST(weight_file, of_groups_goes_with_the_text_and_the_binary_form_of_its_program) {
  std::set<std::int64_t> tiles;
  for (const auto& [format, granularity] :
       std::map<NumberFormat, ScaleGranularity>{{NumberFormat::uint4, ScaleGranularity::group_32},
                                                {NumberFormat::int8, ScaleGranularity::group_64},
                                                {NumberFormat::nvfp4, ScaleGranularity::tensor},
                                                {NumberFormat::nf4, ScaleGranularity::channel},
                                                {NumberFormat::mxfp6, ScaleGranularity::group_128}}) {
    Draw draw(3);
    NetworkMaker make(draw);
    const ValueId x = make.input({1, 80, 4, 4});
    const ValueId h = make.node("Conv", {x, make.weight({32, 80, 3, 3}, 72), make.weight({32}, 1)},
                                {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
    const ValueId y = make.node("MatMul", {h, make.weight({4, 12}, 4)});
    const MadeNetwork network = make.finish({y}, false);
    Machine machine;
    machine.weight_format = format;
    machine.scale_granularity = granularity;
    machine.psram_bytes = format == NumberFormat::nf4 ? 20000 : 400;
    const Application application = compiled_on(machine, network, Role::network);
    const Filed f = filed(application.stages.at(0), machine, network);
    tiles.insert(f.stage.program.classes[0].mapping.tile_sums);
    EXPECT_EQ(std::ssize(f.bytes), f.stage.program.stored_weight_bytes.value);
    const sdip::Run want =
        execute(f.stage, machine, network.inputs, [&](const Value& v) { return network.stored(v); });
    const std::string binary = write_graph_binary(f.stage);
    for (const CompiledStage& stage :
         {parse_graph_text(graph_text(f.stage)), read_graph_binary(std::as_bytes(std::span(binary)))}) {
      const sdip::Run got = execute(stage, machine, network.inputs, read_weight_file(stage, machine, f.bytes));
      EXPECT_EQ(got.outputs[0].floats, want.outputs[0].floats) << format_text(format);
    }
    for (std::size_t at = 0; at < f.bytes.size(); at += 41) {
      std::vector<std::byte> bytes = f.bytes;
      bytes[at] ^= std::byte{0xff};
      const std::string code = code_of(f, machine, bytes);
      EXPECT_TRUE(code == "none" || code == "weight_file_invalid") << code;
    }
  }
  EXPECT_GT(tiles.size(), 1U);
}

TEST(weight_file, has_lookup_tables_whole) {
  for (const std::int64_t hundredths : {100, 110}) {
    Draw draw(5);
    NetworkMaker make(draw);
    const ValueId ids = make.input({3}, ElementType::int64);
    const ValueId rows = make.node("Gather", {make.weight({900, 6}, 4), ids});
    const ValueId y = make.node("MatMul", {rows, make.weight({6, 5}, 4)});
    MadeNetwork network = make.finish({y}, false);
    for (auto& [name, tensor] : network.weights)
      for (double& value : tensor.floats) value = std::round(value * 4) / 4;
    network.inputs[0].ints = {0, 899, 77};
    Machine machine;
    machine.weight_format = NumberFormat::int4;
    machine.weight_compression = Decimal{hundredths};
    const Application application = compiled_on(machine, network, Role::network);
    const Filed f = filed(application.stages.at(0), machine, network);
    EXPECT_EQ(std::ssize(f.bytes), f.stage.program.stored_weight_bytes.value);
    const sdip::Run want =
        execute(f.stage, machine, network.inputs, [&](const Value& v) { return network.stored(v); });
    const sdip::Run got = execute(f.stage, machine, network.inputs, read_weight_file(f.stage, machine, f.bytes));
    EXPECT_EQ(got.outputs[0].floats, want.outputs[0].floats);
  }
}

/// Two tables and a product of the rows of both, each in a format of its own; the regions by hand.
TEST(weight_file, has_each_layer_s_weights_in_their_own_format) {
  Draw draw(6);
  NetworkMaker make(draw);
  const ValueId ids = make.input({2}, ElementType::int64);
  const ValueId rows = make.node("Gather", {make.weight({100, 6}, 4), ids});
  const ValueId h = make.node("MatMul", {rows, make.weight({6, 5}, 4)});
  const ValueId y = make.node("MatMul", {h, make.weight({5, 3}, 4)});
  MadeNetwork network = make.finish({y}, false);
  for (auto& [name, tensor] : network.weights)
    for (double& value : tensor.floats) value = std::round(value * 4) / 4;
  network.inputs[0].ints = {99, 7};
  Machine machine;
  const Application plain = compiled_on(machine, network, Role::network);
  CompileOptions options;
  const auto say = [&](std::size_t instruction, NumberFormat format) {
    FormatRule rule;
    rule.pattern = plain.stages[0].program.instructions.at(instruction).name;
    rule.weights = format;
    options.format_rules.push_back(rule);
  };
  say(1, NumberFormat::uint4);
  say(2, NumberFormat::fp32);
  Workload workload;
  workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(network.graph), {}});
  const Application application = compile(workload, machine, options);
  const Filed f = filed(application.stages.at(0), machine, network);
  const auto& instructions = f.stage.program.instructions;
  // fp16 rows of the table; 30 codes of 4 bits; 15 floats; behind them the table's other 98 rows.
  EXPECT_EQ(instructions.at(0).weight_bytes, Bytes(2 * 6 * 2));
  EXPECT_EQ(instructions.at(1).weight_bytes, Bytes(15));
  EXPECT_EQ(instructions.at(2).weight_bytes, Bytes(15 * 4));
  EXPECT_EQ(std::ssize(f.bytes), 24 + 15 + 60 + 98 * 6 * 2);
  EXPECT_TRUE(instructions[0].scales.empty() && instructions[2].scales.empty());
  ASSERT_EQ(instructions[1].scales.size(), 1U);
  EXPECT_TRUE(instructions[1].scales[0].value().zero.has_value());
  for (std::size_t i = 0; i < 15; ++i) {
    std::uint32_t code = 0;
    for (std::size_t b = 0; b < 4; ++b)
      code |= std::to_integer<std::uint32_t>(f.bytes[24 + 15 + 4 * i + b]) << (8 * b);
    const Value& value = f.stage.graph->values[static_cast<std::size_t>(instructions[2].weights.at(0))];
    EXPECT_EQ(static_cast<double>(std::bit_cast<float>(code)), network.stored(value)->floats[i]);
  }
  const std::string binary = write_graph_binary(f.stage);
  const auto stored = [&](const Value& v) { return network.stored(v); };
  const sdip::Run want = execute(application.stages[0], machine, network.inputs, stored);
  for (const CompiledStage& stage :
       {f.stage, parse_graph_text(graph_text(f.stage)), read_graph_binary(std::as_bytes(std::span(binary)))}) {
    const sdip::Run got = execute(stage, machine, network.inputs, read_weight_file(stage, machine, f.bytes));
    EXPECT_EQ(got.outputs[0].floats, want.outputs[0].floats);
  }
  CompiledStage unscaled = f.stage;
  unscaled.program.instructions[1].scales.clear();
  EXPECT_EQ(code_of({unscaled, {}}, machine, f.bytes), "weights_absent");
}

}  // namespace
}  // namespace sdip
