// Operators that a user defines in a file: docs/formats.md has the format.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/expression.h"
#include "core/ops/operator.h"

namespace sdip {

/// An attribute of an operator of a file. Without `standard` a node must give it.
struct CustomAttribute {
  std::string name;
  std::size_t kind = 0;  // index of the alternative of Attribute
  std::optional<Attribute> standard;
};

/// The parsed definition of one operator: what `infer` and `work` of its row evaluate.
struct CustomOperator {
  std::string domain, type, mnemonic, attribute_names;
  std::vector<std::string> inputs;
  std::vector<CustomAttribute> attributes;
  std::optional<ElementType> output_type;  // or that of input `output_like`
  std::size_t output_like = 0;
  ShapeExpression output_shape;
  Family family = Family::vector;
  std::map<std::string, Expression, std::less<>> work;  // rows, passes, ..., or the fields of LoopNest
  std::vector<Expression> read_elements;
  Operator row;
};

/// Operators of files, and the JSON they came from, as an array of definitions.
struct OwnOperators {
  std::vector<std::unique_ptr<const CustomOperator>> list;
  std::string json;
};

/// Reads the definitions of several files, each {"operators": [...]}, named by `labels` in errors. Throws
/// Error("operator_invalid", "file#/operators/0/field", ...), naming the position within an expression; also for
/// an operator that is built in or defined twice.
std::shared_ptr<const OwnOperators> own_operators(const std::vector<nlohmann::json>& files,
                                                  const std::vector<std::string>& labels);

/// The row of a built-in operator, or else of an own one (`own` may be null), or nullptr.
const Operator* find_operator(const OwnOperators* own, std::string_view domain, std::string_view type);

}  // namespace sdip
