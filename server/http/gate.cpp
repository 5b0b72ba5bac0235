// Checks of a request's head, in the order of its bytes.
#include "server/http/gate.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/base/words.h"

namespace sdip {
namespace {

constexpr std::size_t most_target_bytes = 4096, most_path_bytes = 512, most_headers = 64;

[[noreturn]] void refuse(const std::string& message) { throw Error("bad_request", "", message); }

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
  });
}

std::vector<std::string_view> lines_of(std::string_view head) {
  if (!head.ends_with("\r\n\r\n")) refuse("the head does not end with an empty line");
  head.remove_suffix(2);
  std::vector<std::string_view> lines;
  while (!head.empty()) {
    const auto end = head.find("\r\n");
    lines.push_back(head.substr(0, end));
    head.remove_prefix(end + 2);
  }
  for (const auto line : lines)
    for (const char c : line)
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f)
        refuse("a control character in the head");
  return lines;
}

void check_target(std::string_view target) {
  if (target.size() > most_target_bytes) throw Error("header_too_large", "", "the request target is too long");
  if (!target.starts_with('/')) refuse("expected a target that starts with /");
  for (const char c : target)
    if (c <= 0x20 || c > 0x7e) refuse("a character in the target that must be percent-encoded");
  const auto path = target.substr(0, target.find('?'));
  if (path.size() > most_path_bytes) throw Error("header_too_large", "", "the path is too long");
  const std::string small = lower(target);
  for (const auto code : {"%00", "%0a", "%0d"})
    if (small.find(code) != std::string::npos) refuse("an encoded line break or NUL in the target");
}

/// Percent escapes as bytes; in a query a plus is a space.
std::string decoded(std::string_view text, bool query) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += query && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1, low = high < 0 ? -1 : digit(text[i + 2]);
    if (low < 0) refuse("a percent sign in the target that escapes nothing");
    bytes += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return bytes;
}

std::multimap<std::string, std::string> query_of(std::string_view text) {
  std::multimap<std::string, std::string> query;
  text = text.substr(0, text.find('#'));
  for (const std::string_view pair : split(text, '&')) {
    const auto equals = std::min(pair.find('='), pair.size());
    if (!pair.empty())
      query.emplace(decoded(pair.substr(0, equals), true),
                    decoded(pair.substr(std::min(equals + 1, pair.size())), true));
  }
  return query;
}

using Headers = std::map<std::string, std::string>;

/// Later lines of a name are joined with a comma, but for those that may appear once.
Headers headers_of(const std::vector<std::string_view>& lines) {
  if (lines.size() > most_headers) throw Error("header_too_large", "", "too many headers");
  Headers headers;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto colon = lines[i].find(':');
    if (colon == std::string_view::npos || !is_token(lines[i].substr(0, colon)))
      refuse("a header line that is not `Name: value`");
    const auto name = lower(lines[i].substr(0, colon));
    const auto [place, fresh] = headers.emplace(name, trimmed(lines[i].substr(colon + 1)));
    if (fresh) continue;
    if (name == "host" || name == "content-length" || name == "transfer-encoding" || name == "content-type" ||
        name == "origin")
      refuse("the header " + name + " appears twice");
    place->second += ", " + std::string(trimmed(lines[i].substr(colon + 1)));
  }
  return headers;
}

/// "127.0.0.1:8080", "localhost:8080" or "[::1]:8080": what a browser calls this server when it means it.
bool is_this_server(std::string_view host, int port) {
  for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"})
    if (host == fmt::format("{}:{}", name, port) || (port == 80 && host == name)) return true;
  return false;
}

void check_origin(const Headers& headers, const std::string& method, int port) {
  const auto host = headers.find("host");
  if (host == headers.end()) refuse("a Host header is required");
  if (!is_this_server(lower(host->second), port))
    throw Error("forbidden_host", "", "this server answers as 127.0.0.1 or localhost only");
  const auto origin = headers.find("origin");
  if (origin == headers.end() || method == "GET" || method == "HEAD") return;
  const std::string_view scheme = "http://";
  const std::string text = lower(origin->second);
  if (!text.starts_with(scheme) || !is_this_server(std::string_view(text).substr(scheme.size()), port))
    throw Error("forbidden_origin", "", "pages of other sites may not change anything here");
}

std::int64_t body_bytes_of(const Headers& headers, const std::string& method, const GateRules& rules) {
  if (headers.contains("transfer-encoding"))
    throw Error("length_required", "", "chunked bodies are not accepted; send Content-Length");
  if (headers.contains("content-encoding")) throw Error("media_type", "", "encoded bodies are not accepted");
  const auto length = headers.find("content-length");
  if (length == headers.end()) {
    if (method == "PUT") throw Error("length_required", "", "Content-Length is required");
    return 0;
  }
  const auto bytes = whole_number(length->second);
  if (!bytes || *bytes < 0) refuse("Content-Length is not a number");
  const std::int64_t most = method == "PUT" ? rules.most_upload_bytes : most_json_bytes;
  if (*bytes > most) throw Error("too_large", "", fmt::format("expected a body of at most {} bytes", most));
  return *bytes;
}

}  // namespace

Head check_head(std::string_view head, const GateRules& rules) {
  const auto lines = lines_of(head);
  if (lines.empty()) refuse("no request line");
  const auto first = lines[0].find(' '), last = lines[0].rfind(' ');
  if (first == std::string_view::npos || first == last) refuse("expected `METHOD target HTTP/1.1`");
  Head result;
  result.method = lines[0].substr(0, first);
  const auto target = lines[0].substr(first + 1, last - first - 1), version = lines[0].substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") refuse("expected HTTP/1.1");
  const std::string_view methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE"};
  if (std::ranges::find(methods, result.method) == std::end(methods))
    throw Error("method_not_allowed", "", "expected GET, HEAD, POST, PUT or DELETE");
  check_target(target);
  const Headers headers = headers_of(lines);
  check_origin(headers, result.method, rules.port);
  result.body_bytes = body_bytes_of(headers, result.method, rules);
  const auto connection = headers.find("connection");
  const std::string wish = connection == headers.end() ? "" : lower(connection->second);
  result.keep_alive = version == "HTTP/1.1" ? wish != "close" : wish == "keep-alive";
  const auto mark = std::min(target.find('?'), target.size());
  result.path = decoded(target.substr(0, mark), false);
  result.query = query_of(target.substr(std::min(mark + 1, target.size())));
  const auto take = [&](const char* name, std::string& text) {
    if (const auto found = headers.find(name); found != headers.end()) text = found->second;
  };
  take("content-type", result.content_type);
  take("accept-encoding", result.accept_encoding);
  take("if-none-match", result.if_none_match);
  if (const auto expect = headers.find("expect"); expect != headers.end()) {
    if (lower(expect->second) != "100-continue") refuse("expected no other Expect than 100-continue");
    result.expects_continue = true;
  }
  return result;
}

}  // namespace sdip
