// The compressor of `.weight`.
#include "core/program/weights/packed.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr int raw_stream = -MAX_WBITS;  // no header and no check sum: the program says how long it is
constexpr int most_effort = 9, most_memory = 9;

/// Where byte i of the order that is packed stands.
std::vector<std::byte> reordered(std::span<const std::byte> bytes, std::size_t number_bytes, bool back) {
  std::vector<std::byte> out(bytes.begin(), bytes.end());
  const std::size_t numbers = bytes.size() / number_bytes;
  for (std::size_t n = 0; n < numbers; ++n)
    for (std::size_t b = 0; b < number_bytes; ++b) {
      const std::size_t apart = b * numbers + n, together = n * number_bytes + b;
      if (back)
        out[together] = bytes[apart];
      else
        out[apart] = bytes[together];
    }
  return out;
}

Bytef* bytes_of(const std::byte* data) {  // zlib reads through a pointer that is not const
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(data));
}

constexpr std::size_t most_at_once = std::numeric_limits<uInt>::max() / 2;

uInt piece(std::size_t left) { return static_cast<uInt>(std::min(left, most_at_once)); }

}  // namespace

std::vector<std::byte> packed(std::span<const std::byte> bytes, std::size_t number_bytes) {
  const std::vector<std::byte> in = reordered(bytes, number_bytes, false);
  z_stream stream{};
  check(deflateInit2(&stream, most_effort, Z_DEFLATED, raw_stream, most_memory, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib starts");
  std::vector<std::byte> out(deflateBound(&stream, in.size()));
  stream.next_in = bytes_of(in.data());
  stream.next_out = bytes_of(out.data());
  int state = Z_OK;
  while (state == Z_OK) {
    stream.avail_in = piece(in.size() - stream.total_in);
    stream.avail_out = piece(out.size() - stream.total_out);
    const bool last = stream.total_in + stream.avail_in == in.size();
    state = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
  }
  out.resize(stream.total_out);
  deflateEnd(&stream);
  check(state == Z_STREAM_END, "zlib packs");
  return out;
}

std::optional<std::vector<std::byte>> unpacked(std::span<const std::byte> packed, std::size_t count,
                                               std::size_t number_bytes) {
  z_stream stream{};
  check(inflateInit2(&stream, raw_stream) == Z_OK, "zlib starts");
  std::vector<std::byte> out(count + 1);  // a byte more: a stream of more bytes is seen
  stream.next_in = bytes_of(packed.data());
  stream.next_out = bytes_of(out.data());
  int state = Z_OK;
  while (state == Z_OK) {
    stream.avail_in = piece(packed.size() - stream.total_in);
    stream.avail_out = piece(out.size() - stream.total_out);
    state = inflate(&stream, Z_NO_FLUSH);
  }
  const std::size_t read = stream.total_in, made = stream.total_out;
  inflateEnd(&stream);
  const bool ended = state == Z_STREAM_END && made == count;
  if (!ended || std::ranges::any_of(packed.subspan(read), [](std::byte b) { return b != std::byte{0}; }))
    return std::nullopt;
  out.resize(count);
  return reordered(out, number_bytes, true);
}

}  // namespace sdip
