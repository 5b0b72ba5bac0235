// Tensors as ONNX keeps them alone: a file of one TensorProto, as in ONNX's own tests (input_0.pb).
#pragma once

#include <string>
#include <string_view>

#include "core/base/tensor.h"

namespace sdip {

/// The tensor of a message. Throws Error with an empty `where`: tensor_file_invalid for what is no such message, or
/// one of strings, or whose data are in another file or not as many as its shape says.
Tensor tensor_of_message(std::string_view bytes);

/// The bytes of a message of that name, with raw data. Throws Error not_modelled for strings.
std::string message_of_tensor(const Tensor& tensor, const std::string& name);

}  // namespace sdip
