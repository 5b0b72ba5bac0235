// Points that are kept: their analyses, packed.
#include <zlib.h>

#include "core/base/error.h"
#include "db/parts.h"

namespace sdip {
namespace {

constexpr std::int64_t most_text_bytes = std::int64_t{256} << 20;

std::string packed_analyses(std::string_view text) {
  uLongf bytes = compressBound(text.size());
  std::string out(bytes, '\0');
  const int state = compress(reinterpret_cast<Bytef*>(out.data()), &bytes,
                             reinterpret_cast<const Bytef*>(text.data()), text.size());
  check(state == Z_OK, "zlib packs");
  out.resize(bytes);
  return out;
}

constexpr std::string_view kept_columns = "SELECT point, created, signature, text_bytes";

KeptPoint row_of(const Statement& row) {
  return {row.integer(0), std::string(row.text(1)), std::string(row.text(2)), row.integer(3)};
}

Error not_kept() { return {"not_found", "index", "the analyses of this point are not kept"}; }

}  // namespace

std::string unpacked_analyses(std::string_view blob, std::int64_t text_bytes, const std::string& path) {
  std::string text(as_size(text_bytes), '\0');
  uLongf bytes = text.size();
  const int state = uncompress(reinterpret_cast<Bytef*>(text.data()), &bytes,
                               reinterpret_cast<const Bytef*>(blob.data()), blob.size());
  if (state != Z_OK || bytes != text.size())
    throw Error("store_corrupt", path, "the analyses of a kept point are not what was written");
  return text;
}

void Store::keep_point(std::int64_t id, const KeptPoint& row, std::string_view analyses) {
  if (std::ssize(analyses) > most_text_bytes)
    throw Error("limit_exceeded", "index",
                fmt::format("its analyses take {} bytes, more than 256 MiB", analyses.size()));
  if (!point(id, row.index)) throw Error("not_found", "index", "this point is not stored (yet)");
  const std::string blob = packed_analyses(analyses);
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  total_of(parts_->writer, id);
  Statement(parts_->writer, "DELETE FROM kept_point WHERE sweep = ? AND point = ?").bind(id).bind(row.index).run();
  Statement count(parts_->writer, "SELECT count(*) FROM kept_point WHERE sweep = ?");
  count.bind(id).step();
  if (count.integer(0) >= most_kept_analyses)
    throw Error("limit_exceeded", "index",
                fmt::format("{} points of this sweep are kept: let go of one first", most_kept_analyses));
  Statement(
      parts_->writer,
      "INSERT INTO kept_point(sweep, point, created, signature, text_bytes, analyses) VALUES(?, ?, ?, ?, ?, ?)")
      .bind(id)
      .bind(row.index)
      .bind(row.created)
      .bind(row.signature)
      .bind(std::ssize(analyses))
      .bind_blob(blob)
      .run();
  transaction.commit();
}

std::vector<KeptPoint> Store::kept_points(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  Statement row(reading.connection(),
                (std::string(kept_columns) + " FROM kept_point WHERE sweep = ? ORDER BY point").c_str());
  row.bind(id);
  std::vector<KeptPoint> kept;
  while (row.step()) kept.push_back(row_of(row));
  return kept;
}

std::optional<KeptPoint> Store::kept_point(std::int64_t id, std::int64_t index) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(),
                (std::string(kept_columns) + " FROM kept_point WHERE sweep = ? AND point = ?").c_str());
  if (!row.bind(id).bind(index).step()) return std::nullopt;
  return row_of(row);
}

KeptAnalyses Store::kept_analyses(std::int64_t id, std::int64_t index) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(),
                (std::string(kept_columns) + ", analyses FROM kept_point WHERE sweep = ? AND point = ?").c_str());
  if (!row.bind(id).bind(index).step()) throw not_kept();
  return {row_of(row), unpacked_analyses(row.blob(4), row.integer(3), parts_->path)};
}

void Store::let_go_of_point(std::int64_t id, std::int64_t index) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  Statement(parts_->writer, "DELETE FROM kept_point WHERE sweep = ? AND point = ?").bind(id).bind(index).run();
  if (parts_->writer.integer("SELECT changes()") == 0) throw not_kept();
  transaction.commit();
}

}  // namespace sdip
