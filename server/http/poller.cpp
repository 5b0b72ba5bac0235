// Polling connections.
#include "server/http/poller.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iostream>

#include "core/base/error.h"
#include "core/base/escaped.h"
#include "core/base/index.h"
#include "server/http/response.h"

namespace sdip {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds tick_time{50};  // between two looks at who is late
constexpr milliseconds linger_time{1000};
// An upload gives its place up to another when it has been here so long, and came no faster.
constexpr milliseconds settled_time{50};
constexpr double slow_bytes_per_second = 1 << 20;
constexpr std::size_t most_spooled_in_memory = 256 << 10;  // of an upload, before it goes to the disk

/// Runs `work`; what it throws becomes a problem. Only our own bugs reach the last two, and their text stays here.
template <class Work>
Reply guarded(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    return problem_reply(error.code, error.where, error.what());
  } catch (const std::exception& bug) {
    std::cerr << "sdip: internal: " << printable(bug.what()) << std::endl;
  } catch (...) {
    std::cerr << "sdip: internal: unknown exception" << std::endl;
  }
  return problem_reply("internal", "", "a bug of ours; the server's log has more");
}

Call call_of(const Head& head) {
  Call call;
  call.method = head.method == "HEAD" ? "GET" : head.method;
  call.path = head.path;
  call.query = head.query;
  call.accept_encoding = head.accept_encoding;
  call.if_none_match = head.if_none_match;
  return call;
}

}  // namespace

Poller::Poller(int listener, int port, Answerer answerer, const ServerLimits& limits)
    : answerer_(std::move(answerer)), limits_(limits), rules_{port, limits.most_upload_bytes}, listener_(listener) {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{EPOLLIN, {.fd = wake_}};
  check(epoll_ >= 0 && wake_ >= 0 && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) == 0, "epoll");
}

Poller::~Poller() {
  for (const int file : {listener_, epoll_, wake_})
    if (file >= 0) ::close(file);
}

void Poller::stop() {
  stopping_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);  // full: it wakes up anyway
}

void Poller::run() {
  quick_.emplace(limits_.quick_workers, limits_.most_connections);
  heavy_.emplace(limits_.heavy_workers, limits_.most_waiting, true);
  streams_.emplace(limits_.stream_workers, limits_.most_streams_waiting, true);
  std::array<epoll_event, 64> events;
  for (auto ticked = Moment();;) {
    if (stopping_ && !drain_end_) begin_drain();
    if (drain_end_ && (drained() || std::chrono::steady_clock::now() >= *drain_end_)) break;
    if (const auto now = std::chrono::steady_clock::now(); now - ticked >= tick_time) tick(ticked = now);
    const int count = ::epoll_wait(epoll_, events.data(), events.size(), static_cast<int>(tick_time.count()));
    bool arrived = false;  // accepted behind the others, whose sockets' numbers are not taken again before
    for (int i = 0; i < count; ++i) {
      const auto& event = events[at(i)];
      if (event.data.fd == listener_) {
        arrived = true;
      } else if (event.data.fd == wake_) {
        std::uint64_t woken = 0;
        [[maybe_unused]] const auto size = ::read(wake_, &woken, sizeof woken);
      } else if (const auto found = peers_.find(event.data.fd); found != peers_.end()) {
        handle(*found->second, event.events);
      }
    }
    if (arrived) accept_all();
    take_finished();
    erase_ended();
  }
  over_ = true;
  quick_.reset();
  heavy_.reset();
  streams_.reset();
  finished_.clear();
  peers_.clear();
}

void Poller::begin_drain() {
  drain_end_ = std::chrono::steady_clock::now() + limits_.drain_time;
  ::close(std::exchange(listener_, -1));
  for (auto& [socket, c] : peers_)
    if (c->phase == Phase::head || c->phase == Phase::body) c->phase = Phase::ended;
  erase_ended();
}

bool Poller::drained() const {
  for (const auto& [socket, c] : peers_)
    if (c->phase == Phase::working || c->phase == Phase::writing) return false;
  return true;
}

