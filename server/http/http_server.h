// The HTTP server, on loopback: one thread polls every connection, reads heads and bodies and writes answers;
// workers see requests that are whole. A slow client holds its connection and nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "server/http/http.h"

namespace sdip {

struct ServerLimits {
  std::int64_t most_upload_bytes = std::int64_t{4} << 30;
  int most_uploads = 32;  // there at once, with so many bytes on the disk; beyond: one that dawdles goes, or 503
  std::int64_t most_spooled_bytes = std::int64_t{8} << 30;
  int most_connections = 512;  // beyond: the one that has waited longest without a whole head goes
  std::int64_t most_unsent_bytes = std::int64_t{256} << 20;  // of answers; beyond: the client with most is cut off
  int quick_workers = 2;                                     // for short requests alone
  int heavy_workers = 6, most_waiting = 64;                  // for all others; beyond: 503
  int stream_workers = 4, most_streams_waiting = 16;         // that write long answers as they are made
  std::chrono::milliseconds head_time{5000};                 // for a whole head
  std::chrono::milliseconds idle_time{30000};                // between two requests of a connection
  std::chrono::milliseconds rate_time{10000};  // in each such window a body, and an answer, moves at least at
  std::int64_t least_bytes_per_second = 8192;  // this rate; streams at the next
  std::int64_t least_stream_bytes_per_second = 65536;
  std::chrono::milliseconds drain_time{3000};  // after stop(), for requests under way
};

/// The decision on a request after its head.
struct Admission {
  std::optional<Reply> refusal = {};  // ends the request before its body is read
  bool quick = false;                 // answered within some milliseconds, always
};

/// The functions that answer. `admit` sees method, path, query and content type before a body is read, on the
/// polling thread; `answer` sees the whole call; `upload_file` gives a file to put the body of a PUT into. What
/// they throw becomes a problem: an Error its own, anything else `internal`, with its text only on stderr.
struct Answerer {
  std::function<Admission(const Call&, const std::string& content_type)> admit;
  std::function<Reply(const Call&)> answer;
  std::function<std::unique_ptr<NewFile>()> upload_file = {};
};

class Poller;

class HttpServer {
 public:
  /// Binds 127.0.0.1:port (0: any free one). Throws Error port_in_use, port_unusable.
  HttpServer(int port, Answerer answerer, const ServerLimits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }
  /// Serves until stop(), which any thread may call, again where it came before run(). Requests under way then have
  /// the time to drain; after it they are told to stop, and the connections end.
  void run();
  void stop();

 private:
  int port_;
  std::unique_ptr<Poller> poller_;
};

}  // namespace sdip
