// Layers in formats of their own: what rules say, where conversions stand, and what becomes of classes and bytes.
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/program/form/format_text.h"
#include "tests/core/program/compiled.h"
#include "tests/core/program/form/round_trip.h"
#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

using testing::ElementsAre;
using enum NumberFormat;

TEST(formats, rules_come_back_as_they_were_said) {
  const auto rules = parse_formats(
      "# three\n\"*conv_in\" activations=fp16\n\nfamily=linear weights=int4 activations=int8\n"
      "family=matmul accumulators=int32",
      "formats.txt");
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(format_rule_text(rules[2]), "family=matmul accumulators=int32");
  EXPECT_EQ(format_rule_text(rules[0]), "\"*conv_in\" activations=fp16");
  EXPECT_EQ(format_rule_text(rules[1]), "family=linear weights=int4 activations=int8");
  EXPECT_EQ(rules[1].line, 4);
}

TEST(formats, densities_come_back_as_they_were_said) {
  const auto rules = parse_formats("family=conv2d density=0.5 weights=int8\n\"a\" dense\n\"b\" density=0.07", "f");
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(format_rule_text(rules[0]), "family=conv2d weights=int8 density=0.5");
  EXPECT_EQ(format_rule_text(rules[1]), "\"a\" density=1");
  EXPECT_EQ(rules[2].density_hundredths, 7);
}

TEST(formats, what_is_no_rule_is_refused_with_line_and_field) {
  for (const char* text :
       {"\"a\"", "\"a\" weights=int5", "family=loop weights=int8", "conv weights=int8",
        "\"a\" weights=int8 weights=int4", "\"a\" sums=fp32", "\"a weights=int8", "\"a\" weights",
        "\"a\" density=0", "\"a\" density=1.01", "\"a\" density", "\"a\" dense density=0.5", "family=vector dense",
        "family=softmax weights=int8 density=0.3", "family=norm density=1", "family=transpose dense"}) {
    SCOPED_TRACE(text);
    try {
      parse_formats(std::string("\n") + text, "f");
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "formats_invalid");
      EXPECT_EQ(error.where, "f:2");
      EXPECT_THAT(error.what(), testing::HasSubstr("field"));
    }
  }
}

TEST(formats, a_density_is_of_families_whose_products_may_have_weights_and_of_any_pattern) {
  for (const char* text :
       {"family=conv2d dense", "family=linear dense", "family=matmul dense", "\"softmax\" dense"})
    EXPECT_EQ(parse_formats(text, "f").at(0).density_hundredths, 100) << text;
  try {
    parse_formats("family=linear dense\nfamily=softmax dense", "f");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.where, "f:2");
    EXPECT_THAT(error.what(), testing::HasSubstr("family=softmax has no product with weights"));
  }
}

/// x W1, Relu, W2 on an fp16 machine.
onnx::ModelProto two_layers() {
  onnx::ModelProto model = model_of_x({6, 5});
  add_weight(model, "w1", {5, 8});
  add_weight(model, "w2", {8, 4});
  add_node(model, "MatMul", {"x", "w1"}, "first");
  add_node(model, "Relu", {"first"}, "middle");
  add_node(model, "MatMul", {"middle", "w2"}, "y");
  add_output(model, "y");
  return model;
}

Application said(const std::string& rules, Machine machine = Machine()) {
  Workload workload;
  workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(import_model(two_layers())), {}});
  CompileOptions options;
  options.format_rules = parse_formats(rules, "f");
  return compile(workload, machine, options);
}

std::string first_layer() { return "\"" + import_model(two_layers()).nodes.at(0).name + "\""; }

