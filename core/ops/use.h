// The parts that shape rules and work rules share: operands and attributes of a use, checked, and the commonest
// shapes of work.
#pragma once

#include <string>
#include <vector>

#include "core/ops/operator.h"

namespace sdip {

/// Throws Error(code, node, "node 'n' (Type): " + what).
[[noreturn]] void refuse(const OperatorUse& use, const char* code, const std::string& what);

/// Input `i`, which must be there.
const Operand& input(const OperatorUse& use, std::size_t i);
/// Input `i`, or nullptr when it is absent.
const Operand* optional_input(const OperatorUse& use, std::size_t i);
/// The integers of input `i`. Throws shape_unknown when they are not known at import.
std::vector<std::int64_t> ints_of_input(const OperatorUse& use, std::size_t i);

/// Integers, boolean not among them.
bool is_integer(ElementType type);
/// Floats and integers.
bool is_number(ElementType type);
bool is_boolean(ElementType type);
/// Throws shape_mismatch (unsupported_type for strings) when input `i` is there and `allowed` does not take its
/// type; `expected` names those it takes, as "a float".
void require_type(const OperatorUse& use, std::size_t i, bool (*allowed)(ElementType), const char* expected);
/// The output that has the first input's type and shape.
Operand like_first(const OperatorUse& use);
/// What infers an output like the first input, which must be a float, or a number.
std::vector<Operand> infer_float(const OperatorUse& use);
std::vector<Operand> infer_number(const OperatorUse& use);
/// Throws shape_mismatch: "`what` of different types, int8 and int32".
void require_same_type(const OperatorUse& use, const Operand& a, const Operand& b, const char* what);
/// Throws shape_mismatch unless input `i` is absent or of shape `shape`.
void require_shape(const OperatorUse& use, std::size_t i, const Shape& shape);
/// Throws shape_mismatch unless input `i` is absent or of `count` floats.
void require_floats(const OperatorUse& use, std::size_t i, std::int64_t count);
/// Throws limit_exceeded when a result looks at more than 2^16 elements for each one that is stored: no sane model
/// does, and a hostile one must not keep us busy. Requires counts of at least 0.
void require_bounded(const OperatorUse& use, double operations, std::int64_t stored_elements);
/// An operand of which type and shape are known.
Operand typed(ElementType type, Shape shape);

/// Attributes by name, or `otherwise` when absent. Throw unsupported_attribute when of another type, or when one is
/// required and absent.
bool has_attribute(const OperatorUse& use, std::string_view name);
void require_attribute(const OperatorUse& use, std::string_view name);
std::int64_t int_attribute(const OperatorUse& use, std::string_view name, std::int64_t otherwise);
double float_attribute(const OperatorUse& use, std::string_view name, double otherwise);
std::string string_attribute(const OperatorUse& use, std::string_view name, std::string_view otherwise);
std::vector<std::int64_t> ints_attribute(const OperatorUse& use, std::string_view name,
                                         std::vector<std::int64_t> otherwise);
std::vector<double> floats_attribute(const OperatorUse& use, std::string_view name, std::vector<double> otherwise);
std::vector<std::string> strings_attribute(const OperatorUse& use, std::string_view name,
                                           std::vector<std::string> otherwise);
/// Any text but these is refused, with a list of them.
std::string choice_attribute(const OperatorUse& use, std::string_view name, std::string_view otherwise,
                             std::initializer_list<std::string_view> choices);
/// The same, refused without a list: "mode 'cubist' is not known".
std::string known_attribute(const OperatorUse& use, std::string_view name, std::string_view otherwise,
                            std::initializer_list<std::string_view> known);

/// `axis` counted from the front. Throws shape_mismatch outside [-rank, rank).
std::size_t axis_within(const OperatorUse& use, std::int64_t axis, std::size_t rank);
/// Axes counted from the front, in ascending order. Throws as above, and when one stands twice.
/// Attribute `axis` of the first input.
std::size_t axis_attribute(const OperatorUse& use, std::int64_t otherwise);
std::vector<std::size_t> axes_within(const OperatorUse& use, const std::vector<std::int64_t>& axes,
                                     std::size_t rank);

/// `index` into an axis of `size` elements, counted from the front. Throws shape_mismatch outside [-size, size).
std::int64_t index_within(const OperatorUse& use, std::int64_t index, std::int64_t size);

/// The element type that attribute `name` gives by ONNX's number, or `otherwise` when absent. Throws
/// unsupported_attribute for a type not known here, and for strings.
ElementType type_attribute(const OperatorUse& use, std::string_view name, ElementType otherwise);

/// Product of sizes [from, to).
std::int64_t count_between(const Shape& shape, std::size_t from, std::size_t to);

/// Numpy's broadcast of two shapes. Throws shape_mismatch.
Shape broadcast(const OperatorUse& use, const Shape& a, const Shape& b);

/// By ONNX's number of the type (TensorProto.DataType), or nothing for one not known here.
std::optional<ElementType> element_type_of_onnx(std::int64_t number);

/// How often elements of an operand are fetched when it is broadcast to `out`: one register holds an element while
/// the trailing sizes it does not have pass by. [320,1,1] into [2,320,64,64]: 640; [320] into [2,77,320]: all
/// 49,280; a scalar: 1.
std::int64_t fetches_broadcast(const Shape& operand, const Shape& out);

/// One pass over the first output; each input is fetched as `fetches_broadcast` says.
Work elementwise_work(const OperatorUse& use, std::span<const Operand> outputs);
/// One pass that fetches each input's elements once and writes each output's once.
Work copy_work(const OperatorUse& use, std::span<const Operand> outputs);
Work view_work(const OperatorUse& use, std::span<const Operand> outputs);
Work constant_work(const OperatorUse& use, std::span<const Operand> outputs);

/// One pass of so many elements that writes all outputs, and fetches of each input what `fetched` says, nothing of
/// those that it leaves out.
Work vector_work(const OperatorUse& use, std::span<const Operand> outputs, std::int64_t elements,
                 std::vector<std::int64_t> fetched);
/// One pass over the first input alone.
Work first_input_work(const OperatorUse& use, std::span<const Operand> outputs);
/// One pass over the first output, which needs no input's elements.
Work filling_work(const OperatorUse& use, std::span<const Operand> outputs);
/// Passes over the rows of the first input, which each pass fetches; the other inputs are fetched once.
Work row_work(const OperatorUse& use, Family family, std::int64_t rows, std::int64_t row_length,
              std::int64_t passes);

}  // namespace sdip
