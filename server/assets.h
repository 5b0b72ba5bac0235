// The dashboard's files, inside the program.
#pragma once

#include <span>
#include <string_view>

#include "server/http.h"

namespace sdip {

struct Asset {
  std::string_view path;  // "/index.html"
  std::string_view bytes;
};

/// The files of web/dist when the program was built; none when it was not there. Defined by the build.
std::span<const Asset> web_assets();

/// The answer to a path outside the API: the file; index.html for a page of the dashboard; else 404.
Reply asset_reply(std::string_view path);

}  // namespace sdip
