// The fields of ONNX's messages that are read.
#include "core/onnx/fields.h"

#include <array>
#include <cstddef>

#include "core/base/index.h"

namespace sdip {
namespace {

// Numbers as in onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, IR version 13): overloads of
// functions are newer than the messages this is built with, which keep them as unknown fields.
constexpr Field known_fields[] = {
    {Message::model, 1, Holds::number},  // ir_version
    {Message::model, 2, Holds::text},    // producer_name
    {Message::model, 3, Holds::text},    // producer_version
    {Message::model, 7, Holds::message, Message::graph},
    {Message::model, 8, Holds::messages, Message::opset},
    {Message::model, 25, Holds::messages, Message::function},
    {Message::graph, 1, Holds::messages, Message::node},
    {Message::graph, 2, Holds::text},                            // name
    {Message::graph, 5, Holds::messages, Message::tensor},       // initializer
    {Message::graph, 11, Holds::messages, Message::value_info},  // input
    {Message::graph, 12, Holds::messages, Message::value_info},  // output
    {Message::graph, 15, Holds::refused},                        // sparse_initializer
    {Message::node, 1, Holds::texts},                            // input
    {Message::node, 2, Holds::texts},                            // output
    {Message::node, 3, Holds::text},                             // name
    {Message::node, 4, Holds::text},                             // op_type
    {Message::node, 5, Holds::messages, Message::attribute},
    {Message::node, 7, Holds::text},         // domain
    {Message::node, 8, Holds::text},         // overload
    {Message::attribute, 1, Holds::text},    // name
    {Message::attribute, 2, Holds::real},    // f
    {Message::attribute, 3, Holds::number},  // i
    {Message::attribute, 4, Holds::bytes},   // s
    {Message::attribute, 5, Holds::message, Message::tensor},
    {Message::attribute, 6, Holds::message, Message::graph},
    {Message::attribute, 7, Holds::reals},                              // floats
    {Message::attribute, 8, Holds::numbers},                            // ints
    {Message::attribute, 9, Holds::byte_strings},                       // strings
    {Message::attribute, 20, Holds::number},                            // type
    {Message::attribute, 21, Holds::text},                              // ref_attr_name
    {Message::tensor, 1, Holds::numbers},                               // dims
    {Message::tensor, 2, Holds::number},                                // data_type
    {Message::tensor, 3, Holds::refused},                               // segment
    {Message::tensor, 4, Holds::data, Message::other, Wire::fixed32},   // float_data
    {Message::tensor, 5, Holds::data, Message::other, Wire::varint},    // int32_data
    {Message::tensor, 6, Holds::data},                                  // string_data
    {Message::tensor, 7, Holds::data, Message::other, Wire::varint},    // int64_data
    {Message::tensor, 8, Holds::text},                                  // name
    {Message::tensor, 9, Holds::data},                                  // raw_data
    {Message::tensor, 10, Holds::data, Message::other, Wire::fixed64},  // double_data
    {Message::tensor, 11, Holds::data, Message::other, Wire::varint},   // uint64_data
    {Message::tensor, 13, Holds::messages, Message::entry},             // external_data
    {Message::tensor, 14, Holds::number},                               // data_location
    {Message::value_info, 1, Holds::text},                              // name
    {Message::value_info, 2, Holds::message, Message::type},
    {Message::type, 1, Holds::message, Message::tensor_type},
    {Message::tensor_type, 1, Holds::number},  // elem_type
    {Message::tensor_type, 2, Holds::message, Message::shape},
    {Message::shape, 1, Holds::messages, Message::dimension},
    {Message::dimension, 1, Holds::number},  // dim_value
    {Message::dimension, 2, Holds::text},    // dim_param
    {Message::function, 1, Holds::text},     // name
    {Message::function, 4, Holds::texts},    // input
    {Message::function, 5, Holds::texts},    // output
    {Message::function, 6, Holds::texts},    // attribute
    {Message::function, 7, Holds::messages, Message::node},
    {Message::function, 9, Holds::messages, Message::opset},
    {Message::function, 10, Holds::text},                          // domain
    {Message::function, 11, Holds::messages, Message::attribute},  // attribute_proto: those with a default
    {Message::function, 13, Holds::text},                          // overload
    {Message::opset, 1, Holds::text},                              // domain
    {Message::opset, 2, Holds::number},                            // version
    {Message::entry, 1, Holds::text},                              // key
    {Message::entry, 2, Holds::text},                              // value
};

constexpr int most_number = 25;
using Rows = std::array<std::array<std::int8_t, most_number + 1>, at(Message::other) + 1>;

/// Where the row of each message and number stands, or -1.
constexpr Rows rows = [] {
  Rows made{};
  for (auto& row : made) row.fill(-1);
  for (std::size_t i = 0; i < std::size(known_fields); ++i) {
    made[at(known_fields[i].of)][at(known_fields[i].number)] = static_cast<std::int8_t>(i);
  }
  return made;
}();

}  // namespace

const Field* find_field(Message of, int number) {
  if (number < 0 || number > most_number) return nullptr;
  const auto row = rows[at(of)][at(number)];
  return row < 0 ? nullptr : &known_fields[row];
}

}  // namespace sdip
