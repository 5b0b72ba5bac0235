// Does the test that a row of the option table names run machines with the row's choice?
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "tests/core/cost/price/option_rows.h"
#include "tests/core/cost/random_application.h"
#include "tests/core/exec/random_machine.h"
#include "tests/witness/pairs.h"

namespace sdip::witness {
namespace {

Machine counted(std::uint64_t seed) {
  Dice dice(seed);
  Machine m = random_machine(dice);
  random_program(dice, m);  // sizes its memories
  return m;
}

Machine of_frames(std::uint64_t seed) {
  Dice dice(seed);
  Machine m = random_frame_machine(dice);
  random_application(dice, application_roles(seed), m);
  return m;
}

Machine executed(std::uint64_t seed) {
  Draw draw(seed);
  return random_machine(draw);
}

Machine lossy(std::uint64_t seed) {
  Draw draw(seed);
  Machine m = random_machine(draw);
  draw_formats(draw, m);
  return m;
}

Machine of_pair(std::uint64_t seed) { return drawn_pair(seed).machine; }

/// How a test gets its machines: drawn, and rows that its body sets to those values, or to any where none is named.
struct Runs {
  std::string_view test;
  Machine (*draw)(std::uint64_t seed);
  std::string_view sets;
};

constexpr Runs tests[] = {
    {"differential.random_programs_on_random_machines_count_the_same_by_formula_and_by_stepping", counted, ""},
    {"differential.random_programs_count_the_same_in_any_role_with_any_part_hard_coded", counted,
     "weight_storage=hard_coded hard_coded_part"},
    {"differential.random_programs_count_the_same_where_psram_holds_the_stacks", counted,
     "memory_hierarchy=writable_psram"},
    {"differential.random_programs_count_the_same_where_instructions_run_side_by_side", counted,
     "operator_dsram=per_operator"},
    {"differential.tiny_sd_counts_the_same_with_each_sampler", nullptr, "sampler"},
    {"witness.random_pairs_count_the_same_by_formula_and_by_stepping", of_pair, ""},
    {"counted_frame.of_pipelines_networks_and_parts_in_series_is_what_the_report_says", of_frames, ""},
    {"pipeline.of_any_number_of_cores_and_steps_takes_what_the_estimate_predicts", executed,
     "cores steps mode memory_hierarchy=crossbar vae_stage=circuit vae_decoder_conv_lanes_in "
     "vae_decoder_vector_lanes "
     "vae_decoder_softmax_lanes vae_decoder_norm_lanes vae_decoder_dsram_bytes vae_decoder_stackram_bytes "
     "vae_decoder_psram_bytes vae_decoder_dsram_port_bits vae_decoder_conv_lanes_pixel vae_encoder_dsram_bytes "
     "text_encoder_dsram_bytes text_encoder_psram_bytes"},
    {"pipeline.of_a_network_runs_its_frames_side_by_side_or_its_parts_in_series", executed,
     "core_weights=per_core branches=parallel branches=channels"},
    {"random.lossless_programs_compute_their_graphs", executed, "low_rank=on"},
    {"random.lossy_programs_compute_their_graphs_with_the_losses_written_out", lossy, ""},
    {"groups.of_a_product_are_summed_scaled_and_added_in_order", nullptr,
     "scale_granularity=group_32 scale_granularity=group_64 scale_granularity=group_128 weight_format=mxint8 "
     "weight_format=mxfp8 weight_format=mxfp6 weight_format=mxfp4 weight_format=nvfp4 weight_format=nf4 "
     "weight_format=msfp12"},
    {"strips.of_any_height_compute_the_chain_with_halos_or_line_buffers", nullptr,
     "strips=halo_recompute strips=line_buffers"},
    {"random.chains_with_norms_in_strips_compute_their_graphs", executed, "norm_statistics=recompute"},
    {"occupancy.of_random_networks_is_what_the_compiler_states", executed, ""},
    {"fpga.a_step_of_tiny_sd_fits_vc1902_and_takes_what_it_steps", nullptr, "technology_node=fpga_vc1902"},
    {"pynq_attention.a_frame_takes_what_its_commands_and_accesses_take", nullptr, "technology_node=fpga_zynq7020"},
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// How many of 600 machines have each value of each row.
using Values = std::map<std::string, std::map<std::int64_t, int>, std::less<>>;

Values values_drawn(const Runs& runs) {
  Values values;
  for (std::uint64_t seed = 1; runs.draw != nullptr && seed <= 600; ++seed) {
    const Machine m = runs.draw(seed);
    for (const ParameterRow& row : parameters()) ++values[std::string(row.name)][row.read(m)];
  }
  return values;
}

bool is_set(const Runs& runs, std::string_view setting) {
  const std::vector<std::string> words = words_of(runs.sets);
  const std::string any(setting.substr(0, setting.find('=')));
  return std::ranges::find(words, any) != words.end() || std::ranges::find(words, setting) != words.end();
}

/// A choice is in at least one machine of 60; a number is not the same in all.
bool is_drawn(const Values& values, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  const auto of_row = values.find(std::string_view(setting).substr(0, equals));
  if (of_row == values.end()) return false;
  const ParameterRow& row = *find_parameter(setting.substr(0, equals));
  if (row.type == ParameterType::count || row.type == ParameterType::decimal) return of_row->second.size() > 1;
  const auto found = of_row->second.find(parse_value(row, setting.substr(equals + 1), setting));
  return found != of_row->second.end() && found->second >= 10;
}

TEST(option_witness, of_each_row_runs_machines_with_its_choice) {
  std::map<std::string_view, Values> drawn;
  for (const OptionRow& row : option_rows()) {
    SCOPED_TRACE(std::string(row.change) + " by " + std::string(row.witness));
    const auto runs = std::ranges::find(tests, row.witness, &Runs::test);
    ASSERT_NE(runs, std::end(tests));
    auto known = drawn.find(row.witness);
    if (known == drawn.end()) known = drawn.emplace(row.witness, values_drawn(*runs)).first;
    for (const std::string& setting : words_of(row.change))
      EXPECT_TRUE(is_set(*runs, setting) || is_drawn(known->second, setting)) << setting;
    if (runs->draw != of_pair) continue;
    for (const std::string& setting : words_of(row.change))
      EXPECT_TRUE(find_case(setting.substr(0, setting.find('=')))->changes_counters()) << setting;
  }
}

TEST(option_witness, that_never_draws_a_choice_is_found) {
  const Values values = values_drawn({"", executed, ""});
  EXPECT_FALSE(is_drawn(values, "activation_format=bf16")) << "fp32 throughout";
  EXPECT_FALSE(is_drawn(values, "steps=4"));
  EXPECT_TRUE(is_drawn(values, "fused_attention=on"));
}

}  // namespace
}  // namespace sdip::witness
