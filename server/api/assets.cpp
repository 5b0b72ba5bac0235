// Serving the dashboard's files.
#include "server/api/assets.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/words.h"

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

struct Coding {
  std::string_view name, ending;
};
/// The smaller first.
constexpr Coding codings[] = {{"br", ".br"}, {"gzip", ".gz"}};

const Asset* find_asset(std::string_view path) {
  const auto assets = web_assets();
  const auto found = std::ranges::find(assets, path, &Asset::path);
  return found == assets.end() ? nullptr : &*found;
}

/// The parts of a list in a header, without the spaces around them.
std::vector<std::string_view> items_of(std::string_view list, char between) {
  std::vector<std::string_view> items = split(list, between);
  for (std::string_view& item : items) item = trimmed(item);
  return items;
}

/// FNV-1a, 64 bits: tells two builds' files apart.
std::string tag_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string tag = "\"";
  for (int shift = 60; shift >= 0; shift -= 4) tag += "0123456789abcdef"[hash >> shift & 15];
  return tag + "\"";
}

/// If-None-Match names it: weakly compared, as RFC 9110 has it.
bool names_tag(std::string_view if_none_match, std::string_view tag) {
  return std::ranges::any_of(items_of(if_none_match, ','), [&](std::string_view one) {
    if (one.starts_with("W/")) one.remove_prefix(2);
    return one == "*" || one == tag;
  });
}

Reply file_reply(const Asset& asset, const Call& call) {
  Reply reply;
  const auto type =
      std::ranges::find_if(media_types, [&](const auto& row) { return asset.path.ends_with(row.ending); });
  reply.content_type = type == std::end(media_types) ? "application/octet-stream" : type->type;
  // Vite puts a hash of the content into the names of /assets.
  const bool hashed = asset.path.starts_with("/assets/");
  reply.headers.emplace_back("Cache-Control", hashed ? "public, max-age=31536000, immutable" : "no-cache");
  const Asset* sent = &asset;
  bool varies = false;
  for (const Coding& coding : codings) {
    const Asset* smaller = find_asset(std::string(asset.path).append(coding.ending));
    varies |= smaller != nullptr;
    if (!smaller || sent != &asset || !takes_coding(call.accept_encoding, coding.name)) continue;
    reply.headers.emplace_back("Content-Encoding", coding.name);
    sent = smaller;
  }
  if (varies) reply.headers.emplace_back("Vary", "Accept-Encoding");
  const std::string tag = tag_of(sent->bytes);
  reply.headers.emplace_back("ETag", tag);
  if (names_tag(call.if_none_match, tag))
    reply.status = 304;
  else
    reply.body = sent->bytes;
  return reply;
}

}  // namespace

bool takes_coding(std::string_view accept_encoding, std::string_view coding) {
  bool any = false;
  for (const std::string_view item : items_of(accept_encoding, ',')) {
    const auto parts = items_of(item, ';');
    const bool refused = std::ranges::any_of(parts, [](std::string_view part) {
      return (part.starts_with("q=0") || part.starts_with("Q=0")) &&
             part.find_first_not_of("0.", 2) == std::string_view::npos;
    });
    if (lower(parts[0]) == lower(coding)) return !refused;
    any |= parts[0] == "*" && !refused;
  }
  return any;
}

Reply asset_reply(const Call& call) {
  const std::string_view path = call.path == "/" ? std::string_view("/index.html") : std::string_view(call.path);
  const bool coded = std::ranges::any_of(codings, [&](const Coding& one) { return path.ends_with(one.ending); });
  const Asset* asset = coded ? nullptr : find_asset(path);
  if (asset) return file_reply(*asset, call);
  // The dashboard's own routes live in the hash: it is one page.
  if (path != "/index.html") throw Error("not_found", std::string(path.substr(0, 200)), "no such file or page");
  return {.status = 200, .content_type = "text/html; charset=utf-8", .body = std::string(not_built)};
}

}  // namespace sdip
