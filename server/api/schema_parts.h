// The parts that the schemas of the API are added in. Internal to its room.
#pragma once

#include "server/json/schema.h"

namespace sdip {

/// The states of a job.
schema::Schema job_states();
/// Properties of the row of a stored job; then its result, where that is shown.
schema::Properties job_row(schema::Schema request, const char* progress, const char* summary);
/// A request of one design point, and what more it asks.
schema::Schema point_request(const schema::Properties& more);
/// A user's formulas by name, each alone or with its unit.
schema::Schema user_formulas();

/// Each adds the schemas of what it is named after to those that there are.
void add_validations(OrderedJson& schemas);
void add_searches(OrderedJson& schemas);
void add_fronts(OrderedJson& schemas);
void add_explanations(OrderedJson& schemas);  // and of single changes
void add_chips(OrderedJson& schemas);

}  // namespace sdip
