// Handlers of searches for the best machine.
#include "core/base/error.h"
#include "server/api/handlers.h"
#include "server/studies/best_json.h"
#include "server/studies/validation_json.h"

namespace sdip {
namespace {

Reply search_reply(Service& service, std::int64_t id, int status = 200) {
  // The progress first: one that ends in between is then shown as ended.
  const auto progress = service.searches.progress(id);
  OrderedJson object = search_row_json(service.store.search(id), progress);
  object["result"] = stored_json(service.store.search_result(id));
  return json_reply(object, status);
}

}  // namespace

Reply answer_searched_rows(Service&, const Call&) { return json_reply(searched_rows_json()); }

Reply post_search(Service& service, const Call& call) {
  const std::int64_t id = service.searches.submit(best_request(parse_json(call.body)));
  return made_at("searches/" + std::to_string(id), search_reply(service, id, 202));
}

Reply answer_searches(Service& service, const Call&) {
  const auto now = [&](const SearchRow& row) { return search_row_json(row, service.searches.progress(row.id)); };
  return json_reply({{"searches", json_list(service.store.searches(), now)}});
}

Reply answer_search(Service& service, const Call& call) { return search_reply(service, path_id(call)); }

Reply delete_search(Service& service, const Call& call) {
  const std::int64_t id = path_id(call);
  service.searches.forget(id);
  service.store.remove_search(id);
  return {.status = 204};
}

Reply cancel_search(Service& service, const Call& call) {
  service.searches.cancel(path_id(call));
  return search_reply(service, path_id(call), 202);
}

}  // namespace sdip
