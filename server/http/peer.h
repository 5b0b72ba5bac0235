// A client's connection as the polling thread keeps it: what has come, what has to go, and until when. Internal to
// its room.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/http/gate.h"
#include "server/http/http.h"

namespace sdip {

using Moment = std::chrono::steady_clock::time_point;

/// The least rate at which bytes must come or go, looked at over windows of time. Example (a test repeats it): at
/// 100 bytes/s in windows of 10 s, 1,000 bytes by second 10 hold for 10 seconds more, 999 do not.
class ByteRate {
 public:
  explicit ByteRate(Moment now = std::chrono::steady_clock::now()) : begun_(now), since_(now) {}

  void add(std::int64_t bytes) { bytes_ += bytes, all_ += bytes; }
  bool holds(Moment now, std::chrono::milliseconds window, std::int64_t least_bytes_per_second);
  /// Bytes a second since the beginning.
  double rate(Moment now) const;
  std::chrono::milliseconds age(Moment now) const;

 private:
  Moment begun_, since_;
  std::int64_t bytes_ = 0, all_ = 0;
};

enum class Phase {
  head,       // between requests, or in the head of one
  body,       // its head has passed
  working,    // a worker has it
  writing,    // its answer goes out
  lingering,  // everything was said: what the client still sends is thrown away, so that it sees the answer
  ended,      // to be closed
};

struct Peer {
  /// Owns the socket, which does not block.
  explicit Peer(int open_socket) : socket(open_socket) {}
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  enum class Received { some, nothing, end };
  /// Receives what has come, to the end of `in`, at most some 64 KiB.
  Received receive();
  /// Sends of `out` what goes; false when the client is gone.
  bool flush();
  std::size_t unsent() const { return out.size() - sent; }

  int socket;
  std::uint32_t watched = 0;  // events that the kernel is asked for
  Phase phase = Phase::head;
  Moment since = std::chrono::steady_clock::now();  // in this phase
  std::string in;
  Head head;
  bool quick = false, head_only = false;
  std::string body;
  std::shared_ptr<Upload> upload;
  std::unique_ptr<Sha256> hash;  // of the upload
  std::int64_t body_left = 0;
  ByteRate pace;  // of the body, then of the answer
  std::string out;
  std::size_t sent = 0;
  bool close = false;                       // after this answer
  std::shared_ptr<std::atomic<bool>> gone;  // the client left while its request was worked on
};

/// Writes a stream's pieces to a client's socket, in chunks, on the calling thread.
class ChunkWriter {
 public:
  ChunkWriter(int socket, std::chrono::milliseconds window, std::int64_t least_bytes_per_second, Stop stop)
      : socket_(socket), window_(window), least_(least_bytes_per_second), stop_(std::move(stop)) {}

  /// False, from then on, when the client is gone or reads too slowly, or the server ends.
  bool head(std::string_view text) { return open_ = open_ && write(text); }
  bool piece(std::string_view bytes);
  /// Sends what is left, and the last chunk.
  bool end();

 private:
  bool flush();
  bool write(std::string_view bytes);
  bool wait_for_room();

  int socket_;
  std::chrono::milliseconds window_;
  std::int64_t least_;
  Stop stop_;
  bool open_ = true;
  std::string held_;
  std::chrono::milliseconds waited_{0};  // for the client, in this window
  std::int64_t went_ = 0;                // meanwhile
};

}  // namespace sdip
