// Sockets for tests.
#include "tests/server/http/client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace sdip::test {

Client::Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    ::close(std::exchange(socket_, -1));
}

Client::~Client() {
  if (socket_ >= 0) ::close(socket_);
}

Client::Client(Client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

void Client::end() { ::shutdown(socket_, SHUT_WR); }

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto size = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

std::size_t Client::send_some(std::string_view bytes) {
  const auto size = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

std::optional<std::string> Client::receive(std::chrono::milliseconds patience) {
  pollfd entry{socket_, POLLIN, 0};
  if (::poll(&entry, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
  std::string piece(65536, '\0');
  const auto size = ::recv(socket_, piece.data(), piece.size(), 0);
  piece.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return piece;
}

std::string Client::rest(std::chrono::milliseconds patience) {
  std::string text;
  while (const auto piece = receive(patience)) {
    if (piece->empty()) break;
    text += *piece;
  }
  return text;
}

}  // namespace sdip::test
