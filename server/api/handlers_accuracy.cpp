// Handlers of measurements of accuracy.
#include "server/api/handlers.h"

namespace sdip {
Reply post_accuracy(Service& service, const Call& call) {
  const std::int64_t id = service.accuracies.submit(parse_json(call.body), call.stop);
  return made_at("accuracies/" + std::to_string(id), json_reply(service.accuracies.job(id), 202));
}

Reply answer_accuracy(Service& service, const Call& call) {
  return json_reply(service.accuracies.job(path_id(call)));
}

Reply delete_accuracy(Service& service, const Call& call) {
  service.accuracies.remove(path_id(call));
  return {.status = 204};
}

}  // namespace sdip
