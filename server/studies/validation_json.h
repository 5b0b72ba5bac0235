// Validations as JSON.
#pragma once

#include "db/store.h"
#include "server/http/http.h"
#include "server/json/record.h"
#include "server/studies/validation.h"

namespace sdip {

/// How much was compared, and how much of it differs.
struct Coverage {
  std::int64_t instructions = 0, instructions_compared = 0, classes = 0, classes_compared = 0, classes_executed = 0;
  std::int64_t values = 0, tile_operations = 0, elements = 0;
  std::int64_t differences = 0;  // of counters, and layers whose tensors differ
  std::int64_t overflows = 0;
  Coverage& operator+=(const Coverage& other);
};
Coverage coverage_of(const Validation& validation);

/// The first difference: of counters, else of tensors; null when there is none.
OrderedJson first_difference_json(const Validation& validation);
schema::Schema first_difference_schema();

/// A text that is kept of something, as JSON; null where none is.
inline OrderedJson stored_json(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson::parse(text);
}

/// A stored job without its result: what its row says, and how far it is.
template <class Row>
OrderedJson job_row_json(const Row& row, OrderedJson progress) {
  OrderedJson error;
  if (row.error) error = problem_json(row.error->code, row.error->where, row.error->message);
  return {{"id", row.id},
          {"model", row.model},
          {"state", sweep_state_text(row.state)},
          {"created", row.created},
          {"progress", std::move(progress)},
          {"error", std::move(error)},
          {"request", OrderedJson::parse(row.request_json)},
          {"summary", stored_json(row.summary_json)}};
}

/// A stored validation without its result: of a design point, or of a front.
OrderedJson validation_row_json(const ValidationRow& row, const std::optional<ValidationProgress>& progress);

/// The summary of a validation in a list.
OrderedJson validation_summary_json(const Validation& validation);

/// The whole, as GET /validations/{id} has it in `result`.
OrderedJson validation_json(const Validation& validation);

/// The schemas of these and their parts.
void add_validation_schemas(OrderedJson& schemas);
template <>
struct Written<Verdict> : WrittenNames<verdict_text, Verdict::not_compared> {};
template <>
Record<Coverage> make_record();

}  // namespace sdip
