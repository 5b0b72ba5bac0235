// Any bytes are imported or refused with an Error: no crash, hang, Bug or other exception.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/error.h"
#include "core/onnx/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    sdip::Graph graph = sdip::import_onnx(std::as_bytes(std::span(data, size)));
    sdip::rewrite(graph);
    sdip::facts_of(graph);
  } catch (const sdip::Error&) {
  }
  return 0;
}
