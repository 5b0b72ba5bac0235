// Points to blobs and back; all numbers little endian.
#include "db/chunk.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "core/base/error.h"
#include "core/base/units.h"
#include "db/checksum.h"

namespace sdip {
namespace {

/// First byte of a column; `raw` was written before version 7 alone.
constexpr char raw = 0, constant = 1, packed = 2, derived = 3;
constexpr std::size_t one_number = 1 + 8, packed_head = 1 + 1 + 1 + 8;
constexpr std::uint64_t one_nan = 0x7ff8000000000000u;

template <class Number>
void append_number(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
}

template <class Number>
Number read_number(std::string_view bytes, std::size_t at) {
  Number number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    number = static_cast<Number>(number << 8) | static_cast<Number>(static_cast<unsigned char>(bytes[at + i]));
  return number;
}

std::uint64_t bits_of_value(double value) {
  return std::isnan(value) ? one_nan : std::bit_cast<std::uint64_t>(value);
}

/// Each number's lowest `bits` bits, one behind the other, from the lowest bit of a byte on.
void put_packed(std::string& bytes, std::span<const std::uint64_t> numbers, int bits) {
  std::uint64_t held = 0;
  int count = 0;  // bits of `held`
  for (const std::uint64_t number : numbers) {
    held |= number << count;
    count += bits;
    if (count < 64) continue;
    append_number(bytes, held);
    count -= 64;
    held = count == 0 ? 0 : number >> (bits - count);
  }
  for (; count > 0; count -= 8, held >>= 8) bytes += static_cast<char>(held & 0xff);
}

std::size_t packed_bytes(std::size_t count, int bits) { return (count * as_size(bits) + 7) / 8; }

/// Number `place` of what put_packed wrote, with at least eight bytes more behind it.
std::uint64_t take_packed(std::string_view bytes, std::size_t place, int bits) {
  const std::size_t at = place * as_size(bits);
  const int within = static_cast<int>(at % 8);
  std::uint64_t number = read_number<std::uint64_t>(bytes, at / 8) >> within;
  if (within > 0) number |= std::uint64_t{static_cast<unsigned char>(bytes[at / 8 + 8])} << (64 - within);
  return bits == 64 ? number : number & ((std::uint64_t{1} << bits) - 1);
}

std::string encode_column(const std::vector<std::uint64_t>& values) {
  if (values.empty()) return "";
  std::string column;
  const std::uint64_t least = *std::ranges::min_element(values);
  std::uint64_t differing = 0;
  for (const std::uint64_t value : values) differing |= value - least;
  if (differing == 0) {
    column += constant;
    append_number(column, least);
    return column;
  }
  const int shift = std::countr_zero(differing), bits = static_cast<int>(std::bit_width(differing)) - shift;
  std::vector<std::uint64_t> numbers;
  for (const std::uint64_t value : values) numbers.push_back((value - least) >> shift);
  column += packed;
  column += static_cast<char>(bits);
  column += static_cast<char>(shift);
  append_number(column, least);
  put_packed(column, numbers, bits);
  return column;
}

/// The bits of the feasible points' metric.
std::vector<std::uint64_t> feasible_bits(const PointBatch& batch, Metric metric) {
  const std::vector<double>& values = batch.values[metric];
  std::vector<std::uint64_t> bits;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (batch.feasible[i] != 0)
      bits.push_back(bits_of_value(values[i]));
    else
      check(std::isnan(values[i]), "encode: an infeasible point has no metrics");
  }
  return bits;
}

/// Whether the row computes the metric of every feasible point, bit for bit.
bool computes(const DerivedMetric& row, const PointBatch& batch) {
  const auto column = [&](Metric metric) -> const std::vector<double>& { return batch.values[metric]; };
  const std::vector<double>&its = column(row.metric), &first = column(row.of[0]), &second = column(row.of[1]);
  for (std::size_t i = 0; i < its.size(); ++i)
    if (batch.feasible[i] != 0 && bits_of_value(row.from(first[i], second[i])) != bits_of_value(its[i]))
      return false;
  return true;
}

[[noreturn]] void damaged(const std::string& where, const char* what) {
  throw Error("store_corrupt", where, std::string("a chunk of points is damaged: ") + what);
}

constexpr std::size_t sum_bytes = 8, entry_bytes = 1 + sum_bytes;  // of the head; of a column, behind its metric

/// The checksum of all that decides what a chunk's points are, among it the checksums of its columns, and thus
/// which it has.
std::uint64_t head_checksum(const ChunkPlace& place, std::string_view flags, std::string_view reason,
                            std::string_view reasons, std::string_view columns) {
  std::string bytes;
  for (const std::int64_t number : {place.sweep, place.first, place.count, place.feasible})
    append_number(bytes, number);
  for (const std::string_view part : {flags, reason, reasons, columns}) {
    append_number(bytes, static_cast<std::uint64_t>(part.size()));
    bytes += part;
  }
  return checksum_of(bytes);
}

}  // namespace