TEST(formats, a_layer_of_its_own_stands_between_conversions) {
  Machine machine;
  const Application plain = said("", machine);
  EXPECT_THAT(mnemonics(plain), ElementsAre("matmul", "relu", "matmul"));
  const Application application = said(first_layer() + " activations=int8", machine);
  EXPECT_THAT(mnemonics(application), ElementsAre("convert", "matmul", "relu", "convert", "matmul"));
  EXPECT_EQ(class_at(application, 0).formats, (Formats{fp16, fp16, int8}));
  EXPECT_EQ(class_at(application, 1).formats, (Formats{fp16, int8, int8}));
  EXPECT_EQ(class_at(application, 2).formats, (Formats{fp16, int8, int8})) << "what follows elementwise";
  EXPECT_EQ(class_at(application, 3).formats, (Formats{fp16, int8, fp16}));
  EXPECT_FALSE(class_at(application, 4).formats.has_value());
  const auto& instructions = application.stages[0].program.instructions;
  EXPECT_EQ(instructions[1].dsram_write_side, Bytes(6 * 8)) << "a byte an element";
  EXPECT_EQ(instructions[4].dsram_read_side, Bytes(6 * 8 * 2));
  machine.fusion = Fusion::pointwise;
  EXPECT_THAT(mnemonics(said(first_layer() + " activations=int8", machine)),
              ElementsAre("convert", "matmul+relu", "convert", "matmul"));
}

TEST(formats, of_weights_alone_change_bytes_and_need_no_conversion) {
  const Application application = said("family=linear weights=int4");
  EXPECT_THAT(mnemonics(application), ElementsAre("matmul", "relu", "matmul"));
  EXPECT_EQ(application.stages[0].program.weight_bytes, Bytes(5 * 8 / 2 + 8 * 4 / 2));
  EXPECT_EQ(class_at(application, 0).formats, (Formats{int4, fp16, fp16}));
}

TEST(formats, the_first_rule_that_says_it_decides) {
  const Application application =
      said(first_layer() + " weights=bf16\nfamily=linear weights=int8 activations=int8");
  EXPECT_EQ(class_at(application, 1).formats, (Formats{bf16, int8, int8}));
}

TEST(formats, of_accumulators_are_those_of_products_alone_and_stay_with_what_is_fused) {
  Machine machine;
  machine.fusion = Fusion::pointwise;
  const Application application = said(first_layer() + " accumulators=bf16", machine);
  EXPECT_THAT(mnemonics(application), ElementsAre("matmul+relu", "matmul")) << "no conversion";
  EXPECT_EQ(class_at(application, 0).formats, (Formats{fp16, fp16, fp16, bf16}));
  EXPECT_EQ(machine_for(class_at(application, 0), machine).accumulator_format, bf16);
  EXPECT_FALSE(class_at(application, 1).formats.has_value());
  expect_round_trip(application.stages[0], machine);
  const std::string text = graph_text(application.stages[0]);
  EXPECT_THAT(text, testing::HasSubstr(" sums=bf16"));
  const Application all = said("\"*\" accumulators=int32 activations=int8", machine);
  EXPECT_EQ(class_at(all, 1).formats, (Formats{fp16, int8, int8, int32}));
  EXPECT_FALSE(said("\"*\" accumulators=fp32", machine).stages[0].program.classes[0].formats)
      << "the machine has these";
}

TEST(formats, of_an_instruction_may_be_written_with_its_accumulators) {
  const Application application = said("");
  std::string text = graph_text(application.stages[0]);
  const auto at = text.find(" nodes=", text.find("instruction 0"));
  text.insert(at, " formats=fp16,fp16,fp16,q15_16");
  const CompiledStage stage = parse_graph_text(text);
  EXPECT_EQ(stage.program.classes[0].formats, (Formats{fp16, fp16, fp16, q15_16}));
  expect_round_trip(stage, Machine());
}

TEST(formats, a_layer_may_keep_more_or_fewer_of_its_weights_than_others) {
  Machine machine;
  machine.sparsity = Sparsity::skipping;
  machine.weight_density = Decimal{50};
  const Application plain = said("", machine),
                    mixed = said(first_layer() + " dense\nfamily=linear density=0.25", machine);
  EXPECT_THAT(mnemonics(mixed), ElementsAre("matmul", "relu", "matmul")) << "no conversion";
  Formats all = formats_of(machine);
  all.density_hundredths = 100;
  EXPECT_EQ(class_at(mixed, 0).formats, all);
  EXPECT_FALSE(class_at(mixed, 1).formats.has_value());
  EXPECT_EQ(class_at(mixed, 2).formats.value().density_hundredths, 25);
  // fp16: 40 as they are, 8 of 32 with a bit an element, where all had half.
  EXPECT_EQ(mixed.stages[0].program.weight_bytes, Bytes(40 * 2 + 8 * 2 + 4));
  EXPECT_EQ(machine_for(class_at(mixed, 0), machine).sparsity, Sparsity::dense);
  EXPECT_EQ(plain.stages[0].program.weight_bytes, Bytes(20 * 2 + 5 + 16 * 2 + 4));
  EXPECT_EQ(machine_for(class_at(mixed, 2), machine).weight_density, Decimal{25});
  EXPECT_EQ(machine_for(class_at(mixed, 1), machine).weight_density, Decimal{50});
  expect_round_trip(mixed.stages[0], machine);
  EXPECT_THAT(graph_text(mixed.stages[0]), testing::HasSubstr(" density=0.25"));
  EXPECT_EQ(graph_text(said("family=linear density=0.5", machine).stages[0]), graph_text(plain.stages[0]))
      << "the machine has that";
}

