// A model's bytes as ONNX's message, slimmed. Internal to its room.
#pragma once

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include <span>

#include "core/onnx/import.h"

namespace sdip {

/// The message lives in the arena. Throws what slim_model throws, and Error not_onnx.
const onnx::ModelProto& model_message(std::span<const std::byte> bytes, const ImportOptions& options,
                                      google::protobuf::Arena& arena);

}  // namespace sdip
