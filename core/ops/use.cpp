// The parts that shape rules and work rules share: operands and attributes of a use, checked, and the commonest
// shapes of work.
#include "core/ops/use.h"

#include <algorithm>

#include "core/base/error.h"

namespace sdip {
namespace {

const Attribute* find_attribute(const OperatorUse& use, std::string_view name) {
  if (use.attributes == nullptr) return nullptr;
  auto found = use.attributes->find(name);
  return found == use.attributes->end() ? nullptr : &found->second;
}

template <class T>
T attribute_or(const OperatorUse& use, std::string_view name, T otherwise, const char* expected) {
  const Attribute* attribute = find_attribute(use, name);
  if (attribute == nullptr) return otherwise;
  const T* value = std::get_if<T>(attribute);
  if (value == nullptr) {
    refuse(use, "unsupported_attribute", fmt::format("attribute '{}' must be {}", name, expected));
  }
  return *value;
}

}  // namespace

void refuse(const OperatorUse& use, const char* code, const std::string& what) {
  throw Error(code, std::string(use.node), fmt::format("node '{}' ({}): {}", use.node, use.type, what));
}

const Operand* optional_input(const OperatorUse& use, std::size_t i) {
  return i < use.inputs.size() ? use.inputs[i] : nullptr;
}

const Operand& input(const OperatorUse& use, std::size_t i) {
  const Operand* operand = optional_input(use, i);
  if (operand == nullptr) refuse(use, "invalid_graph", fmt::format("input {} is missing", i));
  return *operand;
}

std::vector<std::int64_t> ints_of_input(const OperatorUse& use, std::size_t i) {
  const Operand& operand = input(use, i);
  if (is_floating(operand.type) || operand.shape.size() > 1) {
    refuse(use, "shape_mismatch",
           fmt::format("input {} must be a list of integers, but is {}{}", i, element_type_text(operand.type),
                       shape_text(operand.shape)));
  }
  if (!operand.value) {
    refuse(use, "shape_unknown",
           fmt::format("the shape of the output depends on input {}, whose values are not known at import", i));
  }
  return operand.value->ints;
}

bool is_integer(ElementType type) {
  return !is_floating(type) && type != ElementType::boolean && type != ElementType::string;
}

bool is_number(ElementType type) { return is_floating(type) || is_integer(type); }

bool is_boolean(ElementType type) { return type == ElementType::boolean; }

void require_type(const OperatorUse& use, std::size_t i, bool (*allowed)(ElementType), const char* expected) {
  const Operand* operand = optional_input(use, i);
  if (operand == nullptr || allowed(operand->type)) return;
  refuse(use, operand->type == ElementType::string ? "unsupported_type" : "shape_mismatch",
         fmt::format("input {} is {}, expected {}", i, element_type_text(operand->type), expected));
}

Operand typed(ElementType type, Shape shape) {
  Operand out;
  out.type = type;
  out.shape = std::move(shape);
  return out;
}

Operand like_first(const OperatorUse& use) { return typed(input(use, 0).type, input(use, 0).shape); }

std::vector<Operand> infer_float(const OperatorUse& use) {
  require_type(use, 0, is_floating, "a float");
  return {like_first(use)};
}

std::vector<Operand> infer_number(const OperatorUse& use) {
  require_type(use, 0, is_number, "a number");
  return {like_first(use)};
}

void require_same_type(const OperatorUse& use, const Operand& a, const Operand& b, const char* what) {
  if (a.type == b.type) return;
  refuse(
      use, "shape_mismatch",
      fmt::format("{} of different types, {} and {}", what, element_type_text(a.type), element_type_text(b.type)));
}

void require_shape(const OperatorUse& use, std::size_t i, const Shape& shape) {
  const Operand* operand = optional_input(use, i);
  if (operand == nullptr || operand->shape == shape) return;
  refuse(use, "shape_mismatch",
         fmt::format("input {} is {}, expected {}", i, shape_text(operand->shape), shape_text(shape)));
}

void require_floats(const OperatorUse& use, std::size_t i, std::int64_t count) {
  const Operand* operand = optional_input(use, i);
  require_type(use, i, is_floating, "a float");
  if (operand != nullptr && element_count(operand->shape) != count) {
    refuse(use, "shape_mismatch",
           fmt::format("input {} has shape {}, expected {} elements", i, shape_text(operand->shape), count));
  }
}

void require_bounded(const OperatorUse& use, double operations, std::int64_t stored_elements) {
  if (operations > 0x1p16 * (static_cast<double>(stored_elements) + 1)) {
    refuse(use, "limit_exceeded", "it takes more than 2^16 operations for each element it reads or makes");
  }
}

bool has_attribute(const OperatorUse& use, std::string_view name) { return find_attribute(use, name) != nullptr; }

void require_attribute(const OperatorUse& use, std::string_view name) {
  if (!has_attribute(use, name))
    refuse(use, "unsupported_attribute", fmt::format("attribute '{}' is missing", name));
}

std::int64_t int_attribute(const OperatorUse& use, std::string_view name, std::int64_t otherwise) {
  return attribute_or<std::int64_t>(use, name, otherwise, "an integer");
}

double float_attribute(const OperatorUse& use, std::string_view name, double otherwise) {
  return attribute_or<double>(use, name, otherwise, "a float");
}

std::string string_attribute(const OperatorUse& use, std::string_view name, std::string_view otherwise) {
  return attribute_or<std::string>(use, name, std::string(otherwise), "a string");
}

std::vector<std::int64_t> ints_attribute(const OperatorUse& use, std::string_view name,
                                         std::vector<std::int64_t> otherwise) {
  return attribute_or<std::vector<std::int64_t>>(use, name, std::move(otherwise), "a list of integers");
}

std::vector<double> floats_attribute(const OperatorUse& use, std::string_view name, std::vector<double> otherwise) {
  return attribute_or(use, name, std::move(otherwise), "a list of floats");
}

std::vector<std::string> strings_attribute(const OperatorUse& use, std::string_view name,
                                           std::vector<std::string> otherwise) {
  return attribute_or(use, name, std::move(otherwise), "a list of strings");
}

std::string choice_attribute(const OperatorUse& use, std::string_view name, std::string_view otherwise,
                             std::initializer_list<std::string_view> choices) {
  std::string value = string_attribute(use, name, otherwise);
  if (std::ranges::find(choices, value) != choices.end()) return value;
  std::string list;
  for (const std::string_view& choice : choices)
    list.append(&choice == choices.begin() ? "" : &choice + 1 == choices.end() ? " or " : ", ").append(choice);
  refuse(use, "unsupported_attribute", fmt::format("attribute '{}' is '{}', expected {}", name, value, list));
}

std::string known_attribute(const OperatorUse& use, std::string_view name, std::string_view otherwise,
                            std::initializer_list<std::string_view> known) {
  std::string value = string_attribute(use, name, otherwise);
  if (std::ranges::find(known, value) != known.end()) return value;
  refuse(use, "unsupported_attribute", fmt::format("{} '{}' is not known", name, value));
}

ElementType type_attribute(const OperatorUse& use, std::string_view name, ElementType otherwise) {
  if (!has_attribute(use, name)) return otherwise;
  const auto type = element_type_of_onnx(int_attribute(use, name, 0));
  if (!type) {
    refuse(use, "unsupported_attribute", fmt::format("attribute '{}' names no element type known here", name));
  }
  if (*type == ElementType::string) {
    refuse(use, "unsupported_attribute", fmt::format("attribute '{}' names strings, which have no numbers", name));
  }
  return *type;
}

std::size_t axis_within(const OperatorUse& use, std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    refuse(use, "shape_mismatch", fmt::format("axis {} of a tensor of rank {}", axis, rank));
  }
  return as_size(axis < 0 ? axis + signed_rank : axis);
}

