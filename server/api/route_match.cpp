// Which route a request means.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/words.h"
#include "server/api/routes.h"

namespace sdip {
namespace {

bool matches(std::string_view pattern, std::string_view path, std::vector<std::string>& parts) {
  const auto wanted = split(pattern, '/'), given = split(path, '/');
  if (wanted.size() != given.size()) return false;
  parts.clear();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].starts_with('{')) {
      if (given[i].empty()) return false;
      parts.emplace_back(given[i]);
    } else if (wanted[i] != given[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

Matched match_route(std::string_view method, std::string_view path) {
  Matched result;
  std::vector<std::string> parts;
  for (const auto& route : routes()) {
    if (!matches(route.path, path, parts)) continue;
    result.allowed += (result.allowed.empty() ? "" : ", ") + std::string(route.method);
    if (route.method != method) continue;
    result.route = &route;
    result.parts = parts;
    return result;
  }
  return result;
}

void check_query(const Route& route, const Call& call) {
  for (const auto& [key, value] : call.query) {
    const auto row = std::ranges::find(route.query, key, &QueryRow::name);
    if (row == route.query.end())
      throw Error("unknown_key", "?" + key.substr(0, 80), "this route has no such query key");
    if (!row->repeated && call.query.count(key) > 1)
      throw Error("bad_request", "?" + key.substr(0, 80), "given more than once");
  }
}

}  // namespace sdip
