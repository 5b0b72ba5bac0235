// Bytes written and read field by field: what our own binary forms are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sdip {

/// Appends fields to bytes. A count is 7 bits a byte, lowest first, the top bit set on all but the last: 300 is ac
/// 02. A number is its zigzag (0, -1, 1, -2, ... become 0, 1, 2, 3, ...) as a count. A text is its length as a
/// count, and its bytes. A float is the 8 bytes of a double, little-endian.
class ByteWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void count(std::uint64_t value);
  void size(std::size_t value) { count(value); }
  void number(std::int64_t value);
  void real(double value);
  void text(std::string_view value);
  void raw(std::string_view value) { bytes_ += value; }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what ByteWriter wrote, trusting nothing: every method throws Error("bytes_invalid", offset, ...) when the
/// bytes end early or a field breaks its bound, and allocates no more than the bytes that are there can fill.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint8_t byte();
  std::uint64_t count();
  /// A count of things that follow, at most `most`, each of which takes at least `least_bytes`.
  std::size_t size(std::size_t most, std::size_t least_bytes = 1);
  std::int64_t number();
  /// A number within [least, most].
  std::int64_t number(std::int64_t least, std::int64_t most);
  double real();
  std::string text(std::size_t most_bytes);
  bool flag();
  std::span<const std::byte> raw(std::size_t bytes);
  std::size_t left() const { return bytes_.size() - at_; }

  [[noreturn]] void refuse(const std::string& what) const;

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace sdip
