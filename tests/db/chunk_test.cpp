// Which bytes does a batch become, and does it come back?
#include "db/chunk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "db/bounds.h"
#include "tests/core/explore/refusal.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

/// Points 0 to 9: 3 and 8 infeasible for one reason, 5 for another; metric m of point i is i / 3 + m, the last
/// all 2.
PointBatch sample_batch() {
  PointBatch batch;
  for (int i = 0; i < 10; ++i) {
    Outcome outcome;
    outcome.feasible = i != 3 && i != 5 && i != 8;
    outcome.reason = i == 5 ? "b" : "aa";
    for (std::size_t m = 0; m < metric_count; ++m) outcome.values[m] = i / 3.0 + static_cast<double>(m);
    outcome.values.back() = 2;
    append(batch, outcome);
  }
  return batch;
}

TEST(chunk, is_written_as_documented) {
  using std::string_literals::operator""s;
  const ChunkBlobs blobs = encode(sample_batch());
  EXPECT_EQ(blobs.flags, "\xd7\x02"s);
  EXPECT_EQ(blobs.reasons, "\x02\0\0\0aa\x01\0\0\0b"s);
  EXPECT_EQ(blobs.reason, "\0\0\0\0\x01\0\0\0\0\0\0\0"s);
  EXPECT_EQ(blobs.columns.back(), "\x01\0\0\0\0\0\0\0\x40"s);
}

/// Points that are all feasible, with these values of one metric and 1 of all others.
PointBatch batch_of(Metric metric, const std::vector<double>& values) {
  PointBatch batch;
  for (const double value : values) {
    Outcome outcome;
    outcome.feasible = true;
    outcome.values.fill(1);
    outcome.values[static_cast<std::size_t>(metric)] = value;
    append(batch, outcome);
  }
  return batch;
}

TEST(chunk, packs_columns_as_documented) {
  using std::string_literals::operator""s;
  const ChunkBlobs blobs = encode(batch_of(Metric::latency_s, {1, 1.5, 2}));
  EXPECT_EQ(blobs.columns[static_cast<std::size_t>(Metric::latency_s)], "\x02\x02\x33\0\0\0\0\0\0\xf0\x3f\x24"s);
  EXPECT_EQ(blobs.columns[static_cast<std::size_t>(Metric::edp_js)], "\x01\0\0\0\0\0\0\xf0\x3f"s)
      << "1, which is not 1 J times the latency";
}

TEST(chunk, does_not_store_what_follows) {
  using std::string_literals::operator""s;
  PointBatch batch = batch_of(Metric::latency_s, {1, 1.5, 2});
  std::vector<double>& edp = batch.values[static_cast<std::size_t>(Metric::edp_js)];
  edp = {1, 1.5, 2};  // 1 J times the latency
  const auto column = [&] { return encode(batch).columns[static_cast<std::size_t>(Metric::edp_js)]; };
  EXPECT_EQ(column(), "\x03\0\0\0\0\0\0\0\0"s);
  EXPECT_EQ(derived_row(column(), "")->metric, Metric::edp_js);
  edp[1] = std::nextafter(edp[1], 2);
  EXPECT_EQ(column()[0], '\x02') << "it does not";
  EXPECT_EQ(derived_row(column(), ""), nullptr);
}

TEST(chunk, rows_that_compute_read_metrics_that_are_stored) {
  for (const DerivedMetric& row : derived_metrics())
    for (const Metric of : row.of)
      for (const DerivedMetric& other : derived_metrics()) EXPECT_NE(of, other.metric);
}

TEST(chunk, columns_of_every_width_come_back) {
  std::uint64_t state = 1;
  for (int bits = 1; bits <= 64; ++bits)
    for (const int shift : {0, 1, 64 - bits}) {
      if (bits + shift > 64) continue;
      std::vector<double> values;
      for (int i = 0; i < 100; ++i) {
        state = state * 6364136223846793005 + 1442695040888963407;
        values.push_back(std::bit_cast<double>(state >> (64 - bits) << shift));
      }
      const ChunkBlobs blobs = encode(batch_of(Metric::latency_s, values));
      const std::string& column = blobs.columns[static_cast<std::size_t>(Metric::latency_s)];
      EXPECT_LE(column.size(), 11u + static_cast<std::size_t>(100 * bits + 7) / 8);
      std::vector<double> back;
      decode_column(column, std::vector<std::uint8_t>(100, 1), back, "");
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) continue;
        ASSERT_EQ(std::bit_cast<std::uint64_t>(back[i]), std::bit_cast<std::uint64_t>(values[i]))
            << bits << " bits, " << shift << " shifted";
      }
    }
}

