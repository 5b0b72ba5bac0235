// Dispatch of requests.
#include "server/api/site.h"

#include "core/base/error.h"
#include "server/api/assets.h"
#include "server/api/routes.h"

namespace sdip {
namespace {

bool is_api(std::string_view path) { return path.starts_with("/api/") || path == "/api" || path == "/healthz"; }

Reply not_allowed(const Call& call, const std::string& allowed) {
  Reply reply = problem_reply("method_not_allowed", call.path, "expected one of " + allowed);
  reply.headers.emplace_back("Allow", allowed);
  return reply;
}

void check_media_type(const Route& route, const std::string& content_type) {
  const std::string given = content_type.substr(0, content_type.find(';'));
  const std::string_view wanted = route.body == BodyKind::json     ? "application/json"
                                  : route.body == BodyKind::upload ? "application/octet-stream"
                                                                   : "";
  if (!wanted.empty() && given != wanted)
    throw Error("media_type", "Content-Type", "expected " + std::string(wanted));
}

Admission admit(const Call& call, const std::string& content_type) {
  if (!is_api(call.path) && call.method != "GET") return {.refusal = not_allowed(call, "GET")};
  if (!is_api(call.path)) return {.quick = true};
  const Matched matched = match_route(call.method, call.path);
  if (!matched.route && !matched.allowed.empty()) return {.refusal = not_allowed(call, matched.allowed)};
  if (!matched.route)
    throw Error("not_found", call.path.substr(0, 200), "no such route; /api/v1/openapi.json lists them");
  check_query(*matched.route, call);
  check_media_type(*matched.route, content_type);
  return {.quick = matched.route->effort == Effort::quick};
}

}  // namespace

Answerer answerer_of(Service& service) {
  return {admit,
          [&service](const Call& call) {
            if (!is_api(call.path)) return asset_reply(call);
            const Matched matched = match_route(call.method, call.path);
            Call full = call;
            full.parts = matched.parts;
            return matched.route->handler(service, full);
          },
          [&service] {
            require_folder(service.data / "models");
            return std::make_unique<NewFile>(service.data / "models" / "upload");
          }};
}

}  // namespace sdip
