// Reading models.
#include "server/models/read_model.h"

namespace sdip {

ReadModel read_model(std::span<const std::byte> bytes, const ImportOptions& options) {
  ReadModel model;
  model.as_written = import_onnx(bytes, options);
  model.rewritten = model.as_written;
  model.rewrites = rewrite(model.rewritten);
  return model;
}

}  // namespace sdip
