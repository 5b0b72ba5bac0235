// Handlers of measurements of accuracy.
#include <charconv>

#include "core/base/error.h"
#include "server/api/handlers.h"

namespace sdip {
namespace {

std::int64_t accuracy_id(const Call& call) {
  const std::string& text = call.parts[0];
  std::int64_t id = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (problem != std::errc() || end != text.data() + text.size())
    throw Error("not_found", "id", text.substr(0, 80) + ": expected a whole number");
  return id;
}

}  // namespace

Reply post_accuracy(Service& service, const Call& call) {
  const std::int64_t id = service.accuracies.submit(parse_json(call.body), call.stop);
  Reply reply = json_reply(service.accuracies.job(id), 202);
  reply.headers.emplace_back("Location", "/api/v1/accuracies/" + std::to_string(id));
  return reply;
}

Reply answer_accuracy(Service& service, const Call& call) {
  return json_reply(service.accuracies.job(accuracy_id(call)));
}

Reply delete_accuracy(Service& service, const Call& call) {
  service.accuracies.remove(accuracy_id(call));
  return {.status = 204};
}

}  // namespace sdip
