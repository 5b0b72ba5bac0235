// Routes to OpenAPI paths.
#include "server/api/openapi.h"

#include "core/base/words.h"
#include "db/export.h"
#include "server/api/routes.h"
#include "server/io/version.h"

namespace sdip {
namespace {

OrderedJson reference(std::string_view schema) { return {{"$ref", "#/components/schemas/" + std::string(schema)}}; }

OrderedJson content(std::string_view type, const OrderedJson& schema) {
  return {{std::string(type), {{"schema", schema}}}};
}

OrderedJson path_parameters(std::string_view path) {
  OrderedJson list = OrderedJson::array();
  for (auto open = path.find('{'); open != std::string_view::npos; open = path.find('{', open + 1)) {
    const auto name = path.substr(open + 1, path.find('}', open) - open - 1);
    const bool number = name == "id" || name == "index";
    list.push_back({{"name", name},
                    {"in", "path"},
                    {"required", true},
                    {"schema", number ? OrderedJson{{"type", "integer"}, {"minimum", 0}}
                                      : OrderedJson{{"type", "string"}, {"pattern", "^[A-Za-z0-9._-]{1,64}$"}}}});
  }
  return list;
}

OrderedJson query_parameter(const QueryRow& row) {
  OrderedJson schema = {{"type", row.type}};
  if (row.repeated) schema = {{"type", "array"}, {"items", schema}};
  return {{"name", row.name}, {"in", "query"}, {"required", false}, {"description", row.doc}, {"schema", schema}};
}

OrderedJson success(const Route& route) {
  OrderedJson reply = {{"description", route.summary}};
  if (route.response_schema == "text") {
    for (const ExportFormatRow& format : export_formats()) {
      const std::string type(format.media_type.substr(0, format.media_type.find(';')));
      if (format.text) reply["content"][type] = {{"schema", {{"type", "string"}}}};
    }
  } else if (!route.response_schema.empty()) {
    reply["content"] = content("application/json", reference(route.response_schema));
  }
  return reply;
}

OrderedJson operation(const Route& route) {
  OrderedJson parameters = path_parameters(route.path);
  for (const auto& row : route.query) parameters.push_back(query_parameter(row));
  OrderedJson object = {{"operationId", route.id}, {"summary", route.summary}};
  if (!parameters.empty()) object["parameters"] = parameters;
  if (route.body == BodyKind::json)
    object["requestBody"] = {{"required", true},
                             {"content", content("application/json", reference(route.request_schema))}};
  if (route.body == BodyKind::upload)
    object["requestBody"] = {{"required", true},
                             {"content", {{"application/octet-stream", OrderedJson::object()}}}};
  object["responses"] = OrderedJson::object();
  object["responses"][std::to_string(route.status)] = success(route);
  object["responses"]["default"] = {{"description", "A problem"},
                                    {"content", content("application/problem+json", reference("Problem"))}};
  return object;
}

}  // namespace

OrderedJson openapi_json() {
  OrderedJson paths = OrderedJson::object();
  for (const auto& route : routes()) paths[std::string(route.path)][lower(route.method)] = operation(route);
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "SDIP Explorer"},
            {"version", program_version},
            {"description",
             "What a diffusion processor costs, and which one is best. Numbers carry their unit in their "
             "name; unknown keys are refused."}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", component_schemas()}}}};
}

}  // namespace sdip
