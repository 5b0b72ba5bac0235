// Validations as JSON.
#pragma once

#include "db/store.h"
#include "server/io/json_in.h"
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
OrderedJson coverage_json(const Coverage& coverage);

/// The first difference: of counters, else of tensors; null when there is none.
OrderedJson first_difference_json(const Validation& validation);

/// A stored validation without its result: of a design point, or of a front.
OrderedJson validation_row_json(const ValidationRow& row, const std::optional<ValidationProgress>& progress);

/// The summary of a validation in a list.
OrderedJson validation_summary_json(const Validation& validation);

/// The whole, as GET /validations/{id} has it in `result`; every instruction's counters only where asked for.
OrderedJson validation_json(const Validation& validation, bool with_instructions = true);

}  // namespace sdip