TEST(formats, of_an_instruction_may_be_written_with_its_density) {
  Machine machine;
  machine.sparsity = Sparsity::gating;
  const Application application = said("", machine);
  for (const auto& [written, accumulators, density] : {std::tuple("fp16,fp16,fp16,density:0.5", false, 50),
                                                       std::tuple("fp16,fp16,fp16,q15_16,density:1", true, 100)}) {
    std::string text = graph_text(application.stages[0]);
    text.insert(text.find(" nodes=", text.find("instruction 0")), std::string(" formats=") + written);
    const CompiledStage stage = parse_graph_text(text);
    EXPECT_EQ(stage.program.classes[0].formats->accumulators.has_value(), accumulators);
    EXPECT_EQ(stage.program.classes[0].formats->density_hundredths, density);
    expect_round_trip(stage, machine);
  }
}

TEST(formats, a_density_below_one_needs_a_machine_that_spares_zeros) {
  EXPECT_EQ(graph_text(said("family=linear dense").stages[0]), graph_text(said("").stages[0]));
  try {
    said("family=linear weights=int8\nfamily=linear density=0.5");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "formats_invalid");
    EXPECT_EQ(error.where, "line 2");
  }
}

TEST(formats, accumulators_narrower_than_what_a_product_reads_are_refused_by_line) {
  for (const char* rules : {"family=softmax weights=fp16\nfamily=linear accumulators=int8",
                            "\nfamily=linear activations=int32 accumulators=fp16"}) {
    SCOPED_TRACE(rules);
    try {
      said(rules);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "formats_invalid");
      EXPECT_EQ(error.where, "line 2");
    }
  }
}

TEST(formats, a_rule_for_no_layer_is_an_error) {
  try {
    said("family=linear weights=int8\n\"nowhere\" weights=int8");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "format_unmatched");
    EXPECT_EQ(error.where, "line 2");
  }
}

TEST(formats, random_programs_of_layers_with_their_own_come_back_from_text_and_words) {
  std::int64_t conversions = 0, programs = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphDice dice(seed);
    Workload workload;
    workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(random_graph(dice)), {}});
    const Machine machine = random_compile_machine(dice);
    CompileOptions options;
    for (const Node& node : workload.stages[0].graph->nodes) {
      if (!dice.one_in(3)) continue;
      FormatRule rule;
      rule.pattern = node.name;
      rule.weights = static_cast<NumberFormat>(dice.between(0, std::ssize(number_formats) - 1));
      rule.activations = static_cast<NumberFormat>(dice.between(0, plain_format_count - 1));
      if (dice.one_in(2)) rule.accumulators = dice.one_in(2) ? int32 : q15_16;
      if (machine.sparsity != Sparsity::dense && dice.one_in(2)) rule.density_hundredths = dice.between(1, 100);
      options.format_rules.push_back(rule);
    }
    Application application;
    try {
      application = compile(workload, machine, options);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code == "format_unmatched" ||  // a view, or a constant
                  error.code == "formats_invalid")     // the machine's accumulators are too narrow
          << error.what();
      continue;
    }
    if (!application.feasible) continue;
    ++programs;
    for (const std::string& name : mnemonics(application)) conversions += name.starts_with("convert");
    expect_round_trip(application.stages[0], machine);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(programs, 40);
  EXPECT_GT(conversions, 40);
}

}  // namespace
}  // namespace sdip
