// A client's socket that does what it is told, byte by byte.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sdip::test {

class Client {
 public:
  explicit Client(int port);
  ~Client();
  Client(Client&& other) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Says that nothing more is sent.
  void end();
  bool connected() const { return socket_ >= 0; }
  /// All of it, as long as the server takes it.
  bool send(std::string_view bytes);
  /// What goes at once: how many bytes.
  std::size_t send_some(std::string_view bytes);
  /// What has come, "" when the server has closed, nothing when nothing comes.
  std::optional<std::string> receive(std::chrono::milliseconds patience);
  /// All that comes until the server closes, or nothing comes any more.
  std::string rest(std::chrono::milliseconds patience = std::chrono::seconds(20));

 private:
  int socket_;
};

}  // namespace sdip::test