void Poller::accept_all() {
  for (int i = 0; i < 64; ++i) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (socket < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (socket < 0 || std::ssize(peers_) >= limits_.most_connections) {
      if (Peer* longest = waiting_longest()) {
        longest->phase = Phase::ended;
        erase_ended();
      } else if (socket < 0) {  // no descriptor is left: asked again when time has passed
        ::epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_, nullptr);
        listening_ = false;
        return;
      } else {
        const std::string text = reply_text(busy_reply("too many connections; try again"), true);
        ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        ::close(socket);
        continue;
      }
    }
    if (socket < 0) continue;
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    watch(*(peers_[socket] = std::make_unique<Peer>(socket)));
  }
}

/// The connection that has waited longest among those that nobody misses: between requests, in a head, or done.
Peer* Poller::waiting_longest() {
  Peer* longest = nullptr;
  for (auto& [socket, c] : peers_)
    if ((c->phase == Phase::head || c->phase == Phase::lingering) && (!longest || c->since < longest->since))
      longest = c.get();
  return longest;
}

void Poller::erase_ended() {
  std::erase_if(peers_, [this](const auto& entry) {
    const Peer& c = *entry.second;
    if (c.phase != Phase::ended) return false;
    // A child that is being started has the socket, too: until it runs, closing it here would not end its events,
    // and they would be taken for those of the next connection of the same number.
    if (c.watched != 0) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, c.socket, nullptr);
    return true;
  });
}

void Poller::handle(Peer& c, std::uint32_t events) try {
  if (c.phase == Phase::working) {  // asked only whether the client leaves
    *c.gone = true;
    watch(c);
    return;
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && c.phase != Phase::writing) {
    const bool fresh = c.phase == Phase::head && c.in.empty();
    const auto received = c.receive();
    if (received == Peer::Received::end) {
      if (c.phase == Phase::body) {
        refuse(c, "bad_request", "the body ended before Content-Length bytes");
      } else {
        c.phase = Phase::ended;
        return;
      }
    }
    if (fresh && !c.in.empty()) c.since = std::chrono::steady_clock::now();
    if (c.phase == Phase::lingering) c.in.clear();
  } else if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
    c.phase = Phase::ended;
    return;
  }
  advance(c);
} catch (const std::exception& problem) {  // memory: this connection goes, the others stay
  std::cerr << "sdip: a connection ends: " << printable(problem.what()) << std::endl;
  if (c.phase != Phase::working) c.phase = Phase::ended;
}

/// As far as what has come, and what can go, leads.
void Poller::advance(Peer& c) {
  for (bool moved = true; moved;)
    moved = c.phase == Phase::head      ? take_head(c)
            : c.phase == Phase::body    ? take_body(c)
            : c.phase == Phase::writing ? write_out(c)
                                        : false;
  watch(c);
}

void Poller::watch(Peer& c) {
  if (c.phase == Phase::ended) return;
  const std::uint32_t wanted = c.phase == Phase::writing   ? EPOLLOUT
                               : c.phase != Phase::working ? EPOLLIN
                               : *c.gone                   ? 0U
                                                           : EPOLLRDHUP;
  if (wanted == c.watched) return;
  epoll_event event{wanted, {.fd = c.socket}};
  const int change = wanted == 0 ? EPOLL_CTL_DEL : c.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_, change, c.socket, &event) == 0)
    c.watched = wanted;
  else if (c.phase != Phase::working)
    c.phase = Phase::ended;
}

bool Poller::take_head(Peer& c) {
  c.head_only = false;
  const auto end = c.in.find("\r\n\r\n");
  if (end == std::string::npos || end + 4 > most_head_bytes) {
    if (c.in.size() < most_head_bytes) return false;
    refuse(c, "header_too_large", fmt::format("expected a head of at most {} bytes", most_head_bytes));
    return true;
  }
  try {
    c.head = check_head(std::string_view(c.in).substr(0, end + 4), rules_);
    c.in.erase(0, end + 4);
    c.head_only = c.head.method == "HEAD";
    admit(c);
  } catch (const Error& error) {
    respond(c, problem_reply(error.code, error.where, error.what()), true);
  }
  return true;
}

