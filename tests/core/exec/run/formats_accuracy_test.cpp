// Formats of weights in the order that their bits and scales let expect, on tiny-sd.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/exec/run/accuracy.h"
#include "core/program/weights/coded_weight.h"
#include "tests/core/exec/run/tiny_sd_line.h"

namespace sdip {
namespace {

using enum NumberFormat;

Machine of_weights(NumberFormat format, ScaleGranularity granularity = ScaleGranularity::tensor) {
  Machine m;
  m.weight_format = format;
  m.scale_granularity = granularity;
  m.steps = 4;
  return m;
}

double picture_db(const Machine& machine) {
  const Application line = tiny_sd_line(machine);
  AccuracyOptions options;
  options.samples = 1;
  return measured_accuracy(line, machine, tiny_sd_weights(line, machine), options).output().sqnr_db();
}

/// The signal to noise of all weights of the U-Net that products multiply by, in dB.
double weights_db(const Machine& machine) {
  const Application line = tiny_sd_line(machine);
  const std::vector<StoredTensors> stored = tiny_sd_weights(line, machine);
  double signal = 0, noise = 0;
  for (std::size_t s = 0; s < line.stages.size(); ++s) {
    const CompiledStage& stage = line.stages[s];
    if (stage.role != Role::core) continue;
    for (const Instruction& instruction : stage.program.instructions) {
      if (instruction.weights.empty()) continue;
      const WeightRegion region = weight_region(stage, weight_form(machine), instruction);
      for (std::size_t w = 0; w < instruction.weights.size(); ++w) {
        const NestWeights* nest = nest_of_weight(region, w);
        const Value& value = stage.graph->values[static_cast<std::size_t>(instruction.weights[w])];
        if (nest == nullptr || !value.bytes) continue;
        const Tensor tensor = *stored[s](value);
        const Tensor back =
            decoded_weight(coded_weight(value.name, tensor, nest, machine), tensor.type, tensor.shape);
        for (std::size_t i = 0; i < tensor.floats.size(); ++i) {
          signal += tensor.floats[i] * tensor.floats[i];
          noise += (back.floats[i] - tensor.floats[i]) * (back.floats[i] - tensor.floats[i]);
        }
      }
    }
  }
  return 10 * std::log10(signal / noise);
}

TEST(formats_accuracy, of_weights_rises_with_bits_and_falls_with_the_weights_that_share_a_scale) {
  const auto db = [](NumberFormat format, ScaleGranularity granularity = ScaleGranularity::tensor) {
    return weights_db(of_weights(format, granularity));
  };
  EXPECT_GT(db(mxint8), db(mxfp8) + 6);
  EXPECT_GT(db(mxfp8), db(mxfp6_e3m2) + 3);
  EXPECT_GT(db(mxfp6), db(mxfp4) + 6);
  EXPECT_GT(db(mxfp6_e3m2), db(mxfp4));
  EXPECT_GT(db(nvfp4), db(mxfp4) + 1);
  EXPECT_GT(db(msfp16), db(msfp12) + 20);
  EXPECT_GT(db(int4, ScaleGranularity::group_32), db(int4, ScaleGranularity::group_128) - 1e-9);
  EXPECT_GT(db(int4, ScaleGranularity::group_128), db(int4, ScaleGranularity::channel));
  EXPECT_GT(db(int4, ScaleGranularity::channel), db(int4));
}

TEST(formats_accuracy, of_the_picture_of_tiny_sd_follows_that_of_its_weights) {
  std::map<NumberFormat, double> db;
  for (const NumberFormat format : {mxint8, mxfp8, mxfp6, mxfp4, nvfp4})
    db[format] = picture_db(of_weights(format));
  EXPECT_GT(db[mxint8], db[mxfp8] + 6);
  EXPECT_GT(db[mxfp8], db[mxfp4] + 6);
  EXPECT_GT(db[mxfp6], db[mxfp4] + 6) << "e2m3 has the fraction of e4m3, and cuts off less of the largest";
  EXPECT_GT(db[nvfp4], db[mxfp4]);
  Machine halves = of_weights(fp16_e6m9);
  halves.activation_format = fp16_e6m9;
  EXPECT_GT(picture_db(halves), 35) << "of activations, too";
}

}  // namespace
}  // namespace sdip
