// The fields of ONNX's messages that are read, as protobuf's wire format numbers them. Internal to its room.
#pragma once

#include <cstdint>

namespace sdip {

/// Messages whose inside is walked; `other` is dropped whole.
enum class Message : std::uint8_t {
  model,
  graph,
  node,
  attribute,
  tensor,
  value_info,
  type,
  tensor_type,
  shape,
  dimension,
  function,
  opset,
  entry,
  other
};

/// The kind of value that a field holds. The plural forms may stand more than once, numbers also packed; of the
/// others a second one would silently replace or extend the first, and is refused. `data` are the elements of a
/// tensor.
enum class Holds : std::uint8_t {
  number,
  numbers,
  real,
  reals,
  bytes,
  byte_strings,
  text,
  texts,
  message,
  messages,
  data,
  refused
};

/// Wire types of protobuf (https://protobuf.dev/programming-guides/encoding/).
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

struct Field {
  Message of;
  int number;
  Holds holds;
  Message inside = Message::other;
  Wire element = Wire::delimited;  // of data that is not packed
};

/// The field, or nullptr for one that is not read.
const Field* find_field(Message of, int number);

}  // namespace sdip