void Poller::admit(Peer& c) {
  Admission admission;
  const Reply failed = guarded([&] {
    admission = answerer_.admit(call_of(c.head), c.head.content_type);
    return admission.refusal.value_or(Reply());
  });
  const bool unread = c.head.body_bytes > 0;
  if (admission.refusal || failed.status != 200) return respond(c, failed, unread || !c.head.keep_alive);
  c.quick = admission.quick;
  c.phase = Phase::body;
  c.body_left = c.head.body_bytes;
  c.pace = ByteRate();
  if (c.head.method == "PUT") open_upload(c);
  if (c.phase == Phase::body && c.head.expects_continue && c.body_left > 0 && c.in.empty()) {
    const std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    ::send(c.socket, go_on.data(), go_on.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

void Poller::open_upload(Peer& c) {
  if (places_->uploads >= limits_.most_uploads && !end_slowest_upload(c))
    return respond(c, busy_reply("too many uploads at once; try again"), true);
  c.upload = std::make_shared<Upload>();
  c.hash = std::make_unique<Sha256>();
  ++places_->uploads;
  c.upload->place = std::shared_ptr<std::int64_t>(new std::int64_t(0), [places = places_](std::int64_t* bytes) {
    --places->uploads;
    places->bytes -= *bytes;
    delete bytes;
  });
}

/// Ends the slowest upload that dawdles, other than `c`; false where none does.
bool Poller::end_slowest_upload(const Peer& c) {
  const auto now = std::chrono::steady_clock::now();
  Peer* slowest = nullptr;
  for (auto& [socket, peer] : peers_)
    if (peer.get() != &c && peer->phase == Phase::body && peer->upload && peer->pace.age(now) >= settled_time &&
        peer->pace.rate(now) < slow_bytes_per_second &&
        (!slowest || peer->pace.rate(now) < slowest->pace.rate(now)))
      slowest = peer.get();
  if (!slowest) return false;
  refuse(*slowest, "timeout", "others wait to upload, and this came too slowly");
  watch(*slowest);
  return true;
}

/// Counts the bytes that uploads have on the disk; false where there is no room for so many more.
bool Poller::find_room(Peer& c, std::int64_t bytes) {
  while (places_->bytes + bytes > limits_.most_spooled_bytes)
    if (!end_slowest_upload(c)) return false;
  places_->bytes += bytes;
  *c.upload->place += bytes;
  return true;
}

/// Puts what has come into the upload's file, which is made when it is first needed: a disk may take its time.
void Poller::spool(Upload& upload, std::string& bytes) const {
  if (!upload.file) upload.file = answerer_.upload_file();
  upload.file->write(bytes);
  bytes = {};
}

bool Poller::take_body(Peer& c) {
  const auto size = std::min(as_size(c.body_left), c.in.size());
  const std::string_view piece(c.in.data(), size);
  try {
    if (c.upload) {
      if (!find_room(c, std::ssize(piece)))
        return respond(c, busy_reply("uploads under way take all the room there is for them; try again"), true),
               true;
      c.hash->add(piece);
    }
    c.body.append(piece);
    if (c.upload && c.body.size() > most_spooled_in_memory) spool(*c.upload, c.body);
  } catch (const Error& error) {  // of the disk
    respond(c, problem_reply(error.code, error.where, error.what()), true);
    return true;
  }
  c.in.erase(0, size);
  c.pace.add(static_cast<std::int64_t>(size));
  c.body_left -= static_cast<std::int64_t>(size);
  if (c.body_left > 0) return false;
  dispatch(c);
  return true;
}

void Poller::dispatch(Peer& c) {
  const auto call = std::make_shared<Call>(call_of(c.head));
  call->body = std::exchange(c.body, {});
  if (c.upload) c.upload->sha256 = std::exchange(c.hash, nullptr)->hex();
  call->upload = std::exchange(c.upload, nullptr);
  c.gone = std::make_shared<std::atomic<bool>>(false);
  call->stop = [this, gone = c.gone] { return over_ || *gone; };
  c.phase = Phase::working;
  if (!(c.quick ? quick_ : heavy_)->add([this, &c, call] { work(c, *call); }))
    respond(c, busy_reply("too many requests wait; try again"), !c.head.keep_alive);
}

void Poller::respond(Peer& c, const Reply& reply, bool close) {
  c.upload.reset();
  c.hash.reset();
  c.body = {};
  c.close = close || drain_end_;
  c.out = reply_text(reply, c.close, c.head_only);
  c.sent = 0;
  c.pace = ByteRate();
  c.phase = Phase::writing;
}

void Poller::refuse(Peer& c, const std::string& code, const std::string& message) {
  respond(c, problem_reply(code, "", message), true);
}

/// Whether more may be done: the answer is out, and another request may follow.
bool Poller::write_out(Peer& c) {
  if (!c.flush()) c.phase = Phase::ended;
  if (c.phase == Phase::ended || c.unsent() > 0) return false;
  c.out = {};
  c.sent = 0;
  c.since = std::chrono::steady_clock::now();
  c.phase = c.close ? Phase::lingering : Phase::head;
  if (c.close) {
    c.in = {};
    ::shutdown(c.socket, SHUT_WR);
  }
  return !c.close;
}

void Poller::tick(Moment now) {
  if (!listening_ && listener_ >= 0) {
    epoll_event event{EPOLLIN, {.fd = listener_}};
    listening_ = ::epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) == 0;
  }
  for (auto& [socket, c] : peers_) {
    check_time(*c, now);
    watch(*c);
  }
  cut_off_largest();
  erase_ended();
}

void Poller::check_time(Peer& c, Moment now) {
  const auto passed = now - c.since;
  const std::string floor = std::to_string(limits_.least_bytes_per_second) + " bytes/s";
  if (c.phase == Phase::head && c.in.empty() && passed > limits_.idle_time) c.phase = Phase::ended;
  if (c.phase == Phase::head && !c.in.empty() && passed > limits_.head_time)
    refuse(c, "timeout", "the request's head did not arrive in time");
  if (c.phase == Phase::body && !c.pace.holds(now, limits_.rate_time, limits_.least_bytes_per_second))
    refuse(c, "timeout", "the body came at less than " + floor);
  if (c.phase == Phase::writing && !c.pace.holds(now, limits_.rate_time, limits_.least_bytes_per_second))
    c.phase = Phase::ended;
  if (c.phase == Phase::lingering && passed > linger_time) c.phase = Phase::ended;
}

/// As long as answers that are not read take too much memory.
void Poller::cut_off_largest() {
  for (;;) {
    std::int64_t bytes = 0;
    Peer* largest = nullptr;
    for (auto& [socket, c] : peers_) {
      if (c->phase != Phase::writing) continue;
      bytes += static_cast<std::int64_t>(c->unsent());
      if (!largest || c->unsent() > largest->unsent()) largest = c.get();
    }
    if (bytes <= limits_.most_unsent_bytes) return;
    largest->phase = Phase::ended;
  }
}

void Poller::take_finished() {
  std::vector<Finished> finished;
  {
    const std::lock_guard lock(mutex_);
    finished.swap(finished_);
  }
  for (Finished& one : finished) {
    Peer& c = *one.connection;
    c.close = one.close || drain_end_;
    c.out = std::move(one.text);
    c.sent = 0;
    c.pace = ByteRate();
    c.phase = one.cut ? Phase::ended : Phase::writing;
    advance(c);
  }
}

void Poller::work(Peer& c, Call& call) {
  if (!c.quick && *c.gone) return finish({&c, "", true, true});
  Reply reply = stopping_ ? busy_reply("the server is stopping") : guarded([&] {
    if (call.upload) spool(*call.upload, call.body);
    return answerer_.answer(call);
  });
  call.upload.reset();  // a file that was not kept is gone before the client hears of it
  if (reply.stream && !c.head_only) {
    const auto shared = std::make_shared<const Reply>(std::move(reply));
    if (streams_->add([this, &c, shared] { stream(c, *shared); })) return;
    reply = busy_reply("too many long answers are under way; try again");
  }
  const bool close = !c.head.keep_alive || stopping_;
  finish({&c, reply_text(reply, close, c.head_only), close, false});
}

void Poller::stream(Peer& c, const Reply& reply) {
  const bool close = !c.head.keep_alive || stopping_;
  ChunkWriter writer(c.socket, limits_.rate_time, limits_.least_stream_bytes_per_second,
                     [this, gone = c.gone] { return over_ || *gone; });
  bool whole = false;
  try {
    if (writer.head(reply_head(reply, close)))
      reply.stream([&](std::string_view piece) { return writer.piece(piece); });
    whole = writer.end();
  } catch (const std::exception& problem) {  // the status is out: cut the body so that the client sees it
    std::cerr << "sdip: while streaming: " << printable(problem.what()) << std::endl;
  }
  finish({&c, "", close, !whole});
}

void Poller::finish(Finished finished) {
  {
    const std::lock_guard lock(mutex_);
    finished_.push_back(std::move(finished));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

}  // namespace sdip
