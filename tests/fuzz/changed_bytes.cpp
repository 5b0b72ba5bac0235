// Bytes changed without knowing what they mean.
#include "tests/fuzz/target.h"

namespace sdip::fuzz {
namespace {

constexpr std::string_view pieces[] = {std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9),
                                       std::string_view("\x80\x80\x80\x80\x10", 5),
                                       std::string_view("\x00\x00", 2),
                                       "-1",
                                       "0",
                                       "18446744073709551616",
                                       "../",
                                       "offset ",
                                       "length ",
                                       "\n"};

void change(std::string& bytes, Random& random) {
  const std::size_t at = below(random, bytes.size() + 1), length = 1 + below(random, 8);
  switch (below(random, 6)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(random());
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
      break;
    case 2:
      bytes.insert(at, pieces[below(random, std::size(pieces))]);
      break;
    case 3:
      if (at < bytes.size()) bytes.erase(at, length);
      break;
    case 4:
      if (at < bytes.size()) bytes.insert(below(random, bytes.size() + 1), bytes.substr(at, length * 4));
      break;
    default:
      if (at < bytes.size() && below(random, 8) == 0) bytes.resize(at);
  }
}

}  // namespace

std::string changed_bytes(const std::string& input, Random& random) {
  std::string bytes = input;
  for (std::size_t i = 1 + below(random, 4); i > 0; --i) change(bytes, random);
  return bytes;
}

}  // namespace sdip::fuzz
