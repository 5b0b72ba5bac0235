// The one list of operators, the use of a row, and the names of families.
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

std::pair<std::string_view, std::string_view> full_name(const Operator& row) { return {row.domain, row.type}; }

std::vector<Operator> list_operators() {
  std::vector<Operator> rows;
#define ROWS(family) std::ranges::copy(family##_rows(), std::back_inserter(rows));
#include "core/ops/families.def"
  std::ranges::sort(rows, {}, full_name);
  return rows;
}

/// Whether `name` is one of the words of `names`.
bool names_include(std::string_view names, std::string_view name) {
  for (std::size_t at = 0; (at = names.find(name, at)) != std::string_view::npos; ++at) {
    const bool starts = at == 0 || names[at - 1] == ' ';
    const bool ends = at + name.size() == names.size() || names[at + name.size()] == ' ';
    if (starts && ends && !name.empty()) return true;
  }
  return false;
}

}  // namespace

std::string_view family_text(Family family) {
  static constexpr std::string_view names[] = {"conv2d", "linear",    "matmul", "vector",  "softmax",
                                               "norm",   "transpose", "view",   "constant"};
  return names[at(family)];
}

std::int64_t mac_count(const LoopNest& n) {
  // A nest's figures come from shapes, whose counts are below 2^53, but their product need not be.
  std::int64_t count = 1;
  for (std::int64_t size :
       {n.groups, n.batch, n.out_channels, n.out_h, n.out_w, n.in_channels, n.kernel_h, n.kernel_w}) {
    if (size == 0) return 0;
    if (__builtin_mul_overflow(count, size, &count)) {
      throw Error("model_too_large", "", "an operator has more than 2^63 multiply-accumulates");
    }
  }
  return count;
}

std::span<const Operator> operators() {
  static const std::vector<Operator> rows = list_operators();
  return rows;
}

const Operator* find_operator(std::string_view domain, std::string_view type) {
  const std::pair wanted(domain == "ai.onnx" ? std::string_view() : domain, type);
  const auto rows = operators();
  const auto found = std::ranges::lower_bound(rows, wanted, {}, full_name);
  return found != rows.end() && full_name(*found) == wanted ? &*found : nullptr;
}

void check_use(const Operator& op, const OperatorUse& use) {
  if (use.inputs.size() < op.least_inputs || use.inputs.size() > op.most_inputs) {
    refuse(use, "invalid_graph",
           fmt::format("has {} inputs, expected {}{}", use.inputs.size(), op.least_inputs,
                       op.most_inputs == op.least_inputs ? "" : " to " + std::to_string(op.most_inputs)));
  }
  // A composite says itself which of its inputs may be left out.
  for (std::size_t i = 0; i < op.least_inputs && op.expand == nullptr; ++i) input(use, i);
  if (use.attributes == nullptr) return;
  for (const auto& [name, value] : *use.attributes) {
    if (!names_include(op.attributes, name)) {
      refuse(use, "unsupported_attribute",
             fmt::format("attribute '{}' is not known; known are: {}", name, op.attributes));
    }
  }
}

namespace {

bool can_compute(const Operator& op, const OperatorUse& use, std::span<const Operand> outputs,
                 std::int64_t most_elements) {
  // Strings have shapes here, and no values.
  const auto known = [](const Operand* in) {
    return in == nullptr || (in->value.has_value() && in->type != ElementType::string);
  };
  const auto done = [](const Operand& out) { return out.value.has_value(); };
  const auto small = [&](const Operand& out) { return element_count(out.shape) <= most_elements; };
  return op.compute != nullptr && !op.random && std::all_of(use.inputs.begin(), use.inputs.end(), known) &&
         !std::all_of(outputs.begin(), outputs.end(), done) && std::all_of(outputs.begin(), outputs.end(), small);
}

}  // namespace

std::vector<Operand> infer_use(const Operator& op, const OperatorUse& of, std::int64_t most_elements) {
  OperatorUse use = of;
  use.row = &op;
  check_use(op, use);
  std::vector<Operand> outputs;
  try {
    outputs = op.infer(use);
    for (Operand& output : outputs) know_if_empty(output);
    if (can_compute(op, use, outputs, most_elements)) op.compute(use, outputs);
  } catch (const Error& error) {
    if (error.where == use.node) throw;
    refuse(use, error.code.c_str(), error.what());  // a size that overflows does not know whose it is
  }
  if (outputs.size() < use.output_count) {
    refuse(use, "invalid_graph",
           fmt::format("has {} outputs, expected at most {}", use.output_count, outputs.size()));
  }
  outputs.resize(use.output_count);
  return outputs;
}

}  // namespace sdip
