// A bounded walk over a model's protobuf wire format: checks it, and leaves out what is large or not needed.
// Internal to its room.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/onnx/import.h"

namespace sdip {

/// Tensors whose data take more bytes than this are noted, not kept: 1024 elements, each a varint of at most 10
/// bytes.
inline constexpr std::int64_t most_kept_tensor_bytes = 10240;

/// The model again as bytes of a ModelProto, without the data of large tensors, documentation, value_info, training
/// information and metadata. Field `segment` of each tensor that has data in the file says where they lie: begin
/// and end are offsets into `bytes`; raw data left out stand as raw_data of no bytes. Every field has the wire type
/// it should, whole elements where it is packed, and stands once where it may stand once; names are UTF-8 without
/// control characters. Throws Error with codes not_onnx, truncated, limit_exceeded, invalid_graph.
std::string slim_model(std::span<const std::byte> bytes, const ImportOptions& options);

}  // namespace sdip