std::size_t axis_attribute(const OperatorUse& use, std::int64_t otherwise) {
  return axis_within(use, int_attribute(use, "axis", otherwise), input(use, 0).shape.size());
}

std::vector<std::size_t> axes_within(const OperatorUse& use, const std::vector<std::int64_t>& axes,
                                     std::size_t rank) {
  std::vector<std::size_t> found;
  for (std::int64_t axis : axes) found.push_back(axis_within(use, axis, rank));
  std::sort(found.begin(), found.end());
  if (std::adjacent_find(found.begin(), found.end()) != found.end()) {
    refuse(use, "shape_mismatch", "an axis stands twice in " + shape_text(axes));
  }
  return found;
}

std::int64_t index_within(const OperatorUse& use, std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size) {
    refuse(use, "shape_mismatch", fmt::format("index {} outside an axis of {} elements", index, size));
  }
  return index < 0 ? index + size : index;
}

std::int64_t count_between(const Shape& shape, std::size_t from, std::size_t to) {
  return element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(from),
                             shape.begin() + static_cast<std::ptrdiff_t>(std::max(from, to))));
}

Shape broadcast(const OperatorUse& use, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const std::size_t skip = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = out[skip + i];
    if (size == shorter[i] || shorter[i] == 1) continue;
    if (size != 1) {
      refuse(use, "shape_mismatch", fmt::format("shapes {} and {} do not broadcast", shape_text(a), shape_text(b)));
    }
    size = shorter[i];
  }
  return out;
}

