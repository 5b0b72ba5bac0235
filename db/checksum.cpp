// XXH3, whose values are fixed since version 0.8 of its library.
#include "db/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sdip {

std::uint64_t checksum_of(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace sdip
