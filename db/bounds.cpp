// Bounds of metrics as a blob: an entry a metric.
#include "db/bounds.h"

#include <bit>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr std::size_t bounds_entry_bytes = 1 + 1 + 8 + 8;

void put_bits(std::string& bytes, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(bits >> (8 * i) & 0xff);
}

double take_bits(std::string_view bytes, std::size_t at) {
  std::uint64_t bits = 0;
  for (std::size_t i = 8; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[at + i]);
  return std::bit_cast<double>(bits);
}

}  // namespace

std::string encode_bounds(const PointBatch& batch, const std::array<std::int64_t, metric_count>& metric_ids) {
  std::string bytes;
  for (std::size_t m = 0; m < metric_count; ++m) {
    constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
    MetricBounds bounds{no_value, no_value, false};
    for (std::size_t i = 0; i < batch.feasible.size(); ++i) {
      if (batch.feasible[i] == 0) continue;
      const double value = batch.values[m][i];
      bounds.least = std::fmin(bounds.least, value);
      bounds.most = std::fmax(bounds.most, value);
      bounds.some_without = bounds.some_without || std::isnan(value);
    }
    if (std::isnan(bounds.least) && !bounds.some_without) continue;
    bytes += static_cast<char>(metric_ids[m]);
    bytes += bounds.some_without ? '\1' : '\0';
    put_bits(bytes, bounds.least);
    put_bits(bytes, bounds.most);
  }
  return bytes;
}

std::optional<MetricBounds> decode_bounds(std::string_view bytes, std::int64_t metric_id,
                                          const std::string& where) {
  if (bytes.size() % bounds_entry_bytes != 0)
    throw Error("store_corrupt", where, "the bounds of a chunk of points are damaged");
  for (std::size_t at = 0; at < bytes.size(); at += bounds_entry_bytes)
    if (static_cast<unsigned char>(bytes[at]) == metric_id)
      return MetricBounds{take_bits(bytes, at + 2), take_bits(bytes, at + 10), bytes[at + 1] != 0};
  return std::nullopt;
}

}  // namespace sdip
