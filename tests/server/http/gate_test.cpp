// The gate: which heads pass, and what they are taken to say.
#include "server/http/gate.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace sdip {
namespace {

const GateRules rules{8080, 1000};
const std::string host = "Host: 127.0.0.1:8080\r\n";

std::string refusal(const std::string& head) {
  try {
    check_head(head, rules);
  } catch (const Error& error) {
    return error.code;
  }
  return "passed";
}
std::string get(const std::string& headers) { return refusal("GET / HTTP/1.1\r\n" + headers + "\r\n"); }
std::string post(const std::string& headers) { return refusal("POST / HTTP/1.1\r\n" + host + headers + "\r\n"); }

TEST(gate, a_browsers_request_passes) {
  EXPECT_EQ(get(host + "Accept: */*\r\nSec-Fetch-Mode: cors\r\n"), "passed");
}

TEST(gate, only_names_of_loopback_at_our_port_are_ours) {
  EXPECT_EQ(get("Host: localhost:8080\r\n"), "passed");
  EXPECT_EQ(get("Host: [::1]:8080\r\n"), "passed");
  EXPECT_EQ(get("Host: evil.example:8080\r\n"), "forbidden_host");
  EXPECT_EQ(get("Host: 127.0.0.1\r\n"), "forbidden_host");
  EXPECT_EQ(get("Host: 127.0.0.1:8081\r\n"), "forbidden_host");
  EXPECT_EQ(get(""), "bad_request");
  EXPECT_EQ(get(host + host), "bad_request");
}

TEST(gate, pages_of_other_sites_change_nothing) {
  EXPECT_EQ(post("Origin: http://127.0.0.1:8080\r\n"), "passed");
  EXPECT_EQ(post("Origin: http://evil.example\r\n"), "forbidden_origin");
  EXPECT_EQ(post("Origin: null\r\n"), "forbidden_origin");
  EXPECT_EQ(post("Origin: https://127.0.0.1:8080\r\n"), "forbidden_origin");
}

TEST(gate, lengths_are_single_plain_numbers_within_bounds) {
  EXPECT_EQ(post("Content-Length: 10\r\n"), "passed");
  EXPECT_EQ(post("Content-Length: 10\r\nContent-Length: 10\r\n"), "bad_request");
  for (const char* length : {"-1", "+1", "0x10", "1 0", "", "99999999999999999999"})
    EXPECT_EQ(post("Content-Length: " + std::string(length) + "\r\n"), "bad_request") << length;
  EXPECT_EQ(post("Content-Length: " + std::to_string(most_json_bytes + 1) + "\r\n"), "too_large");
  EXPECT_EQ(refusal("PUT /x HTTP/1.1\r\n" + host + "Content-Length: 1001\r\n\r\n"), "too_large");
  EXPECT_EQ(refusal("PUT /x HTTP/1.1\r\n" + host + "\r\n"), "length_required");
}

TEST(gate, chunked_and_encoded_bodies_are_refused) {
  EXPECT_EQ(post("Transfer-Encoding: chunked\r\n"), "length_required");
  EXPECT_EQ(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), "length_required");
  EXPECT_EQ(post("Content-Encoding: gzip\r\nContent-Length: 5\r\n"), "media_type");
}

TEST(gate, malformed_lines_are_refused) {
  EXPECT_EQ(get(host + "no colon\r\n"), "bad_request");
  EXPECT_EQ(get(host + " folded: x\r\n"), "bad_request");
  EXPECT_EQ(get(host + "X_Under: x\r\n"), "bad_request");
  EXPECT_EQ(get(host + "A: b\nC: d\r\n"), "bad_request");
  EXPECT_EQ(get(host + "A: b\rC: d\r\n"), "bad_request");
  EXPECT_EQ(get(host + std::string("A: b\0c\r\n", 8)), "bad_request");
  EXPECT_EQ(refusal("GET /\r\n\r\n"), "bad_request");
  EXPECT_EQ(refusal("GET / HTTP/2\r\n" + host + "\r\n"), "bad_request");
  EXPECT_EQ(refusal("BREW / HTTP/1.1\r\n" + host + "\r\n"), "method_not_allowed");
  EXPECT_EQ(refusal("GET http://x/ HTTP/1.1\r\n" + host + "\r\n"), "bad_request");
}

TEST(gate, encoded_line_breaks_and_long_targets_are_refused) {
  for (const char* target : {"/a%0d%0ab", "/a%0D", "/a%00", "/?x=%0a"})
    EXPECT_EQ(refusal("GET " + std::string(target) + " HTTP/1.1\r\n" + host + "\r\n"), "bad_request") << target;
  EXPECT_EQ(refusal("GET /" + std::string(600, 'a') + " HTTP/1.1\r\n" + host + "\r\n"), "header_too_large");
}

TEST(gate, more_than_64_headers_are_refused) {
  std::string many = host;
  for (int i = 0; i < 70; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  EXPECT_EQ(get(many), "header_too_large");
}

TEST(gate, a_head_is_taken_apart_and_decoded) {
  const Head head = check_head("PUT /a%2Fb+c?dim=N%3D1=2&x+y=%20+&&flag HTTP/1.1\r\n" + host +
                                   "Content-Type: text/plain\r\nContent-Length: 12\r\nExpect: 100-Continue\r\n"
                                   "Accept-Encoding: br\r\nRange: bytes=0-1\r\nConnection: close\r\n\r\n",
                               rules);
  EXPECT_EQ(head.method, "PUT");
  EXPECT_EQ(head.path, "/a/b+c");
  EXPECT_EQ(head.query, (std::multimap<std::string, std::string>{{"dim", "N=1=2"}, {"x y", "  "}, {"flag", ""}}));
  EXPECT_EQ(head.content_type, "text/plain");
  EXPECT_EQ(head.accept_encoding, "br");
  EXPECT_EQ(head.body_bytes, 12);
  EXPECT_TRUE(head.expects_continue);
  EXPECT_FALSE(head.keep_alive);
}

TEST(gate, broken_escapes_and_other_expectations_are_refused) {
  for (const char* target : {"/a%", "/a%2", "/a%2g", "/?a=%g0"})
    EXPECT_EQ(refusal("GET " + std::string(target) + " HTTP/1.1\r\n" + host + "\r\n"), "bad_request") << target;
  EXPECT_EQ(post("Expect: 200-ok\r\n"), "bad_request");
}

}  // namespace
}  // namespace sdip
