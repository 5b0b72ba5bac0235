// Versions of the file's form and of its operators: which are read.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>

#include "core/ops/custom.h"

namespace sdip {

/// "ai.onnx" is "".
std::string_view domain_of(const std::string& domain);

/// Versions by domain. Throws Error("unsupported_opset", "", ...) for a domain in two versions, for ai.onnx outside
/// least_opset..most_opset, and for another com.microsoft than microsoft_version.
std::map<std::string, std::int64_t> read_opsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

/// Throws Error("unsupported_ir_version", "", ...).
void check_ir_version(const onnx::ModelProto& model);

/// The first opset in which an operator exists: of "7 13 14" 7; 0 where that is not said.
std::int64_t first_opset(const Operator& op);

/// Why a node's operator cannot be used with these versions; "" when it can. `own` may be null.
std::string why_unsupported(const onnx::NodeProto& node, const std::map<std::string, std::int64_t>& opsets,
                            const OwnOperators* own);

/// How an operator is written for readers: "Conv", "com.microsoft::FastGelu".
std::string operator_text(const std::string& domain, const std::string& type);

}  // namespace sdip
