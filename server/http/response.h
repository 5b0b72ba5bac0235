// An answer as the bytes of HTTP/1.1. Internal to its room.
#pragma once

#include <string>

#include "server/http/http.h"

namespace sdip {

/// Status line and headers; of a stream with chunks announced. `close`: says that the connection ends with it.
std::string reply_head(const Reply& reply, bool close);
/// The whole answer, which is no stream; of a HEAD its head alone.
std::string reply_text(const Reply& reply, bool close, bool head_only = false);

/// The answer of a server that cannot take a request now, with Retry-After.
Reply busy_reply(const std::string& why);

}  // namespace sdip
