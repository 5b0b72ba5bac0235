// Bytes written and read field by field.
#include "core/base/bytes.h"

#include <bit>

#include "core/base/error.h"

namespace sdip {

void ByteWriter::count(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
  byte(static_cast<std::uint8_t>(value));
}

void ByteWriter::number(std::int64_t value) {
  count((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

void ByteWriter::real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) byte(static_cast<std::uint8_t>(bits >> shift));
}

void ByteWriter::text(std::string_view value) {
  size(value.size());
  raw(value);
}

void ByteReader::refuse(const std::string& what) const {
  throw Error("bytes_invalid", std::to_string(at_), fmt::format("at byte {}: {}", at_, what));
}

std::uint8_t ByteReader::byte() {
  if (left() == 0) refuse("the bytes end early");
  return std::to_integer<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ByteReader::count() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint64_t next = byte();
    if (shift == 63 && next > 1) break;
    value |= (next & 0x7f) << shift;
    if (next < 0x80) return value;
  }
  refuse("a number of more than 64 bits");
}

std::size_t ByteReader::size(std::size_t most, std::size_t least_bytes) {
  const std::uint64_t value = count();
  if (value > most) refuse(fmt::format("a count of {}, expected at most {}", value, most));
  if (value > left() / least_bytes) refuse("a count of more than the bytes that are there can hold");
  return static_cast<std::size_t>(value);
}

std::int64_t ByteReader::number() {
  const std::uint64_t bits = count();
  return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
}

std::int64_t ByteReader::number(std::int64_t least, std::int64_t most) {
  const std::int64_t value = number();
  if (value < least || value > most) {
    refuse(fmt::format("{}, expected {} to {}", value, least, most));
  }
  return value;
}

double ByteReader::real() {
  std::uint64_t bits = 0;
  for (int shift = 0; shift < 64; shift += 8) bits |= static_cast<std::uint64_t>(byte()) << shift;
  return std::bit_cast<double>(bits);
}

std::string ByteReader::text(std::size_t most_bytes) {
  const auto bytes = raw(size(most_bytes));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool ByteReader::flag() {
  const std::uint8_t value = byte();
  if (value > 1) refuse("a flag is 0 or 1");
  return value == 1;
}

std::span<const std::byte> ByteReader::raw(std::size_t bytes) {
  if (bytes > left()) refuse("the bytes end early");
  const auto piece = bytes_.subspan(at_, bytes);
  at_ += bytes;
  return piece;
}

}  // namespace sdip
