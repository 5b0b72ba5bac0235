// Errors as HTTP answers.
#include "server/http.h"

#include <algorithm>

namespace sdip {
namespace {

struct CodeStatus {
  std::string_view code;
  int status;
};

/// Everything else is input that was understood and cannot be used: 422.
constexpr CodeStatus code_statuses[] = {
    {"bad_request", 400},         {"json_invalid", 400},   {"json_duplicate_key", 400},
    {"unknown_key", 400},         {"forbidden_host", 403}, {"forbidden_origin", 403},
    {"not_found", 404},           {"unknown_sweep", 404},  {"unknown_point", 404},
    {"method_not_allowed", 405},  {"timeout", 408},        {"conflict", 409},
    {"length_required", 411},     {"too_large", 413},      {"media_type", 415},
    {"header_too_large", 431},    {"internal", 500},       {"file_unwritable", 500},
    {"sandbox_unavailable", 500}, {"busy", 503},           {"disk_full", 507},
};

}  // namespace

int status_of(std::string_view code) {
  const auto row = std::ranges::find(code_statuses, code, &CodeStatus::code);
  return row == std::end(code_statuses) ? 422 : row->status;
}

OrderedJson problem_json(const std::string& code, const std::string& where, const std::string& detail) {
  std::string title = code;
  std::ranges::replace(title, '_', ' ');
  return {{"type", "about:blank"},     {"title", title},
          {"status", status_of(code)}, {"code", code},
          {"where", printable(where)}, {"detail", printable(detail)}};
}

Reply problem_reply(const std::string& code, const std::string& where, const std::string& detail) {
  return {.status = status_of(code),
          .content_type = "application/problem+json",
          .body = json_text(problem_json(code, where, detail))};
}

}  // namespace sdip
