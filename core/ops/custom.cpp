// The rules of operators that files define: names bound to a use, expressions evaluated, results checked.
#include "core/ops/custom.h"

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/ops/custom_form.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

constexpr std::int64_t most_custom_elements = std::int64_t{1} << 53;  // as element_count has it

const CustomOperator& definition(const OperatorUse& use) {
  check(use.row != nullptr && use.row->custom != nullptr, "a use of an operator of a file has its row");
  return *use.row->custom;
}

/// The values of the names of a definition's expressions in one use. `output` is what the use makes, once known.
struct Bound {
  ExpressionValues values;
  Shape output;
};

void bind_attribute(const OperatorUse& use, const CustomAttribute& attribute, ExpressionValues& values) {
  const Attribute* found = attribute.standard ? &*attribute.standard : nullptr;
  if (use.attributes != nullptr) {
    const auto given = use.attributes->find(attribute.name);
    if (given != use.attributes->end()) found = &given->second;
  }
  if (found == nullptr) refuse(use, "unsupported_attribute", "attribute '" + attribute.name + "' must be given");
  if (found->index() != attribute.kind)
    refuse(use, "unsupported_attribute",
           fmt::format("attribute '{}' must be of kind {}", attribute.name, custom_kinds[attribute.kind]));
  if (const auto* number = std::get_if<std::int64_t>(found)) values.integers.push_back(*number);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(found)) values.lists.push_back(list);
}

ExpressionValues bound_values(const OperatorUse& use) {
  const CustomOperator& custom = definition(use);
  ExpressionValues values;
  for (std::size_t i = 0; i < custom.inputs.size(); ++i) {
    const Operand* in = optional_input(use, i);
    if (in == nullptr && i < custom.row.least_inputs)
      refuse(use, "invalid_graph", "input '" + custom.inputs[i] + "' is missing");
    values.tensors.push_back(in == nullptr ? nullptr : &in->shape);
  }
  for (const CustomAttribute& attribute : custom.attributes) bind_attribute(use, attribute, values);
  return values;
}

std::int64_t bounded(const OperatorUse& use, std::string_view field, std::int64_t value, std::int64_t least,
                     std::int64_t most) {
  if (value < least || value > most)
    refuse(use, "shape_mismatch", fmt::format("{} is {}, expected {} to {}", field, value, least, most));
  return value;
}

std::int64_t field_of(const OperatorUse& use, const ExpressionValues& values, std::string_view field,
                      std::int64_t otherwise, std::int64_t least, std::int64_t most) {
  const auto& work = definition(use).work;
  const auto found = work.find(field);
  return bounded(use, field, found == work.end() ? otherwise : number_of(found->second, values, use), least, most);
}

std::int64_t product_within(const OperatorUse& use, std::string_view what,
                            std::initializer_list<std::int64_t> sizes) {
  try {
    return element_count(Shape(sizes));
  } catch (const Error&) {
    refuse(use, "shape_mismatch", std::string(what) + " is more than 2^53");
  }
}

/// The nest must be one over its operands as they are: the engine tiles operands by the nest's sizes.
void check_nest(const OperatorUse& use, const Work& work, const Shape& output) {
  const LoopNest& n = work.nest;
  const auto require = [&](const char* what, std::int64_t nest, std::int64_t operand) {
    if (nest != operand)
      refuse(use, "shape_mismatch",
             fmt::format("the nest has {} elements of {}, which has {}", nest, what, operand));
  };
  require("the first input", product_within(use, "the nest", {n.batch, n.groups, n.in_channels, n.in_h, n.in_w}),
          element_count(input(use, 0).shape));
  const std::int64_t copies = work.family == Family::matmul ? n.batch : 1;
  require(
      "the second input",
      product_within(use, "the nest", {copies, n.groups, n.out_channels, n.in_channels, n.kernel_h, n.kernel_w}),
      element_count(input(use, 1).shape));
  require("the output", product_within(use, "the nest", {n.batch, n.groups, n.out_channels, n.out_h, n.out_w}),
          element_count(output));
  const auto reaches = [](std::int64_t out, std::int64_t stride, std::int64_t kernel, std::int64_t dilation) {
    return static_cast<Int128>(out - 1) * stride + static_cast<Int128>(kernel - 1) * dilation + 1;
  };
  if (reaches(n.out_h, n.stride_h, n.kernel_h, n.dilation_h) >
          static_cast<Int128>(n.in_h) + n.pad_top + n.pad_bottom ||
      reaches(n.out_w, n.stride_w, n.kernel_w, n.dilation_w) >
          static_cast<Int128>(n.in_w) + n.pad_left + n.pad_right)
    refuse(use, "shape_mismatch", "the nest's kernel reaches beyond its input");
}

