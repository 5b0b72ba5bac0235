// Does a damaged store give an error or the right answer, whatever of it is damaged?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "db/sqlite.h"
#include "tests/core/explore/refusal.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

/// A sweep that is done, one that is not, a validation, a search and two accuracies; closed.
struct Whole {
  Whole() {
    Store store(folder.store());
    for (const std::int64_t points : {600, 400}) {
      const std::int64_t id = add_sample_sweep(store, space);
      const std::vector<IndexRange> some = {{0, points}};
      sweep(space, some, sample_compile, one_by_one(sample_evaluate), {},
            [&](PointBatch&& batch) { store.append(id, batch); });
    }
    store.set_state(1, SweepState::running);
    store.set_state(1, SweepState::done);
    store.add_accuracy("a", {31.5, 0.999, true});
    store.set_point_accuracy(1, 3, "a");
    store.set_point_accuracy(2, 5, "a");
    ValidationRow asked;
    asked.model = "none";
    asked.request_json = "{}";
    const std::int64_t validation = store.add_validation(asked);
    store.set_validation_state(validation, SweepState::running);
    store.end_validation(validation, R"({"passed":true})", std::string(40'000, '7'));
    SearchRow wanted;
    wanted.model = "none";
    wanted.request_json = "{}";
    const std::int64_t search = store.add_search(wanted);
    store.set_search_state(search, SweepState::running);
    store.end_search(search, SweepState::done, "{}", std::string(30'000, '8'));
  }
  TemporaryFolder folder;
  Space space = sample_space(300);
};

std::string hex_of(double value) { return std::to_string(std::bit_cast<std::uint64_t>(value)) + " "; }

std::string columns_of(const Store& store, std::int64_t id, const Space& space) {
  const std::vector<Measure> three = {Metric::latency_s, Metric::area_mm2, Metric::throughput_fps};
  const Columns columns = store.columns(id, space, three);
  std::string text;
  for (std::size_t i = 0; i < columns.index.size(); ++i)
    for (const auto& values : columns.values) text += std::to_string(columns.index[i]) + ":" + hex_of(values[i]);
  return text;
}

std::string pages_of(const Store& store, std::int64_t id, const Space& space) {
  std::string text;
  PageQuery query{.limit = 90, .sort = "-latency_s"};
  do {
    const Page page = store.page(id, space, query);
    for (const StoredPoint& point : page.points)
      text += std::to_string(point.index) + ":" + hex_of(point.values[1]);
    query.cursor = page.next;
  } while (!query.cursor.empty());
  return text;
}

std::string missing_of(const Store& store, std::int64_t id) {
  std::string text = "missing ";
  for (const IndexRange& range : store.missing_ranges(id))
    text += std::to_string(range.first) + "-" + std::to_string(range.end) + " ";
  return text;
}

std::string row_of(const SweepRow& row) {
  return row.name + row.model + row.spec_json + std::string(sweep_state_text(row.state)) +
         std::to_string(row.total) + " " + std::to_string(row.done) + " " + std::to_string(row.feasible) + " " +
         row.created;
}

/// All that can be read, each under a name; what is refused is "".
std::map<std::string, std::string> answers(const std::string& path, const Space& space) {
  std::map<std::string, std::string> found;
  std::unique_ptr<Store> store;
  const auto ask = [&](const std::string& name, const std::function<std::string()>& question) {
    try {
      found[name] = question();
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "store_corrupt") << name << ": " << error.what();
      EXPECT_EQ(error.where, path) << name;
      found[name] = "";
    }
  };
  ask("open", [&] {
    store = std::make_unique<Store>(path);
    return "opened";
  });
  if (!store) return found;
  for (const std::int64_t id : {1, 2}) {
    const std::string sweep = "sweep " + std::to_string(id) + " ";
    ask(sweep + "csv", [&] { return exported(*store, id, space, ExportFormat::csv); });
    ask(sweep + "ndjson", [&] { return exported(*store, id, space, ExportFormat::ndjson); });
    ask(sweep + "columns", [&] { return columns_of(*store, id, space); });
    ask(sweep + "pages", [&] { return pages_of(*store, id, space); });
    ask(sweep + "missing", [&] { return missing_of(*store, id); });
    ask(sweep + "row", [&] { return row_of(store->sweep(id)); });
  }
  ask("validation", [&] { return store->validation_result(1); });
  ask("search", [&] { return store->search_result(1); });
  ask("accuracy", [&] { return hex_of(store->accuracy("a").value_or(StoredAccuracy{}).sqnr_db); });
  return found;
}

/// Writes over some bytes of a file; returns where.
std::vector<std::size_t> damage(const std::string& path, std::size_t bytes, std::mt19937& random) {
  std::string text = file_text(path);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t place = random() % text.size();
    text[place] = static_cast<char>(text[place] ^ static_cast<char>(1 + random() % 255));
    places.push_back(place);
  }
  std::ofstream(path, std::ios::binary) << text;
  return places;
}

TEST(damage, of_any_bytes_is_refused_or_changes_no_answer) {
  const Whole whole;
  const TemporaryFolder folder;
  std::filesystem::copy_file(whole.folder.store(), folder.store());
  const auto right = answers(folder.store(), whole.space);
  for (const auto& [name, answer] : right) ASSERT_NE(answer, "") << name;
  std::mt19937 random(20261123);
  std::size_t refused = 0, answered = 0;
  for (int trial = 0; trial < 100; ++trial) {
    std::filesystem::remove(folder.store());
    std::filesystem::copy_file(whole.folder.store(), folder.store());
    const auto places = damage(folder.store(), 1 + static_cast<std::size_t>(trial) % 3, random);
    for (const auto& [name, answer] : answers(folder.store(), whole.space)) {
      ++(answer.empty() ? refused : answered);
      if (!answer.empty() && answer != right.at(name))
        FAIL() << name << " of trial " << trial << ", bytes " << testing::PrintToString(places);
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(answered, 100u);
}

TEST(damage, of_the_header_is_refused_byte_by_byte) {
  const Whole whole;
  const TemporaryFolder folder;
  const std::string text = file_text(whole.folder.store());
  std::filesystem::copy_file(whole.folder.store(), folder.store());
  const auto right = answers(folder.store(), whole.space);
  for (std::size_t place = 0; place < 108; ++place) {
    for (const char flip : {'\x01', '\x0c', '\xff'}) {
      std::string damaged = text;
      damaged[place] = static_cast<char>(damaged[place] ^ flip);
      std::ofstream(folder.store(), std::ios::binary) << damaged;
      const auto found = answers(folder.store(), whole.space);
      EXPECT_EQ(found.at("open"), "") << "byte " << place;
    }
  }
}

TEST(damage, is_listed_with_its_place) {
  const Whole whole;
  EXPECT_THAT(check_store(whole.folder.store()).damages, testing::IsEmpty());
  std::mt19937 random(7);
  const std::string text = file_text(whole.folder.store());
  std::string damaged = text;
  const std::size_t pages = damaged.size() / 16384;
  int listed = 0;
  for (std::size_t page = 1; page < pages; ++page) {
    damaged = text;
    damaged[page * 16384 + random() % 16384] ^= '\x10';
    std::ofstream(whole.folder.store(), std::ios::binary) << damaged;
    const StoreCheck found = check_store(whole.folder.store());
    EXPECT_THAT(found.damages, testing::Not(testing::IsEmpty())) << "page " << page + 1;
    for (const std::string& damage : found.damages)
      if (damage.starts_with("points 256 to 511 of sweep 1: ")) ++listed;
  }
  EXPECT_GT(listed, 2) << "the columns of a chunk lie on several pages";
}

TEST(damage, of_a_chunk_that_its_pages_do_not_show_is_found) {
  const Whole whole;
  const std::string path = whole.folder.store();
  const auto refuse = [&](const char* sql) {
    const std::string before = file_text(path);
    Connection(path, Connection::Access::read_write).execute(sql);
    {
      const Store store(path);
      EXPECT_EQ(refusal([&] { exported(store, 1, whole.space, ExportFormat::csv); }), "store_corrupt at " + path)
          << sql;
    }
    EXPECT_THAT(check_store(path).damages, testing::Not(testing::IsEmpty())) << sql;
    std::ofstream(path, std::ios::binary) << before;
  };
  refuse("DELETE FROM chunk_column WHERE id = 259");
  refuse("UPDATE chunk_column SET data = (SELECT data FROM chunk_column WHERE id = 257) WHERE id = 258");
  refuse("UPDATE chunk SET reasons = x'0100000041' WHERE id = 1");
  refuse("UPDATE chunk SET flags = (SELECT flags FROM chunk WHERE id = 2) WHERE id = 1");
  refuse("UPDATE chunk SET first = 512 WHERE first = 256 AND sweep = 1; UPDATE chunk SET first = 256 WHERE id = 3");
  refuse("UPDATE chunk SET checksums = x'00' WHERE id = 1");
  const Store store(path);
  EXPECT_EQ(refusal([&] { exported(store, 1, whole.space, ExportFormat::csv); }), "accepted");
}

}  // namespace
}  // namespace sdip
