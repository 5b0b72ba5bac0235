// The rows of each operator family, one file each; operators.cpp puts them in one list.
#pragma once

#include <span>

#include "core/ops/operator.h"

namespace sdip {

#define ROWS(family) std::span<const Operator> family##_rows();
#include "core/ops/families.def"

}  // namespace sdip
