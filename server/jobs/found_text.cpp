// The findings of a job, as text.
#include "server/jobs/found_text.h"

#include "server/io/json_in.h"

namespace sdip {

std::string answer_of(const FoundText& found) { return found.summary + "\n" + found.result; }

FoundText found_in_answer(std::string_view answer, const std::string& model) {
  const auto line = answer.find('\n');
  if (line == std::string_view::npos) throw no_valid_answer(model);
  FoundText found{std::string(answer.substr(0, line)), std::string(answer.substr(line + 1))};
  try {
    if (bounded_json(found.summary).is_object() && bounded_json(found.result).is_object()) return found;
  } catch (const Json::exception&) {
  } catch (const Error& error) {
    if (error.code != "json_invalid") throw;
  }
  throw no_valid_answer(model);
}

Error no_valid_answer(const std::string& model) {
  return {"evaluation_failed", model, model + ": evaluating this model gave no valid answer"};
}

}  // namespace sdip
