// Does the server stay there for others, whatever its slowest clients do?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <functional>

#include "core/workload/workload.h"
#include "tests/server/http/client.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

std::string request_head(const Site& site, const std::string& line, const std::string& rest = "") {
  return line + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(site.port) + "\r\n" + rest + "\r\n";
}
std::string upload_head(const Site& site, const std::string& name, std::int64_t bytes) {
  return request_head(
      site, "PUT /api/v1/models/" + name,
      "Content-Type: application/octet-stream\r\nContent-Length: " + std::to_string(bytes) + "\r\n");
}

std::vector<Client> clients_of(const Site& site, int count) {
  std::vector<Client> clients;
  for (int i = 0; i < count; ++i) clients.emplace_back(site.port);
  return clients;
}

// Whom a slow client holds up waits for as long as that client likes: seconds tell it from a machine that is busy.
// How quick answers are is tests/bench/slow_clients.mjs' to say.
constexpr auto long_wait = 5s;

/// The longest of some answers of /healthz.
std::chrono::milliseconds slowest_health(const Site& site, int times = 20) {
  std::chrono::milliseconds slowest{0};
  for (int i = 0; i < times; ++i) {
    const auto begin = now();
    EXPECT_EQ(site.get("/healthz").status, 200);
    slowest = std::max(slowest, std::chrono::ceil<std::chrono::milliseconds>(now() - begin));
  }
  return slowest;
}

ServerLimits impatient() {
  ServerLimits limits;
  limits.head_time = limits.rate_time = 700ms;
  limits.least_bytes_per_second = 1000;
  return limits;
}

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(slow_clients, that_send_no_whole_head_are_given_up_and_hold_up_nobody) {
  const Site site(impatient());
  auto clients = clients_of(site, 64);
  for (Client& client : clients) EXPECT_TRUE(client.send("GET /healthz HTTP/1.1\r\nHo"));
  EXPECT_LT(slowest_health(site), long_wait);
  const auto begin = now();
  for (Client& client : clients) EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 408"));
  EXPECT_LT(now() - begin, 20s);
}

TEST(slow_clients, that_drip_their_head_have_no_more_time_than_others) {
  const Site site(impatient());
  Client client(site.port);
  const std::string head = request_head(site, "GET /healthz");
  const auto begin = now();
  std::string text;
  for (std::size_t i = 0; text.empty() && i < head.size(); ++i) {
    client.send(head.substr(i, 1));
    text = client.receive(50ms).value_or("");
  }
  EXPECT_THAT(text, StartsWith("HTTP/1.1 408"));
  EXPECT_LT(now() - begin, 20s);
}

TEST(slow_clients, that_trickle_their_uploads_are_given_up_whatever_the_size) {
  const Site site(impatient());
  auto clients = clients_of(site, 32);
  for (Client& client : clients) EXPECT_TRUE(client.send(upload_head(site, "slow", std::int64_t{1} << 30) + "x"));
  EXPECT_LT(slowest_health(site), long_wait);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(site.put("/api/v1/models/quick", small_onnx()).status, 201) << "a place among uploads is found";
  std::size_t given_up = 0;
  for (const auto end = now() + 10s; given_up < clients.size() && now() < end;)
    for (Client& client : clients) {
      client.send_some("y");  // 20 bytes a second
      const auto text = client.receive(1ms);
      if (text && text->starts_with("HTTP/1.1 408")) ++given_up;
    }
  EXPECT_EQ(given_up, clients.size());
  const auto left = std::filesystem::directory_iterator(site.folder.path / "models");
  EXPECT_EQ(std::distance(begin(left), end(left)), 1) << "the quick one's";
}

TEST(slow_clients, that_upload_give_their_place_up_to_another) {
  ServerLimits limits;  // as served: nobody is too slow yet
  limits.most_uploads = 4;
  const Site site(limits);
  auto clients = clients_of(site, 4);
  for (Client& client : clients) EXPECT_TRUE(client.send(upload_head(site, "slow", 1000000) + "x"));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(site.put("/api/v1/models/late", small_onnx()).status, 201);
  std::size_t given_up = 0;
  for (Client& client : clients) given_up += client.receive(200ms).has_value();
  EXPECT_EQ(given_up, 1U);
}

