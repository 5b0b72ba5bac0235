// Errors as HTTP answers.
#include "server/http/http.h"

#include <algorithm>
#include <iostream>

namespace sdip {
namespace {

struct CodeRow {
  std::string_view code;
  int status;
  std::string_view said = {};  // instead of place and detail, which name files of ours: those go to the log
};

constexpr std::string_view store_said = "the store cannot be used; the server's log says why";
constexpr std::string_view file_said = "a file of the server's cannot be used; its log says which";

/// Everything else is input that was understood and cannot be used: 422.
constexpr CodeRow code_rows[] = {
    {"bad_request", 400},
    {"json_invalid", 400},
    {"json_duplicate_key", 400},
    {"unknown_key", 400},
    {"forbidden_host", 403},
    {"forbidden_origin", 403},
    {"not_found", 404},
    {"unknown_sweep", 404},
    {"unknown_point", 404},
    {"method_not_allowed", 405},
    {"timeout", 408},
    {"conflict", 409},
    {"engine_changed", 409},
    {"length_required", 411},
    {"too_large", 413},
    {"media_type", 415},
    {"header_too_large", 431},
    {"internal", 500},
    {"sandbox_unavailable", 500},
    {"file_not_found", 500, file_said},
    {"file_unreadable", 500, file_said},
    {"file_unwritable", 500, file_said},
    {"data_folder_unusable", 500, file_said},
    {"store_corrupt", 500, "the store is damaged: `sdip db check` says where"},
    {"store_failed", 500, store_said},
    {"store_foreign", 500, store_said},
    {"store_locked", 500, store_said},
    {"store_newer", 500, store_said},
    {"store_readonly", 500, store_said},
    {"busy", 503},
    {"cancelled", 503},
    {"disk_full", 507, "no space left on the server's disk; nothing of this write was kept"},
};

const CodeRow* row_of(std::string_view code) {
  const auto row = std::ranges::find(code_rows, code, &CodeRow::code);
  return row == std::end(code_rows) ? nullptr : row;
}

}  // namespace

int status_of(std::string_view code) {
  const CodeRow* row = row_of(code);
  return row == nullptr ? 422 : row->status;
}

OrderedJson problem_json(const std::string& code, const std::string& where, const std::string& detail) {
  std::string title = code;
  std::ranges::replace(title, '_', ' ');
  const CodeRow* row = row_of(code);
  const bool ours = row != nullptr && !row->said.empty();
  return {{"type", "about:blank"},
          {"title", title},
          {"status", status_of(code)},
          {"code", code},
          {"where", ours ? "" : printable(where)},
          {"detail", ours ? std::string(row->said) : printable(detail)}};
}

Reply problem_reply(const std::string& code, const std::string& where, const std::string& detail) {
  const CodeRow* row = row_of(code);
  if (row != nullptr && !row->said.empty())
    std::cerr << "sdip: " << code << ": " << printable(where) << ": " << printable(detail) << std::endl;
  return {.status = status_of(code),
          .content_type = "application/problem+json",
          .body = json_text(problem_json(code, where, detail))};
}

}  // namespace sdip