std::string encode_checksums(const ChunkPlace& place, const ChunkBlobs& blobs,
                             const std::array<std::int64_t, metric_count>& metric_ids) {
  std::map<std::int64_t, std::string_view> columns;
  for (std::size_t m = 0; m < metric_count; ++m)
    if (!blobs.columns[m].empty()) columns[metric_ids[m]] = blobs.columns[m];
  std::string sums, checksums;
  for (const auto& [metric, column] : columns) {
    sums += static_cast<char>(metric);
    append_number(sums, checksum_of(column));
  }
  append_number(checksums, head_checksum(place, blobs.flags, blobs.reason, blobs.reasons, sums));
  return checksums + sums;
}

void check_head(const ChunkPlace& place, std::string_view flags, std::string_view reason, std::string_view reasons,
                std::string_view checksums, const std::string& where) {
  if (checksums.size() < sum_bytes || (checksums.size() - sum_bytes) % entry_bytes != 0 ||
      read_number<std::uint64_t>(checksums, 0) !=
          head_checksum(place, flags, reason, reasons, checksums.substr(sum_bytes)))
    damaged(where, "its head is not what was written");
}

void check_column(std::string_view checksums, std::int64_t metric_id, std::string_view column,
                  const std::string& where) {
  bool listed = false;
  for (std::size_t at = sum_bytes; at < checksums.size(); at += entry_bytes) {
    if (static_cast<unsigned char>(checksums[at]) != metric_id) continue;
    listed = !column.empty() && read_number<std::uint64_t>(checksums, at + 1) == checksum_of(column);
    if (!listed) damaged(where, "a column is not what was written");
  }
  if (!listed && !column.empty()) damaged(where, "a column that was not written");
}

std::vector<std::int64_t> column_metrics(std::string_view checksums) {
  std::vector<std::int64_t> metrics;
  for (std::size_t at = sum_bytes; at < checksums.size(); at += entry_bytes)
    metrics.push_back(static_cast<unsigned char>(checksums[at]));
  return metrics;
}

ChunkBlobs encode(const PointBatch& batch) {
  const std::size_t count = batch.feasible.size();
  check(count > 0 && batch.reason.size() == count, "encode: a reason for each of at least one point");
  for (const auto& column : batch.values) check(column.size() == count, "encode: columns of one length");
  ChunkBlobs blobs;
  blobs.count = batch.count();
  blobs.feasible = std::ranges::count_if(batch.feasible, [](std::uint8_t flag) { return flag != 0; });
  blobs.flags.assign((count + 7) / 8, '\0');

  // Reasons are numbered by first use among the infeasible points, whatever the batch's own list holds.
  std::vector<std::uint32_t> number(batch.reasons.size(), std::numeric_limits<std::uint32_t>::max());
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (batch.feasible[i] != 0) {
      blobs.flags[i / 8] = static_cast<char>(static_cast<unsigned char>(blobs.flags[i / 8]) | 1u << i % 8);
      continue;
    }
    std::uint32_t& mine = number.at(batch.reason[i]);
    if (mine == std::numeric_limits<std::uint32_t>::max()) {
      mine = used++;
      const std::string& text = batch.reasons[batch.reason[i]];
      append_number(blobs.reasons, static_cast<std::uint32_t>(text.size()));
      blobs.reasons += text;
    }
    append_number(blobs.reason, mine);
  }
  for (std::size_t m = 0; m < metric_count; ++m)
    blobs.columns[m] = encode_column(feasible_bits(batch, static_cast<Metric>(m)));
  for (std::size_t row = 0; row < derived_metrics().size(); ++row) {
    std::string& column = blobs.columns[derived_metrics()[row].metric];
    if (column.size() <= one_number || !computes(derived_metrics()[row], batch)) continue;
    column = derived;
    append_number(column, std::uint64_t{row});
  }
  return blobs;
}

