// PSRAM, tile by tile.
#include "core/exec/clock/psram.h"

#include <algorithm>
#include <iterator>

#include "core/base/error.h"

namespace sdip::exec {

std::int64_t Psram::make_room(std::int64_t bytes) {
  std::int64_t time = 0;
  std::size_t held = 0;
  while (occupied_bytes_ + bytes > room_bytes_) {
    if (tiles_.empty() || held == tiles_.size())
      throw Error("execution_failed", "PSRAM",
                  fmt::format("{} B of weights do not fit beside what is held in {} B", bytes, room_bytes_));
    if (tiles_.front().held) {
      tiles_.splice(tiles_.end(), tiles_, tiles_.begin());
      ++held;
      continue;
    }
    time = std::max(time, tiles_.front().used_until);
    occupied_bytes_ -= tiles_.front().bytes;
    tiles_.pop_front();
  }
  return time;
}

Psram::Tile Psram::put(std::int64_t bytes, std::int64_t starts, std::int64_t there, bool held) {
  while (!tiles_.empty() && !tiles_.front().held && tiles_.front().used_until <= starts) {
    occupied_bytes_ -= tiles_.front().bytes;
    tiles_.pop_front();
  }
  tiles_.push_back({bytes, there, held});
  occupied_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, occupied_bytes_);
  return std::prev(tiles_.end());
}

void Psram::pin(std::pair<std::int64_t, std::int64_t> weights, std::int64_t reader, std::int64_t tile,
                std::int64_t bytes) {
  Pinned& there = pinned_.try_emplace(weights, Pinned{reader}).first->second;
  if (there.reader == reader && there.tiles.insert(tile).second) pinned_bytes_ += bytes;
}

}  // namespace sdip::exec