TEST(slow_clients, that_upload_take_bounded_room_on_the_disk) {
  ServerLimits limits;
  limits.most_spooled_bytes = 100000;
  const Site site(limits);
  EXPECT_EQ(site.put("/api/v1/models/big", std::string(100001, 'x')).status, 503);
  EXPECT_EQ(site.put("/api/v1/models/small", small_onnx()).status, 201) << "all room is there again";
}

TEST(slow_clients, that_stop_in_a_body_leave_nothing) {
  const Site site(impatient());
  Client cut(site.port), json(site.port);
  cut.send(upload_head(site, "cut", 100) + "only this");
  json.send(
      request_head(site, "POST /api/v1/analyses", "Content-Type: application/json\r\nContent-Length: 100\r\n") +
      "{");
  const std::string text = cut.rest();
  EXPECT_THAT(text, StartsWith("HTTP/1.1 408"));
  EXPECT_THAT(text, HasSubstr("Connection: close"));
  EXPECT_THAT(json.rest(), StartsWith("HTTP/1.1 408"));
  EXPECT_EQ(site.get("/api/v1/models/cut").status, 404);
  EXPECT_FALSE(std::filesystem::exists(site.folder.path / "models"));

  // One that has come so far that it is on the disk.
  Client large(site.port);
  large.send(upload_head(site, "cut", 2000000) + std::string(1000000, 'x'));
  for (int i = 0; i < 500 && !std::filesystem::exists(site.folder.path / "models"); ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(std::filesystem::is_empty(site.folder.path / "models"));
  EXPECT_THAT(large.rest(), StartsWith("HTTP/1.1 408"));
  EXPECT_TRUE(std::filesystem::is_empty(site.folder.path / "models"));
}

TEST(slow_clients, that_keep_their_connections_busy_starve_nobody) {
  const Site site;
  std::atomic<bool> stop = false;
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      auto clients = clients_of(site, 8);
      while (!stop) {
        for (Client& client : clients) client.send(request_head(site, "GET /healthz"));
        for (Client& client : clients)
          if (const auto text = client.receive(10s); text && text->starts_with("HTTP/1.1 200")) ++answered;
      }
    });
  const auto slowest = slowest_health(site);
  // On a busy machine the threads may have had no turn yet.
  for (int i = 0; i < 3000 && answered <= 100; ++i) std::this_thread::sleep_for(10ms);
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_LT(slowest, long_wait);
  EXPECT_GT(answered, 100);
}

TEST(slow_clients, connections_beyond_the_most_take_the_place_of_the_oldest_idle_one) {
  ServerLimits limits;
  limits.most_connections = 8;
  const Site site(limits);
  // On a loaded machine the connection that asked whether the site is up may still have a place of the eight.
  auto clients = clients_of(site, 8);
  for (int i = 0; i < 100 && std::ranges::any_of(clients, [](Client& c) { return c.receive(10ms).has_value(); });
       ++i)
    clients = clients_of(site, 8);
  for (Client& client : clients) EXPECT_FALSE(client.receive(10ms));
  EXPECT_EQ(site.get("/healthz").status, 200);
  EXPECT_EQ(clients.front().receive(5s), "") << "the oldest was closed";
  EXPECT_FALSE(clients.back().receive(10ms));
}

TEST(slow_clients, thirty_two_long_requests_leave_the_short_ones_alone) {
  const Site site;
  auto clients = clients_of(site, 32);
  const std::string body = R"({"model": "sd15-unet"})";
  for (Client& client : clients)
    client.send(
        request_head(site, "POST /api/v1/sensitivities",
                     "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n") +
        body);
  std::this_thread::sleep_for(100ms);
  EXPECT_LT(slowest_health(site), long_wait);
  for (const char* path : {"/", "/api/v1/parameters", "/api/v1/sweeps", "/api/v1/presets"})
    EXPECT_EQ(site.get(path).status, 200);
  for (Client& client : clients) EXPECT_FALSE(client.receive(0ms).value_or("").starts_with("HTTP/1.1 4"));
  const auto begin = now();
  clients.clear();  // nobody waits for them: they end
  EXPECT_EQ(site.post("/api/v1/analyses", R"({"model": "tiny-sd"})").status, 200);
  EXPECT_LT(now() - begin, 60s);
}

