// libonnx's shape inference as an oracle, value by value, where it answers: on real exports and on light models.
#include <onnx/shape_inference/implementation.h>
#include <ostream>

#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

/// The shape that libonnx gives a value, when it knows all of it.
std::optional<Shape> known_shape(const onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) return std::nullopt;
  Shape shape;
  for (const auto& dimension : info.type().tensor_type().shape().dim()) {
    if (!dimension.has_dim_value()) return std::nullopt;
    shape.push_back(dimension.dim_value());
  }
  return shape;
}

void bind_dimensions(onnx::ModelProto& model, const std::map<std::string, std::int64_t>& dims) {
  for (auto& input : *model.mutable_graph()->mutable_input()) {
    for (auto& dimension : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      if (dimension.has_dim_param()) dimension.set_dim_value(dims.at(dimension.dim_param()));
    }
  }
}

struct Model {
  std::string file;
  std::size_t least_compared;  // fewer would mean that the oracle was not asked
  std::map<std::string, std::int64_t> dims = {};
};

[[maybe_unused]] void PrintTo(const Model& model, std::ostream* out) { *out << model.file; }

class inference : public testing::TestWithParam<Model> {};

TEST_P(inference, agrees_on_every_value_that_libonnx_answers_for) {
  SDIP_SHARED_MODEL(bytes, GetParam().file);
  ImportOptions options;
  options.dims = GetParam().dims;
  const Graph graph = import_bytes(bytes, options);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(bytes));
  bind_dimensions(model, GetParam().dims);
  model.mutable_graph()->clear_value_info();
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                     onnx::ShapeInferenceOptions(false, 0, true));
  std::map<std::string, const onnx::ValueInfoProto*> answers;
  for (const auto& info : model.graph().value_info()) answers[info.name()] = &info;
  std::size_t compared = 0;
  for (const Value& value : graph.values) {
    const auto answer = answers.find(value.name);
    const auto shape = answer == answers.end() ? std::nullopt : known_shape(*answer->second);
    if (!shape) continue;
    ++compared;
    EXPECT_EQ(shape_text(value.operand.shape), shape_text(*shape)) << value.name;
  }
  EXPECT_GE(compared, GetParam().least_compared);
}

INSTANTIATE_TEST_SUITE_P(
    models, inference,
    testing::Values(Model{"exports/kj_sd1_unet_op14.onnx", 1500},
                    Model{"exports/kj_sd1_vae_decoder_op11.onnx", 130},
                    Model{"exports/kj_sd1_clip_op14_dyn.onnx", 500, {{"batch", 1}, {"seq", 77}}},
                    Model{"exports/compvis_sd14_unet512_op14.onnx", 800},
                    Model{"exports/diffusers0214_sd15_unet_sdpa_op17.onnx", 800},
                    Model{"exports/dit_xl2_256_op14.onnx", 500},
                    Model{"exports/hf46_bert_base_op14_dyn.onnx", 150, {{"batch", 1}, {"seq", 128}}},
                    Model{"exports/tv_resnet50_op14.onnx", 100}, Model{"onnx_light/light_densenet121.onnx", 500},
                    Model{"onnx_light/light_inception_v1.onnx", 100},
                    Model{"onnx_light/light_inception_v2.onnx", 300}, Model{"onnx_light/light_resnet50.onnx", 150},
                    Model{"onnx_light/light_shufflenet.onnx", 150}, Model{"onnx_light/light_squeezenet.onnx", 50}),
    [](const auto& model) {
      const std::string& file = model.param.file;
      return file.substr(file.find('/') + 1, file.rfind('.') - file.find('/') - 1);
    });

}  // namespace
}  // namespace sdip
