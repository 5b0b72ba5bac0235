// The head of an HTTP request, checked in full before the HTTP library sees any of it. The packaged cpp-httplib
// 0.11.4 accepts what it should not: duplicate lengths, chunked bodies without bound, folded
// and encoded line breaks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sdip {

inline constexpr std::size_t most_head_bytes = 16384;
inline constexpr std::int64_t most_json_bytes = 1 << 20;

struct GateRules {
  int port = 0;                        // of this server, for Host and Origin
  std::int64_t most_upload_bytes = 0;  // of a PUT; other bodies are at most most_json_bytes
};

struct Head {
  std::string method;
  std::int64_t body_bytes = 0;
  bool keep_alive = true;
  std::string text;  // what the HTTP library reads: the request line and the headers it needs, rewritten
};

/// Checks a head, its empty line included. Throws Error bad_request, header_too_large, length_required (a body
/// without Content-Length), too_large, media_type (an encoded body), forbidden_host (not this server's name: DNS
/// rebinding), forbidden_origin (a page of another site), method_not_allowed.
Head check_head(std::string_view head, const GateRules& rules);

}  // namespace sdip
