// Handlers of validations, and of the validation of a sweep's front.
#include "core/base/error.h"
#include "server/api/handlers.h"
#include "server/studies/validation_json.h"

namespace sdip {
namespace {

Reply validation_reply(Service& service, std::int64_t id, int status = 200) {
  // The progress first: one that ends in between is then shown as ended.
  const auto progress = service.validations.progress(id);
  const ValidationRow row = service.store.validation(id);
  if (row.sweep)
    throw Error("not_found", "validation " + std::to_string(id), "it is of a sweep's front: ask the sweep");
  OrderedJson object = validation_row_json(row, progress);
  object["result"] = stored_json(service.store.validation_result(id));
  return json_reply(object, status);
}

}  // namespace

Reply post_validation(Service& service, const Call& call) {
  const std::int64_t id = service.validations.submit(validation_request(parse_json(call.body)));
  return made_at("validations/" + std::to_string(id), validation_reply(service, id, 202));
}

Reply answer_validations(Service& service, const Call&) {
  const auto now = [&](const ValidationRow& row) {
    return validation_row_json(row, service.validations.progress(row.id));
  };
  return json_reply({{"validations", json_list(service.store.validations(), now)}});
}

Reply answer_validation(Service& service, const Call& call) { return validation_reply(service, path_id(call)); }

Reply delete_validation(Service& service, const Call& call) {
  const std::int64_t id = path_id(call);
  service.validations.forget(id);
  service.store.remove_validation(id);
  return {.status = 204};
}

Reply cancel_validation(Service& service, const Call& call) {
  service.validations.cancel(path_id(call));
  return validation_reply(service, path_id(call), 202);
}

Reply answer_front_validation(Service& service, const Call& call) {
  const std::int64_t sweep = path_id(call);
  service.store.sweep(sweep);
  const auto row = service.store.validation_of(sweep);
  if (!row)
    throw Error("not_found", "sweep " + std::to_string(sweep),
                "its front was not validated: it is not done, none of it is feasible, or validate_seconds is 0");
  OrderedJson object = validation_row_json(*row, service.validations.progress(row->id));
  const std::string result = service.store.validation_result(row->id);
  object["points"] = result.empty() ? OrderedJson::array() : OrderedJson::parse(result).at("points");
  return json_reply(object);
}

}  // namespace sdip
