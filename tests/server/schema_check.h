// Does a JSON value fit a schema of the OpenAPI document? The part of JSON Schema that our schemas use.
#pragma once

#include <string>
#include <vector>

#include "server/io/json_in.h"

namespace sdip::test {

/// What does not fit, each with its pointer; empty when all does. A keyword that is not understood is reported too.
std::vector<std::string> misfits(const Json& value, const Json& schema, const Json& document,
                                 const std::string& pointer = "");

}  // namespace sdip::test
