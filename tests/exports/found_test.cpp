// What exported graphs found and is mended: the smallest model of each, checked as they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/exports/book.h"
#include "tests/exports/layers.h"
#include "tests/generate/check.h"

namespace sdip::exports {
namespace {

/// What is found of the model on the machine; "" when nothing is.
std::string found_on(Machine machine, Writer& writer) {
  const generate::Outcome outcome = generate::check_model(writer.finish(), machine, 1, [](const char*) {});
  if (outcome.verdict == generate::Verdict::passed) return "";
  return std::string(generate::verdict_text(outcome.verdict)) + " " + outcome.code + ": " + outcome.detail;
}

/// Keys before queries, heads inside rows: fused, its parts were not found again.
TEST(found_in_exports, attention_by_einsums_as_tensorflow_writes_it_runs_with_fused_attention) {
  Writer t(12, Manner::tensorflow, 1);
  const Name q = t.input("q", {1, 5, 2, 4}), k = t.input("k", {1, 5, 2, 4}), v = t.input("v", {1, 5, 2, 4});
  const Name scores = t("Einsum", {k, q}, {{"equation", "aecd,abcd->acbe"}});
  const Name shares = t("Softmax", {scores}, {{"axis", 3}});
  t.output(t("Einsum", {shares, v}, {{"equation", "acbe,aecd->abcd"}}));
  Machine machine;
  machine.fused_attention = FusedAttention::on;
  EXPECT_EQ(found_on(machine, t), "");
}

/// With 9 rows and 9 columns the first's columns were taken for the second's rows.
TEST(found_in_exports, strips_end_where_channels_last_are_read_turned) {
  for (const Strips strips : {Strips::halo_recompute, Strips::line_buffers}) {
    Writer t(13, Manner::tensorflow, 1);
    Name y = conv(t, t.transpose(t.input("x", {2, 11, 11, 3}), {0, 3, 1, 2}), 3, 6, {.pad = 0, .bias = false});
    y = t("Relu", {t("Add", {t.transpose(y, {0, 2, 3, 1}), t.weight({6})})});
    y = conv(t, t.transpose(y, {0, 3, 1, 2}), 6, 12, {.kernel = 1, .pad = 0, .bias = false});
    t.output(t("Add", {t.transpose(y, {0, 2, 3, 1}), t.weight({12})}));
    Machine machine;
    machine.fusion = Fusion::norm;
    machine.strips = strips;
    machine.transposition = Transposition::dynamic_transposition;
    machine.dsram_bytes = 1024;
    EXPECT_EQ(found_on(machine, t), "");
  }
}

/// It was joined, and then could not be run so.
TEST(found_in_exports, a_transposed_convolution_is_no_part_of_strips) {
  for (const std::int64_t dsram_bytes : {128, 256, 512, 1024}) {
    Writer t(11, Manner::torchscript, 1);
    const Name x = conv(t, t.input("x", {1, 2, 6, 6}), 2, 4);
    const Name y = t("ConvTranspose", {x, t.weight({4, 4, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
    t.output(conv(t, y, 4, 2));
    Machine machine;
    machine.fusion = Fusion::pointwise;
    machine.strips = Strips::line_buffers;
    machine.dsram_bytes = dsram_bytes;
    EXPECT_EQ(found_on(machine, t), "") << dsram_bytes;
  }
}

/// It was refused: a causal mask that stands in the file is a weight of 0 and -infinity.
TEST(found_in_exports, a_mask_of_infinities_is_held_in_every_format) {
  const double off = -std::numeric_limits<double>::infinity();
  for (const NumberFormat format :
       {NumberFormat::int8, NumberFormat::uint8, NumberFormat::int4, NumberFormat::q7_8}) {
    Writer t(17, Manner::torchscript, 1);
    const Name scores =
        t("Add", {t.input("scores", {2, 3, 3}), t.tensor({3, 3}, {0, off, off, 0, 0, off, 0, 0, 0})});
    t.output(t("Softmax", {scores}, {{"axis", -1}}));
    Machine machine;
    machine.weight_format = format;
    EXPECT_EQ(found_on(machine, t), "") << static_cast<int>(format);
  }
}

/// A bias that all frames share is read anew for each; its heads are those of a core, not all.
TEST(found_in_exports, a_bias_that_broadcasts_over_the_batch_is_charged_what_cores_read_of_it) {
  for (const Branches branches : {Branches::serial, Branches::parallel, Branches::channels})
    for (const std::int64_t cores : {1, 2, 3, 4, 8}) {
      Writer t(17, Manner::torchscript, 1);
      const Name q = t.input("q", {2, 2, 3, 4}), k = t.input("k", {2, 2, 4, 3});
      t.output(t("Add", {t("MatMul", {q, k}), t.input("bias", {1, 2, 3, 3})}));
      Machine machine;
      machine.fusion = Fusion::pointwise;
      machine.branches = branches;
      machine.cores = cores;
      EXPECT_EQ(found_on(machine, t), "") << static_cast<int>(branches) << " " << cores;
    }
}

/// What is added to the scores of a fused attention is made behind them; made again, it stood before what it reads.
TEST(found_in_exports, a_value_made_again_stands_behind_what_it_is_made_of) {
  const auto row = std::ranges::find(sound_exports(), "conformer-op14", &Export::name);
  for (const std::int64_t stackram_bytes : {300, 332, 400}) {
    Machine machine;
    machine.activation_format = NumberFormat::fp32;
    machine.stackram_bytes = stackram_bytes;
    machine.fused_attention = FusedAttention::on;
    machine.skip_handling = SkipHandling::recompute;
    const generate::Outcome outcome = generate::check_model(made(*row, 50642), machine, 1, [](const char*) {});
    EXPECT_EQ(outcome.verdict, generate::Verdict::passed) << stackram_bytes << ": " << outcome.detail;
  }
}

/// Whether sums of 8 bits overflow was asked with sums of 32 in their buffers.
TEST(found_in_exports, sums_that_overflow_and_are_kept_between_tiles_are_told_as_such) {
  for (const std::int64_t psram_bytes : {64, 192, 512}) {
    Writer t(17, Manner::torchscript, 1);
    t.output(gemm(t, t.input("x", {2, 64}), 64, 24));
    Machine machine;
    machine.weight_format = machine.activation_format = NumberFormat::int8;
    machine.accumulator_format = NumberFormat::uint8;
    machine.psram_bytes = psram_bytes;
    EXPECT_EQ(found_on(machine, t), "") << psram_bytes;
  }
}

}  // namespace
}  // namespace sdip::exports
