// The polling thread: every connection from its first byte to its last. Internal to its room.
//
//     head -> admitted -> body (into memory, of a PUT into a file) -> whole: a worker -> answer -> the next head
//
// A worker is given a request that is whole, and is free again when its answer is made: heads, bodies and answers
// that go slowly cost memory and a socket, which are bounded. Long answers are streams: they are written as they
// are made, by workers of their own.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "server/http/http_server.h"
#include "server/http/peer.h"
#include "server/http/workers.h"

namespace sdip {

class Poller {
 public:
  /// Owns the listening socket, which does not block.
  Poller(int listener, int port, Answerer answerer, const ServerLimits& limits);
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  void run();
  /// From any thread, any number of times.
  void stop();

 private:
  /// The reply that a worker made to a request.
  struct Finished {
    Peer* connection;
    std::string text;
    bool close, cut;  // cut: the client is to see that the answer is not whole
  };
  struct Places {
    std::atomic<int> uploads{0};
    std::atomic<std::int64_t> bytes{0};
  };

  void accept_all();
  void handle(Peer& c, std::uint32_t events);
  void advance(Peer& c);
  bool take_head(Peer& c);
  bool take_body(Peer& c);
  bool write_out(Peer& c);
  void admit(Peer& c);
  void open_upload(Peer& c);
  bool end_slowest_upload(const Peer& c);
  bool find_room(Peer& c, std::int64_t bytes);
  void spool(Upload& upload, std::string& bytes) const;
  void dispatch(Peer& c);
  void respond(Peer& c, const Reply& reply, bool close);
  void refuse(Peer& c, const std::string& code, const std::string& message);
  void watch(Peer& c);
  void tick(Moment now);
  void check_time(Peer& c, Moment now);
  void cut_off_largest();
  Peer* waiting_longest();
  void erase_ended();
  void begin_drain();
  bool drained() const;
  void take_finished();

  // On workers' threads.
  void work(Peer& c, Call& call);
  void stream(Peer& c, const Reply& reply);
  void finish(Finished finished);

  Answerer answerer_;
  ServerLimits limits_;
  GateRules rules_;
  int listener_, epoll_ = -1, wake_ = -1;
  bool listening_ = false;                      // the kernel is asked about the listener
  std::map<int, std::unique_ptr<Peer>> peers_;  // by socket
  std::shared_ptr<Places> places_ = std::make_shared<Places>();
  std::optional<Moment> drain_end_;
  std::atomic<bool> stopping_ = false, over_ = false;
  std::mutex mutex_;
  std::vector<Finished> finished_;
  std::optional<Workers> quick_, heavy_, streams_;
};

}  // namespace sdip