TEST(chunk, columns_of_older_stores_are_read) {
  using std::string_literals::operator""s;
  std::vector<double> values;
  decode_column("\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40"s, {1, 0, 1}, values, "");
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], 2);
}

TEST(chunk, comes_back_bit_for_bit) {
  PointBatch batch = sample_batch();
  batch.values[2][0] = -0.0;
  batch.values[2][1] = std::numeric_limits<double>::denorm_min();
  batch.values[2][2] = std::numeric_limits<double>::quiet_NaN();
  const ChunkBlobs blobs = encode(batch);
  const auto feasible = decode_flags(blobs.flags, blobs.count, blobs.feasible, "");
  EXPECT_EQ(feasible, batch.feasible);
  EXPECT_THAT(decode_reasons(feasible, blobs.reason, blobs.reasons, ""),
              testing::ElementsAre("", "", "", "aa", "", "b", "", "", "aa", ""));
  for (std::size_t m = 0; m < metric_count; ++m) {
    std::vector<double> values;
    decode_column(blobs.columns[m], feasible, values, "");
    for (std::size_t i = 0; i < 10; ++i) {
      if (std::isnan(batch.values[m][i]))
        EXPECT_TRUE(std::isnan(values[i]));
      else
        EXPECT_EQ(std::bit_cast<std::uint64_t>(values[i]), std::bit_cast<std::uint64_t>(batch.values[m][i]));
    }
  }
}

TEST(chunk, refuses_damaged_blobs) {
  const ChunkBlobs blobs = encode(sample_batch());
  const auto feasible = decode_flags(blobs.flags, 10, 7, "f");
  const std::string damaged = "store_corrupt at f";
  std::vector<double> values;
  EXPECT_EQ(refusal([&] { decode_flags(blobs.flags, 17, 7, "f"); }), damaged);
  EXPECT_EQ(refusal([&] { decode_flags(blobs.flags, 10, 6, "f"); }), damaged);
  EXPECT_EQ(refusal([&] { decode_flags(blobs.flags, INT64_MAX, 7, "f"); }), damaged);
  EXPECT_EQ(refusal([&] { decode_flags("x", -3, 0, "f"); }), damaged);
  EXPECT_EQ(refusal([&] { decode_reasons(feasible, blobs.reason.substr(4), blobs.reasons, "f"); }), damaged);
  EXPECT_EQ(refusal([&] { decode_reasons(feasible, blobs.reason, blobs.reasons.substr(0, 9), "f"); }), damaged);
  EXPECT_EQ(refusal([&] { decode_reasons(feasible, blobs.reason, blobs.reasons.substr(0, 6), "f"); }), damaged);
  EXPECT_EQ(refusal([&] { decode_column(blobs.columns[0].substr(1), feasible, values, "f"); }), damaged);
  for (const std::string start :
       {"\x03", "\x04", "\x02\x41", "\x02\x80", "\x02\x01"})  // forms, and bits of packed ones
    EXPECT_EQ(refusal([&] { decode_column(start + blobs.columns[0].substr(start.size()), feasible, values, "f"); }),
              damaged);
  using std::string_literals::operator""s;
  EXPECT_EQ(refusal([&] { derived_row("\x03\xff\0\0\0\0\0\0\0"s, "f"); }), damaged);
  EXPECT_EQ(refusal([&] { derived_row("\x03", "f"); }), damaged);
}

/// The example of docs/formats.md: the points of sample_batch, one column, that of metric 5.
ChunkBlobs documented_chunk() {
  ChunkBlobs blobs = encode(sample_batch());
  const std::string column = blobs.columns.back();
  blobs.columns = {};
  blobs.columns[0] = column;
  return blobs;
}

constexpr ChunkPlace documented_place{.sweep = 1, .first = 0, .count = 10, .feasible = 7};

