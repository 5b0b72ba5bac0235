// The dashboard's files, inside the program. Internal to its room.
#pragma once

#include <span>
#include <string_view>

#include "server/http/http.h"

namespace sdip {

struct Asset {
  std::string_view path;  // "/index.html"
  std::string_view bytes;
};

/// The files of web/dist when the program was built; none when it was not there. Defined by the build.
std::span<const Asset> web_assets();

/// Whether an Accept-Encoding takes a coding: named, or by `*`, and not with q=0. Example: "br, gzip;q=0" takes br
/// alone.
bool takes_coding(std::string_view accept_encoding, std::string_view coding);

/// The answer to a path outside the API: the file, compressed as the client takes it (the build puts `.br` and
/// `.gz` beside a file), or 304 where it has it; index.html for /; else 404.
Reply asset_reply(const Call& call);

}  // namespace sdip
