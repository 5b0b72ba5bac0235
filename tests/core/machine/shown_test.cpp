// What is a parameter shown with, and is that there?
#include "core/machine/shown.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sdip {
namespace {

const ParameterRow& row(std::string_view name) { return *find_parameter(name); }

TEST(shown, is_with_parameters_and_values_that_there_are) {
  std::size_t with_others = 0;
  for (const ParameterRow& one : parameters())
    for (const ShownWith& with : shown_with(one)) {
      ++with_others;
      const ParameterRow* other = find_parameter(with.parameter);
      ASSERT_NE(other, nullptr) << one.name;
      EXPECT_NE(other->name, one.name);
      for (const std::string_view value : with.values)
        if (!value.empty()) {
          EXPECT_NO_THROW(parse_value(*other, value, "")) << one.name << " with " << with.parameter;
        }
    }
  EXPECT_GT(with_others, 60U);
}

TEST(shown, on_a_machine_whose_option_is_in_use) {
  Machine m;
  EXPECT_TRUE(is_shown(row("cores"), m)) << "always";
  EXPECT_TRUE(is_shown(row("text_encoder_dsram_bytes"), m)) << "always, in its group";
  EXPECT_FALSE(is_shown(row("decompressor_bytes_per_cycle"), m));
  m.weight_compression = Decimal{101};
  EXPECT_TRUE(is_shown(row("decompressor_bytes_per_cycle"), m));
  EXPECT_FALSE(is_shown(row("host_command_cycles"), m));
  m.host_operators = HostOperators::softmax;
  EXPECT_TRUE(is_shown(row("host_command_cycles"), m));
  m.host_operators = HostOperators::no_operators, m.sequencer = Sequencer::host;
  EXPECT_TRUE(is_shown(row("host_command_cycles"), m));
  EXPECT_FALSE(is_shown(row("dispatch_cycles"), m));
  EXPECT_FALSE(is_shown(row("softmax_dsram_bytes"), m));
  m.operator_dsram = OperatorDsram::per_operator;
  EXPECT_TRUE(is_shown(row("softmax_dsram_bytes"), m));
  EXPECT_FALSE(is_shown(row("vae_encoder_conv_lanes_in"), m)) << "text to image";
  EXPECT_TRUE(is_shown(row("vae_decoder_conv_lanes_in"), m));
  m.mode = Mode::image_to_image, m.vae_stage = VaeStage::off_chip;
  EXPECT_TRUE(is_shown(row("vae_encoder_conv_lanes_in"), m));
  EXPECT_FALSE(is_shown(row("vae_decoder_conv_lanes_in"), m));
}

TEST(shown, is_said_in_words) {
  EXPECT_EQ(shown_text(row("cores")), "");
  EXPECT_EQ(shown_text(row("decompressor_bytes_per_cycle")), "weight_compression other than 1");
  EXPECT_EQ(shown_text(row("host_bus_bits")), "host_operators other than none or host_memory=true");
  EXPECT_EQ(shown_text(row("vae_decoder_psram_bytes")), "vae_stage=core or circuit");
}

}  // namespace
}  // namespace sdip
