// One target under libFuzzer: which one, the build says (SDIP_FUZZ_TARGET).
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/error.h"
#include "tests/fuzz/target.h"

namespace {

const sdip::fuzz::Target& target() {
  for (const auto& row : sdip::fuzz::targets()) {
    if (row.name == SDIP_FUZZ_TARGET) return row;
  }
  throw sdip::Bug("no such target");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target().run({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  sdip::fuzz::Random random(seed);
  const std::string made = target().changed(std::string(reinterpret_cast<const char*>(data), size), random);
  const std::size_t length = std::min(made.size(), most);
  std::memcpy(data, made.data(), length);
  return length;
}
