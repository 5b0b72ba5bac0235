// Reading and writing sockets without being held up by them.
#include "server/http/peer.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "core/base/index.h"

namespace sdip {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_held_bytes = 64 << 10;  // of a stream, before a chunk is written
constexpr milliseconds glance{50};                 // how long a writer looks away from whether it is to stop

std::int64_t bytes_in(milliseconds time, std::int64_t bytes_per_second) {
  return bytes_per_second * time.count() / 1000;
}

/// How many bytes went: 0 when none can go now, -1 when none ever will.
ssize_t send_some(int socket, std::string_view bytes) {
  for (;;) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return sent;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) return -1;
  }
}

}  // namespace

bool ByteRate::holds(Moment now, milliseconds window, std::int64_t least_bytes_per_second) {
  if (now - since_ < window) return true;
  const bool enough = bytes_ >= bytes_in(window, least_bytes_per_second);
  since_ = now;
  bytes_ = 0;
  return enough;
}

double ByteRate::rate(Moment now) const {
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  return seconds > 0 ? static_cast<double>(all_) / seconds : 0;
}

milliseconds ByteRate::age(Moment now) const { return std::chrono::duration_cast<milliseconds>(now - begun_); }

Peer::~Peer() { ::close(socket); }

Peer::Received Peer::receive() {
  char piece[65536];
  for (;;) {
    const ssize_t size = ::recv(socket, piece, sizeof piece, MSG_DONTWAIT);
    if (size > 0) return in.append(piece, as_size(size)), Received::some;
    if (size == 0) return Received::end;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Received::nothing;
    if (errno != EINTR) return Received::end;
  }
}

bool Peer::flush() {
  while (sent < out.size()) {
    const ssize_t went = send_some(socket, std::string_view(out).substr(sent));
    if (went < 0) return false;
    if (went == 0) return true;
    sent += as_size(went);
    pace.add(went);
  }
  return true;
}

bool ChunkWriter::piece(std::string_view bytes) {
  if (!open_) return false;
  held_.append(bytes);
  return held_.size() < most_held_bytes || flush();
}

bool ChunkWriter::end() { return open_ = open_ && flush() && write("0\r\n\r\n"); }

bool ChunkWriter::flush() {
  if (held_.empty()) return open_;
  char size[16];
  const auto end = std::to_chars(size, size + sizeof size, held_.size(), 16).ptr;
  open_ = open_ && write(std::string(size, end) + "\r\n") && write(held_) && write("\r\n");
  held_.clear();
  return open_;
}

bool ChunkWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t went = send_some(socket_, bytes);
    if (went < 0 || stop_()) return false;
    if (went == 0 && !wait_for_room()) return false;
    bytes.remove_prefix(as_size(went));
    went_ += went;
  }
  return true;
}

/// Only the time that the client takes counts, not that of making the pieces.
bool ChunkWriter::wait_for_room() {
  const auto begin = std::chrono::steady_clock::now();
  pollfd entry{socket_, POLLOUT, 0};
  if (::poll(&entry, 1, static_cast<int>(glance.count())) < 0 && errno != EINTR) return false;
  waited_ += std::chrono::ceil<milliseconds>(std::chrono::steady_clock::now() - begin);
  if (waited_ < window_) return true;
  const bool enough = went_ >= bytes_in(window_, least_);
  waited_ = milliseconds(0);
  went_ = 0;
  return enough;
}

}  // namespace sdip
