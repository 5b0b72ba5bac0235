// The table of operators that models are drawn from: a row says types, and how a node is drawn.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "tests/generate/making.h"

namespace sdip::generate {

/// A row. `types`: those drawn; of an opset up to 17 only those that ONNX's schema allows of input `typed` (-1:
/// any, as of what ONNX has no schema for). `make` adds the node of that type and whatever it needs.
struct Row {
  const char* domain;
  const char* type;
  std::span<const ElementType> types;
  std::vector<int> (*make)(Making& m, const Row& row, ElementType type);
  int typed = 0;
  std::int64_t last_opset = 99;  // behind which the operator is gone
  std::int64_t first_opset = 0;  // of what is several nodes; of one its own is known
};

using List = std::initializer_list<ElementType>;
inline constexpr ElementType floats[] = {ElementType::float32, ElementType::float16, ElementType::float64,
                                         ElementType::bfloat16};
inline constexpr ElementType common_floats[] = {ElementType::float32, ElementType::float16, ElementType::float64};
inline constexpr ElementType half_floats[] = {ElementType::float32, ElementType::float16};
inline constexpr ElementType single[] = {ElementType::float32};
inline constexpr ElementType integers[] = {ElementType::int64,  ElementType::int32,  ElementType::int16,
                                           ElementType::int8,   ElementType::uint64, ElementType::uint32,
                                           ElementType::uint16, ElementType::uint8};
inline constexpr ElementType signed_numbers[] = {ElementType::float32,  ElementType::float16, ElementType::float64,
                                                 ElementType::bfloat16, ElementType::int64,   ElementType::int32,
                                                 ElementType::int16,    ElementType::int8};
inline constexpr ElementType unsigned_integers[] = {ElementType::uint64, ElementType::uint32, ElementType::uint16,
                                                    ElementType::uint8};
inline constexpr ElementType numbers[] = {ElementType::float32,  ElementType::float16, ElementType::float64,
                                          ElementType::bfloat16, ElementType::int64,   ElementType::int32,
                                          ElementType::int16,    ElementType::int8,    ElementType::uint64,
                                          ElementType::uint32,   ElementType::uint16,  ElementType::uint8};
inline constexpr ElementType all_types[] = {
    ElementType::float32, ElementType::float16, ElementType::float64, ElementType::bfloat16, ElementType::int64,
    ElementType::int32,   ElementType::int16,   ElementType::int8,    ElementType::uint64,   ElementType::uint32,
    ElementType::uint16,  ElementType::uint8,   ElementType::boolean};
inline constexpr ElementType booleans[] = {ElementType::boolean};
inline constexpr ElementType bytes_types[] = {ElementType::int8, ElementType::uint8};
inline constexpr ElementType index_types[] = {ElementType::int64, ElementType::int32};

/// The rows of each family, one file each.
std::span<const Row> elementwise_rows();
std::span<const Row> product_rows();
std::span<const Row> window_rows();
std::span<const Row> shape_rows();
std::span<const Row> choice_rows();
std::span<const Row> reduction_rows();
std::span<const Row> quantized_rows();
std::span<const Row> contrib_rows();
std::span<const Row> state_rows();
std::span<const Row> control_rows();

/// A row and one of its types.
struct Choice {
  const Row* row;
  ElementType type;
};

/// All that a model of this opset may draw.
const std::vector<Choice>& choices_of(std::int64_t opset);
/// All of any opset: "Conv float32".
std::vector<std::string> all_choices();
std::string choice_text(const Row& row, ElementType type);
/// Whether nodes draw bodies of their own.
bool has_body(const Row& row);

/// Draws a node of the table that the model may have, and counts it. Throws Refused.
void add_drawn_node(Making& m);
/// That node, which is counted once it is there.
void add_node_of(Making& m, const Choice& choice);

/// What is drawn anyhow, and opsets that have it.
struct Turn {
  Choice choice;
  std::vector<std::int64_t> opsets;
};
/// Turn of the table, in a shuffled order, over and over: of so many models each row comes as often with each type.
const Turn& turn_of(std::uint64_t number);
std::uint64_t turn_count();

// What rows share.

/// The row's node.
std::vector<int> put(Making& m, const Row& row, const std::vector<int>& inputs,
                     const AttributeList& attributes = {}, int outputs = 1, const std::vector<bool>& unused = {});
/// An axis of that many, from the front or the back.
std::int64_t axis_of(Making& m, std::int64_t rank);
/// With probability one half.
bool maybe(Making& m);

}  // namespace sdip::generate