TEST(chunk, has_checksums_as_documented) {
  const ChunkBlobs blobs = documented_chunk();
  std::array<std::int64_t, metric_count> ids{};
  ids[0] = 5;
  const std::string checksums = encode_checksums(documented_place, blobs, ids);
  std::string hex;
  for (const char byte : checksums) {
    constexpr const char* digits = "0123456789abcdef";
    hex += digits[static_cast<unsigned char>(byte) >> 4];
    hex += digits[static_cast<unsigned char>(byte) & 15];
    hex += ' ';
  }
  hex.pop_back();
  const std::string page = file_text(std::string(SDIP_SOURCE_DIR) + "/docs/formats.md");
  EXPECT_THAT(page, testing::HasSubstr("checksums  " + hex + "\n"));
  EXPECT_THAT(column_metrics(checksums), testing::ElementsAre(5));
}

TEST(chunk, is_held_to_its_checksums) {
  const ChunkBlobs blobs = documented_chunk();
  std::array<std::int64_t, metric_count> ids{};
  ids[0] = 5;
  const std::string sums = encode_checksums(documented_place, blobs, ids);
  const auto head = [&](const ChunkPlace& place, const ChunkBlobs& of, const std::string& checksums) {
    return refusal([&] { check_head(place, of.flags, of.reason, of.reasons, checksums, "f"); });
  };
  const auto column = [&](std::int64_t metric, const std::string& bytes) {
    return refusal([&] { check_column(sums, metric, bytes, "f"); });
  };
  const std::string damaged = "store_corrupt at f", fine = "accepted";
  EXPECT_EQ(head(documented_place, blobs, sums), fine);
  for (std::int64_t ChunkPlace::*number :
       {&ChunkPlace::sweep, &ChunkPlace::first, &ChunkPlace::count, &ChunkPlace::feasible}) {
    ChunkPlace moved = documented_place;
    ++(moved.*number);
    EXPECT_EQ(head(moved, blobs, sums), damaged);
  }
  for (std::string ChunkBlobs::*blob : {&ChunkBlobs::flags, &ChunkBlobs::reason, &ChunkBlobs::reasons}) {
    ChunkBlobs other = blobs;
    (other.*blob)[0] ^= '\x01';
    EXPECT_EQ(head(documented_place, other, sums), damaged);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::string other = sums;
    other[i] ^= '\x40';
    EXPECT_EQ(head(documented_place, blobs, other), damaged) << i;
    EXPECT_EQ(head(documented_place, blobs, sums.substr(0, i)), damaged) << i;
  }
  const std::string bytes = blobs.columns[0];
  EXPECT_EQ(column(5, bytes), fine);
  EXPECT_EQ(column(6, ""), fine);
  EXPECT_EQ(column(5, ""), damaged) << "it is listed";
  EXPECT_EQ(column(6, bytes), damaged) << "it is not";
  EXPECT_EQ(column(5, bytes.substr(0, 8) + '\x41'), damaged);
}

TEST(bounds, are_of_the_feasible_points_that_have_a_value) {
  PointBatch batch;
  const auto add = [&](bool feasible, double value) {
    Outcome outcome;
    outcome.feasible = feasible;
    outcome.values.fill(value);
    append(batch, outcome);
  };
  std::array<std::int64_t, metric_count> ids{};
  for (std::size_t m = 0; m < metric_count; ++m) ids[m] = static_cast<std::int64_t>(m) + 7;
  add(false, 1);
  EXPECT_EQ(encode_bounds(batch, ids), "");
  add(true, 5);
  add(true, -3);
  const auto bounds = decode_bounds(encode_bounds(batch, ids), 7, "");
  ASSERT_TRUE(bounds.has_value());
  EXPECT_EQ(bounds->least, -3);
  EXPECT_EQ(bounds->most, 5);
  EXPECT_FALSE(bounds->some_without);
  EXPECT_FALSE(decode_bounds(encode_bounds(batch, ids), 6, "").has_value());
  add(true, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(decode_bounds(encode_bounds(batch, ids), 7, "")->some_without);
  EXPECT_EQ(refusal([] { decode_bounds("short", 7, "here"); }), "store_corrupt at here");
}

}  // namespace
}  // namespace sdip