Work nest_work(const OperatorUse& use, const Bound& bound, Work work) {
  for (const NestField& field : nest_fields) {
    const std::int64_t standard = work.nest.*field.member;
    work.nest.*field.member =
        field_of(use, bound.values, field.name, standard, standard, field.pad ? 1 << 20 : most_custom_elements);
  }
  check_nest(use, work, bound.output);
  const std::int64_t macs = mac_count(work.nest);
  if (macs > INT64_MAX / work.element_cycles)
    refuse(use, "shape_mismatch", "its multiply-accumulates take more than 2^63 cycles");
  return work;
}

Work row_work(const OperatorUse& use, const Bound& bound, Work work) {
  const CustomOperator& custom = definition(use);
  work.rows = field_of(use, bound.values, "rows", 1, 0, most_custom_elements);
  work.row_length = field_of(use, bound.values, "row_length", 1, 0, most_custom_elements);
  work.passes = field_of(use, bound.values, "passes", 1, 1, most_custom_passes);
  work.write_elements = field_of(use, bound.values, "write_elements", 0, 0, most_custom_elements);
  const std::int64_t steps = product_within(use, "rows x row_length x passes x element_cycles",
                                            {work.rows, work.row_length, work.passes, work.element_cycles});
  if (steps == 0 && element_count(bound.output) != 0)
    refuse(use, "shape_mismatch", "its work is nothing, but its output has elements");
  for (std::size_t i = 0; i < use.inputs.size(); ++i) {
    const bool absent = use.inputs[i] == nullptr;  // nothing is read of it, whatever the expression says
    work.read_elements.push_back(absent ? 0
                                        : bounded(use, "read_elements",
                                                  number_of(custom.read_elements[i], bound.values, use), 0,
                                                  most_custom_elements));
  }
  return work;
}

Work work_within(const OperatorUse& use, const Shape& output) {
  Bound bound{bound_values(use), output};
  bound.values.tensors.push_back(&bound.output);
  Work work;
  work.family = definition(use).family;
  work.element_cycles = field_of(use, bound.values, "element_cycles", 1, 1, most_element_cycles);
  return is_product(work.family) ? nest_work(use, bound, work) : row_work(use, bound, work);
}

}  // namespace

bool is_product(Family family) {
  return family == Family::conv2d || family == Family::linear || family == Family::matmul;
}

std::vector<Operand> infer_custom(const OperatorUse& use) {
  const CustomOperator& custom = definition(use);
  Operand out;
  out.type = custom.output_type ? *custom.output_type : input(use, custom.output_like).type;
  out.shape = sizes_of(custom.output_shape, bound_values(use), use);
  element_count(out.shape);
  work_within(use, out.shape);  // what is wrong with it is said at import, not when it is costed
  return {out};
}

Work custom_work(const OperatorUse& use, std::span<const Operand> outputs) {
  return work_within(use, outputs[0].shape);
}

const Operator* find_operator(const OwnOperators* own, std::string_view domain, std::string_view type) {
  const Operator* built_in = find_operator(domain, type);
  if (built_in != nullptr || own == nullptr) return built_in;
  const std::string_view wanted = domain == "ai.onnx" ? std::string_view() : domain;
  for (const auto& custom : own->list)
    if (custom->domain == wanted && custom->type == type) return &custom->row;
  return nullptr;
}

}  // namespace sdip
