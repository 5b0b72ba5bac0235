// A model's bytes as ONNX's message, slimmed.
#include "core/onnx/model_message.h"

#include <string_view>

#include "core/base/error.h"
#include "core/onnx/wire.h"

namespace sdip {
namespace {

/// Other things that are taken for a model, by how they begin.
struct OtherFile {
  std::size_t offset;
  std::string_view magic, what;
};
constexpr OtherFile other_files[] = {
    {0, "version https://git-lfs", "a pointer of Git LFS, not the file itself: fetch it with `git lfs pull`"},
    {0, "PK\x03\x04", "a zip archive, such as PyTorch's .pt: unpack it, or export it with torch.onnx.export"},
    {0, "<", "a web page: the download went wrong"},
    {0, "GGUF", "a GGUF file: export the model to ONNX from where it was trained"},
    {0, "\x89HDF", "an HDF5 file, such as Keras's .h5: convert it with tf2onnx"},
    {4, "TFL3", "a TensorFlow Lite file: convert it with tf2onnx"},
    {4, "ORTM", "onnxruntime's own format: expected the .onnx file that it was made of"},
    {0, "\x1f\x8b", "compressed with gzip: unpack it"},
};

/// ": it is ...", or "".
std::string other_file(std::string_view bytes) {
  for (const OtherFile& other : other_files)
    if (bytes.size() > other.offset && bytes.substr(other.offset).starts_with(other.magic))
      return ": it is " + std::string(other.what);
  return "";
}

std::string slimmed(std::span<const std::byte> bytes, const ImportOptions& options) {
  try {
    return slim_model(bytes, options);
  } catch (const Error& error) {
    const std::string other = other_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (other.empty()) throw;
    throw Error("not_onnx", options.label, options.label + ": this is not an ONNX model" + other);
  }
}

}  // namespace

const onnx::ModelProto& model_message(std::span<const std::byte> bytes, const ImportOptions& options,
                                      google::protobuf::Arena& arena) {
  const std::string slim = slimmed(bytes, options);
  auto* model = google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  if (model->ParseFromString(slim)) return *model;
  throw Error("not_onnx", options.label, options.label + ": this is not an ONNX model, or it is damaged");
}

}  // namespace sdip
