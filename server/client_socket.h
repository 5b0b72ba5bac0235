// One client's socket: heads read whole and in time, bodies to their length, nothing more.
#pragma once

#include <httplib.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sdip {

using Deadline = std::chrono::steady_clock::time_point;

struct Patience {
  int head_seconds, body_seconds, idle_seconds;
};

class ClientSocket {
 public:
  /// Owns the socket.
  ClientSocket(int socket, Patience patience) : socket_(socket), patience_(patience) {}
  ~ClientSocket();
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  /// Whether bytes of a next request are there; false when the client left, stayed idle too long, or `wanted`
  /// (asked while nothing comes) says that the worker is needed elsewhere.
  bool wait_for_request(const std::function<bool()>& wanted);
  /// A head up to its empty line; "" when the client left. Throws Error timeout, header_too_large.
  std::string read_head(std::size_t most_bytes);
  /// When a body of `bytes` that begins now must have come: a client that sends next to nothing holds a worker no
  /// longer than one that sends nothing.
  Deadline body_deadline(std::int64_t bytes) const;
  /// Bytes of a body, at most `size`; 0 at the end or when the client is too slow.
  std::int64_t read(char* data, std::size_t size, Deadline end);
  /// Everything or false.
  bool send(std::string_view bytes);

  int socket() const { return socket_; }
  bool is_readable(std::chrono::milliseconds patience) const;

 private:
  bool receive(std::chrono::milliseconds patience);

  int socket_;
  Patience patience_;
  std::string buffer_;  // received and not yet used
  bool first_ = true;
};

/// What the HTTP library reads a request from and writes its answer to.
class RequestStream : public httplib::Stream {
 public:
  RequestStream(ClientSocket& connection, std::string_view head, std::int64_t body_bytes)
      : connection_(connection),
        head_(head),
        body_left_(body_bytes),
        body_end_(connection.body_deadline(body_bytes)) {}

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* data, std::size_t size) override;
  ssize_t write(const char* data, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip = "127.0.0.1", port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip = "127.0.0.1", port = 0; }
  socket_t socket() const override { return connection_.socket(); }

  bool body_is_read() const { return body_left_ == 0; }

 private:
  ClientSocket& connection_;
  std::string_view head_;
  std::int64_t body_left_;
  Deadline body_end_;
};

}  // namespace sdip
