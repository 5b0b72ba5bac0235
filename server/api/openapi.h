// The OpenAPI 3.1 document, made from the tables of routes, parameters and metrics.
#pragma once

#include "server/io/json_in.h"

namespace sdip {

OrderedJson openapi_json();

/// The schemas of components/schemas.
OrderedJson component_schemas();

}  // namespace sdip
