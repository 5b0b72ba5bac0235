// The head of an HTTP request, checked in full and taken apart. Refused is what clients do not send and attacks
// do: duplicate lengths, chunked bodies, folded and encoded line breaks, names that are not this server's.
// Internal to its room.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sdip {

inline constexpr std::size_t most_head_bytes = 16384;
inline constexpr std::int64_t most_json_bytes = 1 << 20;

struct GateRules {
  int port = 0;                        // of this server, for Host and Origin
  std::int64_t most_upload_bytes = 0;  // of a PUT; other bodies are at most most_json_bytes
};

/// The parts of a head that are acted on; other headers (ranges, upgrades, forwarding) are not.
struct Head {
  std::string method, path;                       // decoded
  std::multimap<std::string, std::string> query;  // decoded; a key ends at its first `=`
  std::string content_type, accept_encoding, if_none_match;
  std::int64_t body_bytes = 0;
  bool keep_alive = true;
  bool expects_continue = false;  // the client sends its body when it is told to
};

/// Checks a head, its empty line included. Throws Error bad_request, header_too_large, length_required (a body
/// without Content-Length), too_large, media_type (an encoded body), forbidden_host (not this server's name: DNS
/// rebinding), forbidden_origin (a page of another site), method_not_allowed.
Head check_head(std::string_view head, const GateRules& rules);

}  // namespace sdip
