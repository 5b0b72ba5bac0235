// The parts that validations and searches have in common in the store.
#include "core/base/error.h"
#include "db/parts.h"

namespace sdip {
namespace {

SweepState asked_state(Connection& connection, const std::string& table, std::int64_t id) {
  Statement row(connection, ("SELECT state FROM " + table + " WHERE id = ?").c_str());
  row.bind(id);
  if (!row.step()) throw no_such(table, id);
  return state_of(row.text(0), connection.path());
}

}  // namespace

Error no_such(const std::string& table, std::int64_t id) {
  return {"not_found", table + " " + std::to_string(id), "no such " + table};
}

std::string asked_result(Connection& connection, const std::string& table, std::int64_t id) {
  Statement row(connection, ("SELECT coalesce(result_json, '') FROM " + table + " WHERE id = ?").c_str());
  row.bind(id);
  if (!row.step()) throw no_such(table, id);
  return std::string(row.text(0));
}

void set_asked_state(Connection& connection, const std::string& table, std::int64_t id, SweepState state,
                     const std::optional<Problem>& problem) {
  require_follows(table, id, asked_state(connection, table, id), state);
  Statement set(connection, ("UPDATE " + table +
                             " SET state = ?, error_code = ?, error_where = ?, error_message = ? WHERE id = ?")
                                .c_str());
  set.bind(sweep_state_text(state));
  bind_problem(set, state, problem);
  set.bind(id).run();
}

void end_asked(Connection& connection, const std::string& table, std::int64_t id, SweepState state,
               std::string_view summary_json, std::string_view result_json) {
  require_follows(table, id, asked_state(connection, table, id), state);
  Statement set(connection,
                ("UPDATE " + table + " SET state = ?, summary_json = ?, result_json = ? WHERE id = ?").c_str());
  set.bind(sweep_state_text(state)).bind(summary_json).bind(result_json).bind(id).run();
}

void remove_asked(Connection& connection, const std::string& table, std::int64_t id) {
  if (asked_state(connection, table, id) == SweepState::running)
    throw Error("conflict", table + " " + std::to_string(id), "the " + table + " runs: cancel it first");
  Statement(connection, ("DELETE FROM " + table + " WHERE id = ?").c_str()).bind(id).run();
}

}  // namespace sdip