std::vector<std::uint8_t> decode_flags(std::string_view flags, std::int64_t count, std::int64_t feasible,
                                       const std::string& where) {
  if (count < 1 || static_cast<std::int64_t>(flags.size()) != ceil_div(count, 8)) damaged(where, "its flags");
  std::vector<std::uint8_t> points(as_size(count));
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = static_cast<unsigned char>(flags[i / 8]) >> i % 8 & 1;
  if (std::ranges::count(points, 1) != feasible) damaged(where, "its flags");
  return points;
}

std::vector<std::string> decode_reasons(const std::vector<std::uint8_t>& feasible, std::string_view reason,
                                        std::string_view reasons, const std::string& where) {
  std::vector<std::string_view> texts;
  for (std::size_t at = 0; at < reasons.size();) {
    if (reasons.size() - at < 4) damaged(where, "its reasons");
    const auto length = read_number<std::uint32_t>(reasons, at);
    at += 4;
    if (length > reasons.size() - at) damaged(where, "its reasons");
    texts.push_back(reasons.substr(at, length));
    at += length;
  }
  std::vector<std::string> points(feasible.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < feasible.size(); ++i) {
    if (feasible[i] != 0) continue;
    if (reason.size() - at < 4) damaged(where, "its reasons");
    const auto number = read_number<std::uint32_t>(reason, at);
    at += 4;
    if (number >= texts.size()) damaged(where, "its reasons");
    points[i] = texts[number];
  }
  return points;
}

const DerivedMetric* derived_row(std::string_view column, const std::string& where) {
  if (column.empty() || column[0] != derived) return nullptr;
  if (column.size() != one_number || read_number<std::uint64_t>(column, 1) >= derived_metrics().size())
    damaged(where, "the row by which a column is computed");
  return &derived_metrics()[read_number<std::uint64_t>(column, 1)];
}

void decode_column(std::string_view column, const std::vector<std::uint8_t>& feasible, std::vector<double>& values,
                   const std::string& where) {
  constexpr double none_stored = std::numeric_limits<double>::quiet_NaN();
  if (column.empty()) return values.insert(values.end(), feasible.size(), none_stored), void();
  const auto stored = as_size(std::ranges::count(feasible, 1));
  // A constant has no bits of its own; raw values have all of theirs.
  int bits = 0, shift = 0;
  std::size_t head = one_number, at = 1;
  if (column[0] == raw) {
    bits = 64;
    head = 1;
  } else if (column[0] == packed && column.size() >= packed_head) {
    bits = static_cast<unsigned char>(column[1]);
    shift = static_cast<unsigned char>(column[2]);
    head = packed_head;
    at = 3;
    if (bits < 1 || bits > 64 || shift < 0 || shift > 64 - bits) damaged(where, "the bits of a column");
  } else if (column[0] != constant) {
    damaged(where, "the form of a column");
  }
  if (column.size() != head + packed_bytes(stored, bits)) damaged(where, "the length of a column");
  const std::uint64_t least = column[0] == raw ? 0 : read_number<std::uint64_t>(column, at);
  const std::string numbers = std::string(column.substr(head)) + std::string(8, '\0');
  std::size_t place = 0;
  for (const std::uint8_t flag : feasible) {
    const std::uint64_t number = flag == 0 || bits == 0 ? 0 : take_packed(numbers, place, bits);
    place += flag;
    values.push_back(flag == 0 ? none_stored : std::bit_cast<double>(least + (number << shift)));
  }
}

}  // namespace sdip
