// The HTTP server: cpp-httplib behind the gate, bound to loopback, with every route of the table.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "server/http.h"

namespace sdip {

struct ServerLimits {
  std::int64_t most_upload_bytes = std::int64_t{4} << 30;
  int workers = 32;        // requests served at once
  int most_waiting = 256;  // connections queued behind them; more are answered 503
  int head_seconds = 5;    // to send a whole head
  int body_seconds = 10;   // between two pieces of a body
  int idle_seconds = 5;    // between two requests of a connection
};

/// What answers. `refuse` sees method, path, query and content type before a body is read and may end the request
/// there; `answer` sees the whole call. What they throw becomes a problem: an Error its own, anything else
/// `internal`, with its text only on stderr.
struct Answerer {
  std::function<std::optional<Reply>(const Call&, const std::string& content_type)> refuse;
  std::function<Reply(const Call&)> answer;
};

class HttpServer {
 public:
  /// Binds 127.0.0.1:port (0: any free one). Throws Error port_in_use, port_unusable.
  HttpServer(int port, Answerer answerer, const ServerLimits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  /// Serves until stop(), which any thread may call, again where it came before run(); requests under way are
  /// finished first.
  void run();
  void stop();

 private:
  struct Gated;
  std::unique_ptr<Gated> gated_;
};

}  // namespace sdip