TEST(slow_clients, long_requests_beyond_those_that_may_wait_are_told_to_come_back) {
  ServerLimits limits;
  limits.heavy_workers = 1;
  limits.most_waiting = 1;
  std::atomic<bool> open = false;
  HttpServer server(0,
                    {[](const Call& call, const std::string&) { return Admission{.quick = call.path == "/quick"}; },
                     [&](const Call& call) {
                       while (call.path != "/quick" && !open) std::this_thread::sleep_for(1ms);
                       return Reply{.body = "{}"};
                     }},
                    limits);
  std::thread thread([&] { server.run(); });
  const auto get = [&](const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) +
           "\r\nConnection: close\r\n\r\n";
  };
  Client first(server.port()), second(server.port());
  first.send(get("/1"));
  second.send(get("/2"));
  EXPECT_FALSE(second.receive(200ms));
  const Answer third = send_bytes(server.port(), get("/3"));
  EXPECT_EQ(third.status, 503);
  EXPECT_EQ(third.json()["code"], "busy");
  EXPECT_EQ(third.headers.at("retry-after"), "2");
  EXPECT_EQ(send_bytes(server.port(), get("/quick")).status, 200);
  open = true;
  EXPECT_THAT(first.rest(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(second.rest(), StartsWith("HTTP/1.1 200"));
  server.stop();
  thread.join();
}

/// A server whose every answer is long: whole, or of /stream in pieces.
struct LongAnswers {
  explicit LongAnswers(const ServerLimits& limits)
      : server(0,
               {[](const Call&, const std::string&) { return Admission(); },
                [this](const Call& call) {
                  Reply reply;
                  ++made;
                  if (call.path == "/short") return reply;
                  if (call.path == "/whole") return reply.body = std::string(32 << 20, 'x'), reply;
                  reply.stream = [this](const Sink& sink) {
                    ++streaming;
                    while (sink(std::string(65536, 'y'))) {
                    }
                    --streaming;
                  };
                  return reply;
                }},
               limits),
        thread([this] { server.run(); }) {}
  ~LongAnswers() {
    server.stop();
    thread.join();
  }
  std::string get(const std::string& path) const {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) +
           "\r\nConnection: close\r\n\r\n";
  }
  /// Waits until it holds, a minute at most.
  static void wait_until(const std::function<bool()>& holds) {
    for (const auto end = now() + 60s; !holds() && now() < end;) std::this_thread::sleep_for(5ms);
  }
  std::atomic<int> made = 0, streaming = 0;
  HttpServer server;
  std::thread thread;
};

TEST(slow_clients, that_do_not_read_hold_no_worker) {
  ServerLimits limits = impatient();
  limits.rate_time = 4s;  // a third stream comes before the two are cut off, on a busy machine, too
  limits.heavy_workers = 1;
  limits.stream_workers = 2;
  limits.most_streams_waiting = 0;
  limits.least_stream_bytes_per_second = 100000;
  LongAnswers answers(limits);
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(answers.server.port());
  for (std::size_t i = 0; i < 4; ++i) clients[i].send(answers.get(i < 2 ? "/stream" : "/whole"));
  answers.wait_until([&] { return answers.streaming == 2; });
  EXPECT_EQ(answers.streaming, 2);
  EXPECT_EQ(send_bytes(answers.server.port(), answers.get("/stream")).status, 503) << "streams are bounded";
  EXPECT_EQ(send_bytes(answers.server.port(), answers.get("/short")).status, 200) << "the one worker is free";
  answers.wait_until([&] { return answers.streaming == 0; });
  EXPECT_EQ(answers.streaming, 0);
  std::this_thread::sleep_for(2s);
  EXPECT_LT(clients[2].rest(1s).size(), std::size_t{32} << 20) << "cut off";
}

