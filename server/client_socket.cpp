// Reading and writing a client's socket with deadlines.
#include "server/client_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"

namespace sdip {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t least_bytes_per_second = 65536;  // of a body: slower clients are given up
constexpr milliseconds glance{50};  // how long an idle connection looks away from whether it is wanted

bool poll_for(int socket, short event, milliseconds patience) {
  pollfd entry{socket, event, 0};
  const auto end = Clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

}  // namespace

ClientSocket::~ClientSocket() {
  // Reading on for a moment lets a client that still sends see the answer instead of a reset.
  ::shutdown(socket_, SHUT_WR);
  char waste[4096];
  for (int i = 0; i < 256 && poll_for(socket_, POLLIN, milliseconds(20)); ++i)
    if (::recv(socket_, waste, sizeof waste, 0) <= 0) break;
  ::close(socket_);
}

bool ClientSocket::is_readable(milliseconds patience) const { return poll_for(socket_, POLLIN, patience); }

bool ClientSocket::receive(milliseconds patience) {
  if (!is_readable(patience)) return false;
  char piece[16384];
  const ssize_t size = ::recv(socket_, piece, sizeof piece, 0);
  if (size <= 0) return false;
  buffer_.append(piece, static_cast<std::size_t>(size));
  return true;
}

bool ClientSocket::wait_for_request(const std::function<bool()>& wanted) {
  if (!buffer_.empty()) return true;
  const auto end = Clock::now() + seconds(patience_.idle_seconds);
  // A new connection is given a moment even when others wait.
  if (std::exchange(first_, false) && is_readable(glance * 4)) return receive(glance);
  while (Clock::now() < end) {
    if (is_readable(glance)) return receive(glance);
    if (wanted()) return false;
  }
  return false;
}

std::string ClientSocket::read_head(std::size_t most_bytes) {
  const auto end_time = Clock::now() + seconds(patience_.head_seconds);
  for (;;) {
    const auto end = buffer_.find("\r\n\r\n");
    if (end != std::string::npos && end + 4 <= most_bytes) {
      std::string head = buffer_.substr(0, end + 4);
      buffer_.erase(0, end + 4);
      return head;
    }
    if (buffer_.size() >= most_bytes)
      throw Error("header_too_large", "", "expected a head of at most " + std::to_string(most_bytes) + " bytes");
    const auto left = std::chrono::duration_cast<milliseconds>(end_time - Clock::now());
    if (left.count() <= 0) throw Error("timeout", "", "the request's head did not arrive in time");
    if (!receive(left) && Clock::now() < end_time) return "";
  }
}

Deadline ClientSocket::body_deadline(std::int64_t bytes) const {
  return Clock::now() + seconds(patience_.body_seconds + bytes / least_bytes_per_second);
}

std::int64_t ClientSocket::read(char* data, std::size_t size, Deadline end) {
  const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
  if (left.count() <= 0) return 0;
  if (buffer_.empty() && !receive(std::min<milliseconds>(left, seconds(patience_.body_seconds)))) return 0;
  const std::size_t taken = std::min(size, buffer_.size());
  std::memcpy(data, buffer_.data(), taken);
  buffer_.erase(0, taken);
  return static_cast<std::int64_t>(taken);
}

bool ClientSocket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!poll_for(socket_, POLLOUT, seconds(patience_.body_seconds))) return false;
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

ssize_t RequestStream::read(char* data, std::size_t size) {
  if (!head_.empty()) {
    const std::size_t taken = std::min(size, head_.size());
    std::memcpy(data, head_.data(), taken);
    head_.remove_prefix(taken);
    return static_cast<ssize_t>(taken);
  }
  if (body_left_ == 0) return 0;
  const auto taken = connection_.read(data, std::min(size, static_cast<std::size_t>(body_left_)), body_end_);
  body_left_ -= taken;
  return static_cast<ssize_t>(taken);
}

ssize_t RequestStream::write(const char* data, std::size_t size) {
  return connection_.send({data, size}) ? static_cast<ssize_t>(size) : -1;
}

}  // namespace sdip
