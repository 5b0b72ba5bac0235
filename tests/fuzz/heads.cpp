// The target of HTTP heads, in the place of targets.cpp: what passes the gate is what the server acts on.
#include <algorithm>

#include "core/base/error.h"
#include "server/http/gate.h"
#include "tests/fuzz/target.h"

namespace sdip::fuzz {
namespace {

constexpr GateRules rules{8080, std::int64_t{1} << 32};

constexpr std::string_view codes[] = {"bad_request", "header_too_large", "length_required",  "too_large",
                                      "media_type",  "forbidden_host",   "forbidden_origin", "method_not_allowed"};

std::string run(std::string_view input) {
  try {
    const Head head = check_head(input, rules);
    check(head.path.starts_with('/'), "fuzz: a path that begins with no slash");
    check(head.body_bytes >= 0 && head.body_bytes <= std::max(rules.most_upload_bytes, most_json_bytes),
          "fuzz: a body beyond what is taken");
    for (const char c : head.path + head.method) check(c != '\0' && c != '\n' && c != '\r', "fuzz: a line break");
    return head.method;
  } catch (const Error& error) {
    check(std::ranges::find(codes, error.code) != std::end(codes), "fuzz: a code that the gate does not have");
    return error.code;
  }
}

std::string head_of(std::string_view line, std::string_view headers = "") {
  return std::string(line) + " HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" + std::string(headers) + "\r\n";
}

std::vector<std::string> heads() {
  return {
      head_of("GET /"),
      head_of("GET /api/v1/sweeps/1/points?limit=10&sort=-throughput_fps&fields=a%2Cb",
              "Accept-Encoding: gzip\r\n"),
      head_of("HEAD /healthz", "Connection: close\r\n"),
      head_of("GET /assets/index.js", "If-None-Match: \"3f\"\r\nAccept: */*\r\n"),
      head_of("POST /api/v1/analyses", "Content-Type: application/json\r\nContent-Length: 22\r\n"),
      head_of("POST /api/v1/sweeps",
              "Origin: http://localhost:8080\r\nContent-Type: application/json\r\nContent-Length: 300\r\n"),
      head_of("PUT /api/v1/models/m%20x",
              "Content-Type: application/octet-stream\r\nContent-Length: 4000000000\r\nExpect: 100-continue\r\n"),
      head_of("DELETE /api/v1/models/m", "Connection: keep-alive\r\n"),
      "GET / HTTP/1.0\r\nHost: [::1]:8080\r\n\r\n",
  };
}

/// Lines doubled, removed, moved, split, or one of another head; else bytes.
std::string changed(const std::string& input, Random& random) {
  if (below(random, 3) == 0) return changed_bytes(input, random);
  static const std::vector<std::string> sound = heads();
  const std::string& other = sound[below(random, sound.size())];
  const auto line_of = [&](const std::string& text) {
    if (text.empty()) return std::pair<std::size_t, std::size_t>{0, 0};
    const std::size_t before = text.rfind("\r\n", below(random, text.size()));
    const std::size_t at = before == std::string::npos ? 0 : before + 2;
    return std::pair{at, std::min(text.find("\r\n", at), text.size() - 2) + 2 - at};
  };
  std::string text = input.size() < 2 || below(random, 2) == 0 ? sound[below(random, sound.size())] : input;
  for (std::size_t i = 1 + below(random, 2); i > 0; --i) {
    const auto [at, size] = line_of(text);
    const auto [from, taken] = line_of(other);
    switch (below(random, 4)) {
      case 0:
        text.erase(at, size);
        break;
      case 1:
        text.insert(at, text.substr(at, size));
        break;
      case 2:
        text.replace(at, size, other.substr(from, taken));
        break;
      default:
        text.insert(at, other.substr(from, taken));
    }
    if (text.size() < 2) return text;
  }
  return below(random, 2) == 0 ? text : changed_bytes(text, random);
}

constexpr Target rows[] = {{"heads", run, changed, heads}};

}  // namespace

std::span<const Target> targets() { return rows; }

}  // namespace sdip::fuzz