TEST(slow_clients, answers_that_are_not_read_take_bounded_memory) {
  ServerLimits limits;
  limits.most_unsent_bytes = std::int64_t{100} << 20;
  LongAnswers answers(limits);
  std::vector<Client> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back(answers.server.port());
    clients.back().send(answers.get("/whole"));
  }
  answers.wait_until([&] { return answers.made == 8; });
  std::this_thread::sleep_for(2s);
  int whole = 0;
  for (Client& client : clients) whole += client.rest(1s).size() > std::size_t{32} << 20;
  EXPECT_GE(whole, 1);
  EXPECT_LE(whole, 3);
}

// All points' programs would take minutes.
TEST(cancelling, a_sweep_acts_while_its_programs_are_prepared) {
  const Site site;
  ASSERT_EQ(site.put("/api/v1/models/m", write_model("sd15-unet", {})).status, 201);
  for (const char* model : {"sdxl", "m"}) {  // here, and in a child
    // Every point has programs of its own, with every pass that takes its time.
    const std::string id = site.sweep(
        R"({"model": ")" + std::string(model) +
            R"(", "preset": "edge", "axes": [{"parameter": "dsram_bytes", "min": 1000000, "max": 9000000, "step": 65536},
                {"parameter": "stackram_bytes", "min": 1000000, "max": 9000000, "step": 65536}]})",
        "running");
    std::this_thread::sleep_for(300ms);
    const auto begin = now();
    const Answer cancelled = site.post("/api/v1/sweeps/" + id + "/cancel", "");
    EXPECT_EQ(cancelled.status, 202) << model << ": " << cancelled.body;
    site.wait_for_state(id, "cancelled");
    RecordProperty(std::string(model) + "_cancelled_after_ms",
                   std::to_string(std::chrono::duration<double, std::milli>(now() - begin).count()));
    const Json points = site.get("/api/v1/sweeps/" + id + "/points?feasible=false").json();
    for (const Json& row : points.at("rows")) EXPECT_THAT(row.dump(), testing::Not(HasSubstr("cancelled")));
  }
}

TEST(slow_clients, leave_no_descriptor_behind) {
  const Site site(impatient());
  EXPECT_EQ(site.put("/api/v1/models/one", small_onnx()).status, 201);
  const std::size_t before = descriptors();
  for (int round = 0; round < 3; ++round) {
    auto clients = clients_of(site, 30);
    for (std::size_t i = 0; i < clients.size(); ++i)
      clients[i].send(i % 3 == 0 ? "GET / HT" : i % 3 == 1 ? upload_head(site, "cut", 1000) + "x" : "");
    EXPECT_EQ(site.put("/api/v1/models/bad", small_onnx("Nope")).status, 422);
    EXPECT_EQ(site.post("/api/v1/analyses", R"({"model": "one"})").status, 200);
  }
  for (int i = 0; i < 500 && descriptors() > before; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_LE(descriptors(), before);
}

TEST(slow_clients, do_not_keep_a_server_from_ending) {
  const TemporaryFolder folder;
  const pid_t process = start_sdip({"serve", "--port", "0", "--data", folder / "data"}, folder.path);
  std::string said;
  for (int i = 0; i < 3000 && said.find('\n') == std::string::npos; ++i) {
    std::this_thread::sleep_for(10ms);
    said = file_text(folder / "out");
  }
  const std::string before = "http://127.0.0.1:";
  ASSERT_THAT(said, HasSubstr(before));
  const int port = std::stoi(said.substr(said.find(before) + before.size()));
  const std::string host = " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n";
  Client upload(port), head(port), idle(port), sensitivities(port);
  upload.send("PUT /api/v1/models/m" + host +
              "Content-Type: application/octet-stream\r\nContent-Length: 4000000000\r\n\r\nx");
  head.send("GET / HTTP");
  const std::string body = R"({"model": "sd15", "preset": "edge"})";
  sensitivities.send("POST /api/v1/sensitivities" + host + "Content-Type: application/json\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n\r\n" + body);
  std::this_thread::sleep_for(200ms);
  const auto begin = now();
  ::kill(process, SIGTERM);
  const Ended ended = wait_for(process, folder.path);
  EXPECT_LT(now() - begin, 20s);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

}  // namespace
}  // namespace sdip::test
