// The hash SHA-256.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sdip {

/// SHA-256, in lower-case hexadecimal.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  std::string hex();

 private:
  void* context_;
};
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace sdip