std::optional<ElementType> element_type_of_onnx(std::int64_t number) {
  using enum ElementType;
  constexpr std::pair<std::int64_t, ElementType> table[] = {
      {1, float32},     {2, uint8},           {3, int8},          {4, uint16},
      {5, int16},       {6, int32},           {7, int64},         {8, string},
      {9, boolean},     {10, float16},        {11, float64},      {12, uint32},
      {13, uint64},     {16, bfloat16},       {17, float8e4m3fn}, {18, float8e4m3fnuz},
      {19, float8e5m2}, {20, float8e5m2fnuz}, {21, uint4},        {22, int4},
      {23, float4e2m1}, {24, float8e8m0},     {25, uint2},        {26, int2}};
  for (const auto& [code, type] : table) {
    if (code == number) return type;
  }
  return std::nullopt;
}

std::int64_t fetches_broadcast(const Shape& operand, const Shape& out) {
  std::size_t end = operand.size();
  while (end > 0 && operand[end - 1] == 1) --end;
  if (end == 0) return 1;
  return count_between(out, 0, out.size() - operand.size() + end);
}

Work elementwise_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Shape& out = outputs[0].shape;
  Work work;
  work.row_length = work.write_elements = element_count(out);
  for (const Operand* operand : use.inputs) {
    work.read_elements.push_back(operand == nullptr ? 0 : fetches_broadcast(operand->shape, out));
  }
  return work;
}

namespace {

std::int64_t elements_of(std::span<const Operand> operands) {
  std::int64_t elements = 0;
  for (const Operand& operand : operands) elements += element_count(operand.shape);
  return elements;
}

std::vector<std::int64_t> fetched_once(const OperatorUse& use) {
  std::vector<std::int64_t> fetched;
  for (const Operand* operand : use.inputs)
    fetched.push_back(operand == nullptr ? 0 : element_count(operand->shape));
  return fetched;
}

}  // namespace

Work copy_work(const OperatorUse& use, std::span<const Operand> outputs) {
  return vector_work(use, outputs, elements_of(outputs), fetched_once(use));
}

Work vector_work(const OperatorUse& use, std::span<const Operand> outputs, std::int64_t elements,
                 std::vector<std::int64_t> fetched) {
  fetched.resize(use.inputs.size());
  return {.row_length = elements, .read_elements = std::move(fetched), .write_elements = elements_of(outputs)};
}

Work first_input_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const std::int64_t elements = element_count(input(use, 0).shape);
  return vector_work(use, outputs, elements, {elements});
}

Work filling_work(const OperatorUse& use, std::span<const Operand> outputs) {
  return vector_work(use, outputs, element_count(outputs[0].shape), {});
}

Work row_work(const OperatorUse& use, Family family, std::int64_t rows, std::int64_t row_length,
              std::int64_t passes) {
  Work work{.family = family, .rows = rows, .row_length = row_length, .passes = passes};
  work.read_elements = fetched_once(use);
  work.write_elements = work.read_elements[0];
  work.read_elements[0] *= passes;
  return work;
}

Work view_work(const OperatorUse& use, std::span<const Operand>) {
  Work work;
  work.family = Family::view;
  work.rows = work.row_length = work.passes = 0;
  work.read_elements.assign(use.inputs.size(), 0);
  return work;
}

Work constant_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = view_work(use, outputs);
  work.family = Family::constant;
  return work;
}

}  // namespace sdip
