// Graphs as bytes: what is written is read, and bytes that nobody wrote are refused.
#include "core/graph/serial.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/onnx/import.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

Graph built_in(const char* name) { return import_onnx(bytes_of(write_model(name, {}))); }

std::string refusal_of(const std::string& bytes) {
  try {
    graph_of_bytes(bytes_of(bytes));
  } catch (const Error& error) {
    return error.code + ": " + error.what();
  }
  return "";
}

/// Bytes say everything that a graph holds but its links, which follow: equal bytes, equal links, equal graphs.
void expect_round_trip(const Graph& graph, const std::string& what) {
  const std::string bytes = to_bytes(graph);
  const Graph again = graph_of_bytes(bytes_of(bytes));
  EXPECT_EQ(to_bytes(again), bytes) << what;
  ASSERT_EQ(again.values.size(), graph.values.size()) << what;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    EXPECT_EQ(again.values[v].producer, graph.values[v].producer) << what;
    EXPECT_EQ(again.values[v].consumers, graph.values[v].consumers) << what;
  }
  const GraphFacts before = facts_of(graph), after = facts_of(again);
  EXPECT_EQ(after.parameters, before.parameters) << what;
  EXPECT_EQ(after.macs_conv + after.macs_linear + after.macs_matmul,
            before.macs_conv + before.macs_linear + before.macs_matmul)
      << what;
  EXPECT_EQ(after.operator_counts, before.operator_counts) << what;
}

TEST(serial, built_in_models_are_the_same_after_a_round_trip_as_imported_and_as_rewritten) {
  for (const char* name : {"tiny-sd-unet", "resnet50", "bert-base", "sd15-unet"}) {
    Graph graph = built_in(name);
    expect_round_trip(graph, name);
    rewrite(graph);
    expect_round_trip(graph, std::string(name) + ", rewritten");
  }
}

TEST(serial, real_exports_are_the_same_after_a_round_trip) {
  const std::filesystem::path folder = std::string(SDIP_SHARED_DIR) + "/models/exports";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no real exports in " << folder;
  int tried = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx" || entry.file_size() > 8'000'000) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    Graph graph;
    try {
      graph = import_onnx(bytes_of(text.str()));
    } catch (const Error&) {
      continue;  // dynamic ones want their dimensions bound: others ask for that
    }
    ++tried;
    expect_round_trip(graph, entry.path());
    rewrite(graph);
    expect_round_trip(graph, entry.path().string() + ", rewritten");
  }
  EXPECT_GT(tried, 0);
}

TEST(serial, random_damage_is_refused_or_read_as_another_graph_and_never_crashes) {
  Graph graph = built_in("tiny-sd-unet");
  rewrite(graph);
  const std::string whole = to_bytes(graph);
  std::mt19937 random(7);
  const auto below = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most - 1)(random);
  };
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = whole;
    for (std::size_t n = 1 + below(4); n > 0; --n) {
      const std::size_t at = below(bytes.size());
      switch (below(4)) {
        case 0:
          bytes[at] = static_cast<char>(below(256));
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
          break;
        case 2:
          bytes.erase(at, 1 + below(8));
          break;
        default:
          bytes.insert(at, 1 + below(4), static_cast<char>(below(256)));
      }
    }
    try {
      const Graph read = graph_of_bytes(bytes_of(bytes));
      facts_of(read);  // what was let through holds together
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "bytes_invalid");
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(serial, every_truncation_is_refused) {
  Graph graph = built_in("tiny-sd-unet");
  const std::string whole = to_bytes(graph);
  for (std::size_t length = 0; length < whole.size(); length += 1 + length / 50)
    EXPECT_NE(refusal_of(whole.substr(0, length)), "") << length;
  EXPECT_NE(refusal_of(whole + '\0').find("more bytes than a graph has"), std::string::npos);
}

TEST(serial, a_shape_that_the_operator_does_not_make_is_refused) {
  Graph graph = built_in("tiny-sd-unet");
  const auto out = static_cast<std::size_t>(graph.nodes[3].outputs[0]);
  graph.values[out].operand.shape.back() += 1;
  EXPECT_NE(refusal_of(to_bytes(graph)), "");
}

TEST(serial, a_value_used_before_it_is_made_is_refused) {
  Graph graph = built_in("tiny-sd-unet");
  std::swap(graph.nodes.front(), graph.nodes.back());
  EXPECT_NE(refusal_of(to_bytes(graph)).find("used before it is made"), std::string::npos);
}

TEST(serial, numbers_that_a_type_does_not_hold_are_refused) {
  Graph graph = built_in("tiny-sd-unet");
  for (Value& value : graph.values) {
    if (!value.operand.value || value.operand.value->floats.empty()) continue;
    value.operand.value->floats[0] = 0.1;  // no float32
    EXPECT_NE(refusal_of(to_bytes(graph)).find("its type does not hold"), std::string::npos);
    return;
  }
  GTEST_SKIP() << "the model has no small float constant";
}

TEST(bytes, fields_are_what_their_description_says) {
  ByteWriter out;
  out.count(300);
  out.number(-1);
  out.text("ab");
  EXPECT_EQ(out.take(),
            "\xac\x02\x01\x02"
            "ab");
}

TEST(bytes, numbers_keep_their_value_over_the_whole_range) {
  ByteWriter out;
  for (const std::int64_t value : {std::int64_t{0}, INT64_MIN, INT64_MAX, std::int64_t{-64}, std::int64_t{64}})
    out.number(value);
  const std::string bytes = out.take();
  ByteReader in(bytes_of(bytes));
  for (const std::int64_t value : {std::int64_t{0}, INT64_MIN, INT64_MAX, std::int64_t{-64}, std::int64_t{64}})
    EXPECT_EQ(in.number(), value);
}

TEST(bytes, a_count_beyond_what_is_there_allocates_nothing) {
  const std::string bytes = "\xff\xff\xff\xff\x0f";
  ByteReader in(bytes_of(bytes));
  EXPECT_THROW(in.size(SIZE_MAX), Error);
  const std::string long_number(11, '\xff');
  ByteReader other(bytes_of(long_number));
  EXPECT_THROW(other.count(), Error);
}

}  // namespace
}  // namespace sdip
