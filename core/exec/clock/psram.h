// PSRAM while a program runs: a queue of weight tiles, and beside it what stays for good. Internal to its room.
//
// Worked example: room for 200 bytes. Tiles of 100 come one after the other; the third waits until the first is no
// longer used.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <utility>

namespace sdip::exec {

struct PsramTile {
  std::int64_t bytes = 0;
  std::int64_t used_until = 0;
  bool held = false;  // by the instruction now running: not to be freed before it ends
};

class Psram {
 public:
  using Tile = std::list<PsramTile>::iterator;

  explicit Psram(std::int64_t room_bytes) : room_bytes_(room_bytes) {}

  Tile none() { return tiles_.end(); }

  /// Frees the oldest tiles until `bytes` more fit; one still held goes to the back. Returns when the last of them
  /// is no longer used. Throws Error("execution_failed", ...) when they never fit.
  std::int64_t make_room(std::int64_t bytes);

  /// A tile whose transfer starts then. Older ones that nobody uses any more are gone by then.
  Tile put(std::int64_t bytes, std::int64_t starts, std::int64_t there, bool held);

  /// A tile that stays; one that is there already is not there twice. Weights that two classes cut into other tiles
  /// lie there once, as the first `reader` of them put them.
  void pin(std::pair<std::int64_t, std::int64_t> weights, std::int64_t reader, std::int64_t tile,
           std::int64_t bytes);

  /// Most bytes that it held: what stays, and the fullest queue.
  std::int64_t peak_bytes() const { return pinned_bytes_ + peak_bytes_; }

 private:
  std::int64_t room_bytes_ = 0, occupied_bytes_ = 0, peak_bytes_ = 0, pinned_bytes_ = 0;
  std::list<PsramTile> tiles_;  // oldest first
  struct Pinned {
    std::int64_t reader = 0;
    std::set<std::int64_t> tiles{};
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Pinned> pinned_;  // by weights
};

}  // namespace sdip::exec
