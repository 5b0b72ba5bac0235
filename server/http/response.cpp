// Formatting answers.
#include "server/http/response.h"

#include <algorithm>

namespace sdip {
namespace {

/// The policy of what a page may load: everything from here, nothing from elsewhere.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

constexpr std::pair<const char*, const char*> security_headers[] = {{"Content-Security-Policy", content_policy},
                                                                    {"X-Content-Type-Options", "nosniff"},
                                                                    {"Referrer-Policy", "no-referrer"},
                                                                    {"Cross-Origin-Resource-Policy", "same-origin"},
                                                                    {"Cross-Origin-Opener-Policy", "same-origin"}};

constexpr std::pair<int, const char*> reasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Content"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {507, "Insufficient Storage"},
};

std::string reason_of(int status) {
  const auto row = std::ranges::find(reasons, status, &std::pair<int, const char*>::first);
  return row == std::end(reasons) ? "Status" : row->second;
}

bool has_body(const Reply& reply) { return reply.status != 204 && reply.status != 304; }

}  // namespace

std::string reply_head(const Reply& reply, bool close) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", reply.status, reason_of(reply.status));
  const auto add = [&](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  if (has_body(reply)) add("Content-Type", reply.content_type);
  if (reply.stream)
    add("Transfer-Encoding", "chunked");
  else if (has_body(reply))
    add("Content-Length", std::to_string(reply.body.size()));
  add("Connection", close ? "close" : "keep-alive");
  for (const auto& [name, value] : security_headers) add(name, value);
  bool cached = false;
  for (const auto& [name, value] : reply.headers) {
    add(name, value);
    cached = cached || name == "Cache-Control";
  }
  if (!cached) add("Cache-Control", "no-store");
  return text + "\r\n";
}

std::string reply_text(const Reply& reply, bool close, bool head_only) {
  std::string text = reply_head(reply, close);
  if (!head_only && has_body(reply)) text += reply.body;
  return text;
}

Reply busy_reply(const std::string& why) {
  Reply reply = problem_reply("busy", "", why);
  reply.headers.emplace_back("Retry-After", "2");
  return reply;
}

}  // namespace sdip
