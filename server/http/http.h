// A request and its answer, free of sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/stop.h"
#include "server/io/files.h"
#include "server/io/json_in.h"

namespace sdip {

using Sink = std::function<bool(std::string_view)>;  // false: the client is gone

/// The body of an upload, whole, in a file that goes away unless it is kept.
struct Upload {
  std::unique_ptr<NewFile> file;
  std::string sha256 = {};
  std::shared_ptr<std::int64_t> place = nullptr;  // among the uploads that are there at once: its bytes so far
};

struct Call {
  std::string method, path;
  std::vector<std::string> parts;  // what stood for each {name} of the route's pattern
  std::multimap<std::string, std::string> query;
  std::string accept_encoding, if_none_match;  // as the client says them
  std::string body;                            // of PUT empty:
  std::shared_ptr<Upload> upload;              // its body
  Stop stop = {};  // says true when nobody waits for the answer any more: the client left, or the server ends
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::function<void(const Sink&)> stream = nullptr;  // when set, the body in pieces
};

/// HTTP status of an error code: the table of docs/api.md. Codes not in it are 422.
int status_of(std::string_view code);

/// An error as RFC 9457 has it. Neither place nor detail leave where something fails on our side (the store, files
/// of ours): the code's own sentence stands for them.
OrderedJson problem_json(const std::string& code, const std::string& where, const std::string& detail);

/// The same as `application/problem+json`; what does not leave is written to the log.
Reply problem_reply(const std::string& code, const std::string& where, const std::string& detail);

}  // namespace sdip
