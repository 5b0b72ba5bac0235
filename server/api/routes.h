// Every route of the API: one row each. Serving, the OpenAPI document and the contract test read this table.
// Internal to its room.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "server/http/http.h"
#include "server/jobs/service.h"

namespace sdip {

enum class BodyKind { empty, json, upload };

/// Whether an answer takes some milliseconds whatever is asked and however much is stored.
enum class Effort { heavy, quick };

struct QueryRow {
  std::string_view name;
  std::string_view type;  // "string", "integer", "boolean"
  bool repeated;
  std::string_view doc;
};

struct Route {
  std::string_view method, path;  // "/api/v1/models/{name}"
  std::string_view id;            // operationId
  std::string_view summary;
  BodyKind body;
  std::string_view request_schema;  // of a JSON body
  std::span<const QueryRow> query;
  int status;                        // when it goes well
  std::string_view response_schema;  // "" for none; "text" for a file
  Reply (*handler)(Service&, const Call&);
  Effort effort = Effort::heavy;
};

std::span<const Route> routes();

struct Matched {
  const Route* route = nullptr;  // nullptr: none, and then
  std::vector<std::string> parts;
  std::string allowed;  // the methods that the path has, "" when no route has it
};
Matched match_route(std::string_view method, std::string_view path);

/// Throws Error unknown_key for a query key that the route has not, bad_request for one given twice that is not
/// repeated.
void check_query(const Route& route, const Call& call);

}  // namespace sdip
