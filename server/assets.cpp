// Serving the dashboard's files.
#include "server/assets.h"

#include <algorithm>

#include "core/base/error.h"

namespace sdip {
namespace {

struct MediaType {
  std::string_view ending, type;
};
constexpr MediaType media_types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".json", "application/json"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
    {".webmanifest", "application/manifest+json"},
};

constexpr std::string_view not_built =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>SDIP Explorer</title>"
    "<h1>SDIP Explorer</h1><p>This program was built without its dashboard (web/dist was absent). The API is at "
    "<a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>.</p></html>";

const Asset* find_asset(std::string_view path) {
  const auto assets = web_assets();
  const auto found = std::ranges::find(assets, path, &Asset::path);
  return found == assets.end() ? nullptr : &*found;
}

Reply file_reply(const Asset& asset) {
  Reply reply;
  const auto type =
      std::ranges::find_if(media_types, [&](const auto& row) { return asset.path.ends_with(row.ending); });
  reply.content_type = type == std::end(media_types) ? "application/octet-stream" : type->type;
  reply.body = asset.bytes;
  // Vite puts a hash of the content into the names of /assets.
  const bool hashed = asset.path.starts_with("/assets/");
  reply.headers.emplace_back("Cache-Control", hashed ? "public, max-age=31536000, immutable" : "no-cache");
  return reply;
}

}  // namespace

Reply asset_reply(std::string_view path) {
  if (path == "/") path = "/index.html";
  if (const Asset* asset = find_asset(path)) return file_reply(*asset);
  const bool is_page = path.substr(path.rfind('/')).find('.') == std::string_view::npos || path == "/index.html";
  if (!is_page) throw Error("not_found", std::string(path.substr(0, 200)), "no such file");
  if (const Asset* index = find_asset("/index.html")) return file_reply(*index);
  return {.status = 200, .content_type = "text/html; charset=utf-8", .body = std::string(not_built)};
}

}  // namespace sdip
