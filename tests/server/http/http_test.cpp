// The server as hostile or slow clients see it, and as many clients at once see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/base/error.h"
#include "server/io/files.h"
#include "tests/server/http/client.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

std::string host_of(const Site& site) { return "Host: 127.0.0.1:" + std::to_string(site.port) + "\r\n"; }

TEST(http, a_closed_socket_that_a_child_still_holds_ends_no_later_connection) {
  const Site site;
  std::vector<Client> first;
  for (int i = 0; i < 8; ++i) first.emplace_back(site.port);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until it is accepted
  const pid_t child = ::fork();                                // has every descriptor, as one that is being started
  if (child == 0) {
    ::sleep(20);
    ::_exit(0);
  }
  for (Client& one : first) one.end();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until its number is free again
  for (int i = 0; i < 5; ++i) {
    const Answer answer = site.post("/api/v1/sensitivities", R"({"model": "tiny-sd-text"})");
    EXPECT_EQ(answer.status, 200) << answer.body;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(http, every_answer_carries_the_security_headers) {
  const Site site;
  for (const char* path : {"/", "/api/v1/metrics", "/api/v1/nope", "/healthz"}) {
    const Answer answer = site.get(path);
    EXPECT_THAT(answer.headers.at("content-security-policy"), HasSubstr("default-src 'none'")) << path;
    EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff") << path;
  }
}

TEST(http, malformed_requests_get_one_problem_and_a_closed_connection) {
  const Site site;
  EXPECT_EQ(send_bytes(site.port, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
  EXPECT_EQ(
      send_bytes(site.port,
                 "POST /api/v1/analyses HTTP/1.1\r\n" + host_of(site) +
                     "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
          .status,
      411);
  EXPECT_EQ(send_bytes(site.port,
                       "POST / HTTP/1.1\r\n" + host_of(site) + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")
                .status,
            400);
  EXPECT_EQ(send_bytes(site.port, "GET / HTTP/1.1\r\nA: " + std::string(20'000, 'x')).status, 431);
  EXPECT_EQ(send_bytes(site.port, "\x16\x03\x01 hello\r\n\r\n").status, 400);
  EXPECT_EQ(send_bytes(site.port, "POST /api/v1/analyses HTTP/1.1\r\n" + host_of(site) +
                                      "Content-Type: application/json\r\nContent-Length: 2000000\r\n\r\n")
                .status,
            413);
  EXPECT_EQ(site.request("POST", "/api/v1/analyses", "{}", "text/plain").status, 415);
  EXPECT_EQ(site.get("/healthz").status, 200);
}

TEST(http, a_refused_body_is_not_read_as_the_next_request) {
  const Site site;
  const std::string inner = "GET /healthz HTTP/1.1\r\n" + host_of(site) + "\r\n";
  const Answer answer =
      send_bytes(site.port, "POST /api/v1/nope HTTP/1.1\r\n" + host_of(site) +
                                "Content-Length: " + std::to_string(inner.size()) + "\r\n\r\n" + inner);
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, testing::Not(HasSubstr("HTTP/1.1 200")));
}

TEST(http, requests_follow_each_other_on_one_connection) {
  const Site site;
  const std::string one = "GET /healthz HTTP/1.1\r\n" + host_of(site) + "\r\n",
                    last = "GET /healthz HTTP/1.1\r\n" + host_of(site) + "Connection: close\r\n\r\n";
  const Answer answer = send_bytes(site.port, one + one + last);
  EXPECT_EQ(answer.status, 200);
  std::size_t count = 1;
  for (auto at = answer.body.find("HTTP/1.1 200"); at != std::string::npos;
       at = answer.body.find("HTTP/1.1 200", at + 1))
    ++count;
  EXPECT_EQ(count, 3U);
}

TEST(http, an_upload_over_the_limit_is_refused_before_it_is_read) {
  ServerLimits limits;
  limits.most_upload_bytes = 100;
  const Site site(limits);
  EXPECT_EQ(site.put("/api/v1/models/big", std::string(101, 'x')).status, 413);
  EXPECT_EQ(site.put("/api/v1/models/small", small_onnx()).status, small_onnx().size() <= 100 ? 201 : 413);
}

TEST(http, a_name_used_again_is_the_new_model) {
  const Site site;
  const std::string body = R"({"model": "one", "instructions": true})";
  const auto operation = [&] {
    return site.post("/api/v1/analyses", body).json().at("stages").at(0).at("instructions").at(0).at("op");
  };
  EXPECT_EQ(site.put("/api/v1/models/one", small_onnx()).status, 201);
  EXPECT_EQ(operation(), "relu");
  EXPECT_EQ(site.request("DELETE", "/api/v1/models/one").status, 204);
  EXPECT_EQ(site.put("/api/v1/models/one", small_onnx("Sigmoid")).status, 201);
  EXPECT_EQ(operation(), "sigmoid");
}

TEST(http, a_refused_upload_leaves_nothing) {
  const Site site;
  EXPECT_EQ(site.put("/api/v1/models/bad", small_onnx("Frobnicate")).json()["code"], "unknown_operator");
  EXPECT_TRUE(std::filesystem::is_empty(site.folder.path / "models"));
}

TEST(http, uploads_are_kept_by_hash_and_names_are_not_reused) {
  const Site site;
  EXPECT_EQ(site.put("/api/v1/models/one", small_onnx()).status, 201);
  EXPECT_EQ(site.put("/api/v1/models/one", small_onnx()).status, 201) << "the same bytes again";
  EXPECT_EQ(site.put("/api/v1/models/two", small_onnx()).status, 201);
  EXPECT_EQ(site.put("/api/v1/models/one", small_onnx("Sigmoid")).status, 409);
  const std::string bytes = small_onnx();
  const auto file = site.folder.path / "models" / (sha256_hex(std::as_bytes(std::span(bytes))) + ".onnx");
  EXPECT_TRUE(std::filesystem::exists(file));
  site.sweep(R"({"model": "one", "axes": [{"parameter": "cores", "values": [1]}]})");
  EXPECT_EQ(site.request("DELETE", "/api/v1/models/one").status, 409) << "a sweep is of it";
  EXPECT_EQ(site.request("DELETE", "/api/v1/models/two").status, 204);
  EXPECT_TRUE(std::filesystem::exists(file)) << "the other name still needs it";
  EXPECT_EQ(site.request("DELETE", "/api/v1/sweeps/1").status, 204);
  EXPECT_EQ(site.request("DELETE", "/api/v1/models/one").status, 204);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(http, a_body_left_unread_closes_the_connection_and_says_so) {
  const Site site;
  const auto answer_to = [&](const std::string& path, const std::string& length) {
    return send_bytes(site.port, "POST " + path + " HTTP/1.1\r\n" + host_of(site) +
                                     "Content-Type: application/json\r\nContent-Length: " + length +
                                     "\r\n\r\n{}GET /healthz HTTP/1.1\r\n" + host_of(site) +
                                     "Connection: close\r\n\r\n");
  };
  for (const Answer& answer : {answer_to("/api/v1/nope", "2"), answer_to("/api/v1/analyses", "9999999")}) {
    EXPECT_EQ(answer.status / 100, 4);
    EXPECT_EQ(answer.headers.at("connection"), "close");
    EXPECT_THAT(answer.body, testing::Not(HasSubstr("HTTP/1.1 200")));
  }
  EXPECT_EQ(answer_to("/api/v1/analyses", "2").headers.at("connection"), "keep-alive") << "its body was read";
}

TEST(http, what_is_no_page_is_not_found) {
  const Site site;
  for (const char* path : {"/readyz", "/metrics", "/sweeps", "/wp-login.php", "/assets/", "//"}) {
    const Answer answer = site.get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.json().at("code"), "not_found") << path;
  }
  EXPECT_EQ(site.get("/").status, 200);
}

TEST(http, a_head_alone_is_answered_without_a_body) {
  const Site site;
  const Answer answer =
      send_bytes(site.port, "HEAD /api/v1/metrics HTTP/1.1\r\n" + host_of(site) + "Connection: close\r\n\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_GT(std::stoi(answer.headers.at("content-length")), 100);
  EXPECT_EQ(answer.body, "");
}

TEST(http, a_client_that_asks_first_is_told_to_go_on) {
  const Site site;
  const Answer answer = send_bytes(site.port,
                                   "POST /api/v1/analyses HTTP/1.1\r\n" + host_of(site) +
                                       "Content-Type: application/json\r\nContent-Length: 2\r\n"
                                       "Expect: 100-continue\r\nConnection: close\r\n\r\n",
                                   "{}");
  EXPECT_EQ(answer.status, 100);
  EXPECT_THAT(answer.body, testing::StartsWith("HTTP/1.1 422"));
}

TEST(http, an_exceptions_text_never_leaves) {
  HttpServer server(0, {[](const Call&, const std::string&) { return Admission(); },
                        [](const Call&) -> Reply { throw std::runtime_error("secret"); }});
  std::thread thread([&] { server.run(); });
  const std::string request =
      "GET / HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) + "\r\nConnection: close\r\n\r\n";
  Answer answer;
  for (int i = 0; i < 200 && answer.status == 0; ++i) answer = send_bytes(server.port(), request);
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.json()["code"], "internal");
  EXPECT_EQ(answer.body.find("secret"), std::string::npos);
  for (const auto& [name, value] : answer.headers) EXPECT_EQ(value.find("secret"), std::string::npos) << name;
  server.stop();
  thread.join();
}

TEST(http, a_taken_port_is_an_error_with_a_code) {
  const Site site;
  try {
    HttpServer second(site.port, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "port_in_use");
  }
  const TemporaryFolder folder;
  const Ended ended = run_sdip({"serve", "--port", std::to_string(site.port), "--data", folder / "d"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, testing::StartsWith("sdip: port_in_use: 127.0.0.1:"));
}

TEST(http, requests_are_answered_while_a_sweep_runs) {
  const Site site;
  const std::string id = site.sweep(
      R"({"model": "tiny-sd", "sampling": "random", "count": 1000000, "axes": [{"parameter": "steps", "min": 1, "max": 1000, "step": 1}]})",
      "running");
  std::vector<std::thread> clients;
  std::atomic<int> good = 0;
  for (int client = 0; client < 8; ++client)
    clients.emplace_back([&] {
      for (const std::string path : {"/api/v1/sweeps", "/api/v1/parameters", "/api/v1/models",
                                     "/api/v1/sweeps/1/points?limit=10&sort=-throughput_fps"})
        if (site.get(path).status == 200) ++good;
    });
  for (auto& client : clients) client.join();
  EXPECT_EQ(good, 32);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(site.post("/api/v1/analyses", R"({"model": "tiny-sd"})").status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(site.request("DELETE", "/api/v1/sweeps/" + id).status, 409) << "it runs";
  EXPECT_EQ(site.post("/api/v1/sweeps/" + id + "/cancel", "").status, 202);
  site.wait_for_state(id, "cancelled");
}

}  // namespace
}  // namespace sdip::test
