// The service under test and its client.
#include "tests/server/site_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/api/site.h"
#include "tests/sanitized.h"
#include "tests/server/http/client.h"

namespace sdip::test {
namespace {

std::string protobuf_field(int number, const std::string& bytes) {
  std::string length;
  std::size_t left = bytes.size();
  for (; left >= 0x80; left >>= 7) length += static_cast<char>(left | 0x80);
  return static_cast<char>(number << 3 | 2) + length + static_cast<char>(left) + bytes;
}
std::string protobuf_field(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

/// ValueInfoProto: name, float tensor [1, 4].
std::string tensor_info(const std::string& name) {
  const std::string one = protobuf_field(1, protobuf_field(1, 1)), four = protobuf_field(1, protobuf_field(1, 4));
  const std::string tensor = protobuf_field(1, 1) + protobuf_field(2, one + four);
  return protobuf_field(1, name) + protobuf_field(2, protobuf_field(1, tensor));
}

}  // namespace

Answer parse_answer(const std::string& text) {
  Answer answer;
  const auto end = text.find("\r\n\r\n");
  if (end == std::string::npos || text.size() < 12) return answer;
  answer.status = std::stoi(text.substr(9, 3));
  for (std::size_t from = text.find("\r\n") + 2; from < end;) {
    const auto line_end = text.find("\r\n", from);
    const std::string line = text.substr(from, line_end - from);
    std::string name = line.substr(0, line.find(':'));
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    answer.headers[name] = line.substr(line.find(':') + 2);
    from = line_end + 2;
  }
  answer.body = text.substr(end + 4);
  if (answer.headers["transfer-encoding"] != "chunked") return answer;
  std::string body;
  for (std::size_t from = 0; from < answer.body.size();) {
    const auto line_end = answer.body.find("\r\n", from);
    const auto size = std::stoul(answer.body.substr(from, line_end - from), nullptr, 16);
    body += answer.body.substr(line_end + 2, size);
    from = line_end + 2 + size + 2;
  }
  answer.body = body;
  return answer;
}

Answer send_bytes(int port, const std::string& bytes, std::string then) {
  Client client(port);
  client.send(bytes);
  std::string text;
  for (;;) {
    const auto piece = client.receive(std::chrono::seconds(sanitized ? 200 : 20));
    if (!piece || piece->empty()) return parse_answer(text);
    text += *piece;
    client.send(std::exchange(then, ""));
  }
}

Site::Site(const ServerLimits& limits) {
  service = std::make_unique<Service>(folder.path, SDIP_BINARY);
  server = std::make_unique<HttpServer>(0, answerer_of(*service), limits);
  port = server->port();
  thread_ = std::thread([this] { server->run(); });
  while (get("/healthz").status != 200) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

Site::~Site() {
  server->stop();
  thread_.join();
}

Answer Site::request(const std::string& method, const std::string& path, const std::string& body,
                     const std::string& type) const {
  std::string text =
      method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\nConnection: close\r\n";
  if (!type.empty()) text += "Content-Type: " + type + "\r\n";
  if (method != "GET") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return send_bytes(port, text + "\r\n" + body);
}

std::string Site::validation(const std::string& asked) const {
  const Answer answer = post("/api/v1/validations", asked);
  EXPECT_EQ(answer.status, 202) << answer.body;
  return answer.json().at("id").dump();
}

Json Site::wait_for(const std::string& path, const std::string& state) const {
  using std::chrono::steady_clock, std::chrono::milliseconds;
  Json found;
  const auto start = steady_clock::now();  // a search among other tests takes minutes
  for (auto now = start; now < start + std::chrono::minutes(10); now = steady_clock::now()) {
    found = get(path).json();
    if (found.value("state", "") == state) return found;
    // What has taken long is asked for less often: asking takes the time of what is waited for.
    std::this_thread::sleep_for(
        std::clamp<steady_clock::duration>((now - start) / 20, milliseconds(5), milliseconds(250)));
  }
  ADD_FAILURE() << path << " did not become " << state << ": " << found.dump().substr(0, 500);
  return found;
}

Json Site::wait_for_state(const std::string& id, const std::string& state) const {
  return wait_for("/api/v1/sweeps/" + id, state);
}

std::string Site::sweep(const std::string& spec, const std::string& state) const {
  const Answer answer = post("/api/v1/sweeps", spec);
  EXPECT_EQ(answer.status, 202) << answer.body;
  const std::string id = answer.json().at("id").dump();
  wait_for_state(id, state);
  return id;
}

std::string small_onnx(const std::string& op, const SmallNames& names) {
  std::string node = protobuf_field(1, names.input) + protobuf_field(2, names.output) +
                     protobuf_field(3, names.node) + protobuf_field(4, op);
  std::string opsets = protobuf_field(8, protobuf_field(2, 17));
  if (!names.domain.empty()) {
    node += protobuf_field(7, names.domain);
    opsets += protobuf_field(8, protobuf_field(1, names.domain) + protobuf_field(2, 1));
  }
  const std::string graph = protobuf_field(1, node) + protobuf_field(2, "small") +
                            protobuf_field(11, tensor_info(names.input)) +
                            protobuf_field(12, tensor_info(names.output));
  return protobuf_field(1, 8) + protobuf_field(7, graph) + opsets;
}

}  // namespace sdip::test
