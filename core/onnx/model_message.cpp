// A model's bytes as ONNX's message, slimmed.
#include "core/onnx/model_message.h"

#include "core/base/error.h"
#include "core/onnx/wire.h"

namespace sdip {

const onnx::ModelProto& model_message(std::span<const std::byte> bytes, const ImportOptions& options,
                                      google::protobuf::Arena& arena) {
  const std::string slim = slim_model(bytes, options);
  auto* model = google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  if (model->ParseFromString(slim)) return *model;
  throw Error("not_onnx", options.label, options.label + ": this is not an ONNX model, or it is damaged");
}

}  // namespace sdip
