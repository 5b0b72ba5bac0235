// A file of one TensorProto.
#include "core/onnx/tensor_message.h"

#include <onnx/onnx_pb.h>

#include <limits>
#include <optional>

#include "core/base/error.h"
#include "core/onnx/raw.h"
#include "core/onnx/tensor.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

[[noreturn]] void refuse_message(const std::string& what) { throw Error("tensor_file_invalid", "", what); }

}  // namespace

Tensor tensor_of_message(std::string_view bytes) {
  onnx::TensorProto message;
  if (bytes.size() > std::numeric_limits<int>::max()) refuse_message("it is longer than 2 GiB");
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    refuse_message("this is no TensorProto of ONNX");
  const auto type = element_type_of_onnx(message.data_type());
  if (!type || *type == ElementType::string)
    refuse_message(fmt::format("this is no TensorProto of ONNX, or one of element type {}, which is not read",
                               message.data_type()));
  if (message.has_segment() || message.data_location() == onnx::TensorProto::EXTERNAL)
    refuse_message("its data are in another file, or in pieces");
  const Shape shape(message.dims().begin(), message.dims().end());
  std::optional<Tensor> tensor;
  try {
    check_shape(shape, "it", {});
    tensor = elements_of(message, *type, shape);
  } catch (const Error& error) {
    refuse_message(error.what());
  }
  if (!tensor) refuse_message("its data are not as many as its shape " + shape_text(shape) + " says");
  return std::move(*tensor);
}

std::string message_of_tensor(const Tensor& tensor, const std::string& name) {
  if (tensor.type == ElementType::string) throw Error("not_modelled", "", "strings have no numbers to write");
  onnx::TensorProto message;
  message.set_name(name);
  for (int code = 1; code < 64; ++code)
    if (element_type_of_onnx(code) == tensor.type) message.set_data_type(code);
  for (const std::int64_t size : tensor.shape) message.add_dims(size);
  message.set_raw_data(raw_of_tensor(tensor));
  return message.SerializeAsString();
}

}  // namespace sdip
