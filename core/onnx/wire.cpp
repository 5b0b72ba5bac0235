// A bounded walk over a model's protobuf wire format: checks it, and leaves out what is large or not needed.
#include "core/onnx/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/onnx/utf8.h"

namespace sdip {
namespace {

using google::protobuf::io::CodedInputStream;
using Wire = google::protobuf::internal::WireFormatLite;

/// Messages whose inside is walked. `leaf` messages are kept whole, but their structure is checked, unknown as it
/// is.
enum class Message { model, graph, node, attribute, tensor, value_info, type, tensor_type, shape, dimension, leaf };

/// What becomes of a field: text is a name or another short string; data are the elements of a tensor.
enum class Fate { keep, drop, refuse, text, data, message };

struct Field {
  Message of;
  int number;
  Fate fate;
  Message inside = Message::leaf;
  bool once = false;  // a second one would be merged with the first: refused
};

// Numbers as in onnx.proto, IR version 8. A field that does not stand here is dropped.
constexpr Field fields[] = {
    {Message::model, 1, Fate::keep},  // ir_version
    {Message::model, 2, Fate::text},  // producer_name
    {Message::model, 3, Fate::text},  // producer_version
    {Message::model, 7, Fate::message, Message::graph, true},
    {Message::model, 8, Fate::message, Message::leaf},  // opset_import
    {Message::graph, 1, Fate::message, Message::node},
    {Message::graph, 2, Fate::text},                           // name
    {Message::graph, 5, Fate::message, Message::tensor},       // initializer
    {Message::graph, 11, Fate::message, Message::value_info},  // input
    {Message::graph, 12, Fate::message, Message::value_info},  // output
    {Message::graph, 15, Fate::refuse},                        // sparse_initializer
    {Message::node, 1, Fate::text},                            // input
    {Message::node, 2, Fate::text},                            // output
    {Message::node, 3, Fate::text},                            // name
    {Message::node, 4, Fate::text},                            // op_type
    {Message::node, 5, Fate::message, Message::attribute},
    {Message::node, 7, Fate::text},       // domain
    {Message::attribute, 1, Fate::text},  // name
    {Message::attribute, 2, Fate::keep},  // f
    {Message::attribute, 3, Fate::keep},  // i
    {Message::attribute, 4, Fate::keep},  // s
    {Message::attribute, 5, Fate::message, Message::tensor, true},
    {Message::attribute, 7, Fate::keep},                  // floats
    {Message::attribute, 8, Fate::keep},                  // ints
    {Message::attribute, 9, Fate::keep},                  // strings
    {Message::attribute, 20, Fate::keep},                 // type
    {Message::attribute, 21, Fate::text},                 // ref_attr_name
    {Message::tensor, 1, Fate::keep},                     // dims
    {Message::tensor, 2, Fate::keep},                     // data_type
    {Message::tensor, 3, Fate::refuse},                   // segment
    {Message::tensor, 4, Fate::data},                     // float_data
    {Message::tensor, 5, Fate::data},                     // int32_data
    {Message::tensor, 6, Fate::data},                     // string_data
    {Message::tensor, 7, Fate::data},                     // int64_data
    {Message::tensor, 8, Fate::text},                     // name
    {Message::tensor, 9, Fate::data},                     // raw_data
    {Message::tensor, 10, Fate::data},                    // double_data
    {Message::tensor, 11, Fate::data},                    // uint64_data
    {Message::tensor, 13, Fate::message, Message::leaf},  // external_data
    {Message::tensor, 14, Fate::keep},                    // data_location
    {Message::value_info, 1, Fate::text},                 // name
    {Message::value_info, 2, Fate::message, Message::type, true},
    {Message::type, 1, Fate::message, Message::tensor_type, true},
    {Message::tensor_type, 1, Fate::keep},  // elem_type
    {Message::tensor_type, 2, Fate::message, Message::shape, true},
    {Message::shape, 1, Fate::message, Message::dimension},
    {Message::dimension, 1, Fate::keep},  // dim_value
    {Message::dimension, 2, Fate::text},  // dim_param
    {Message::leaf, 1, Fate::text},       // domain, key
    {Message::leaf, 2, Fate::keep},       // version, value
};

const Field* find_field(Message of, int number) {
  for (const Field& field : fields) {
    if (field.of == of && field.number == number) return &field;
  }
  return nullptr;
}

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(static_cast<unsigned char>(value | 0x80));
    value >>= 7;
  }
  out += static_cast<char>(value);
}

/// The walk: where it is, and what it has counted.
struct Walk {
  CodedInputStream& in;
  const char* start;
  int end;
  const ImportOptions& options;
  std::int64_t nodes = 0, tensors = 0;
};

[[noreturn]] void fail(const Walk& walk, const char* code, const std::string& what) {
  const std::string at = std::to_string(walk.in.CurrentPosition());
  throw Error(code, walk.options.label, walk.options.label + ", byte " + at + ": " + what);
}

[[noreturn]] void fail_short(const Walk& walk) { fail(walk, "truncated", "the file ends inside a field"); }

/// The length of a field that follows, checked against the message that holds it.
int length_within(Walk& walk, int limit) {
  std::uint32_t length = 0;
  if (!walk.in.ReadVarint32(&length)) fail_short(walk);
  const std::int64_t room = limit - walk.in.CurrentPosition();
  if (static_cast<std::int64_t>(length) <= room) return static_cast<int>(length);
  if (static_cast<std::int64_t>(length) > walk.end - walk.in.CurrentPosition()) fail_short(walk);
  fail(walk, "not_onnx", "a field is longer than the message that holds it");
}

/// Skips the value of a field. Returns where it starts, its length prefix left out.
int skip_value(Walk& walk, std::uint32_t tag, int limit) {
  int start = walk.in.CurrentPosition();
  bool whole = true;
  std::uint64_t ignored = 0;
  std::uint32_t ignored_word = 0;
  switch (Wire::GetTagWireType(tag)) {
    case Wire::WIRETYPE_VARINT:
      whole = walk.in.ReadVarint64(&ignored);
      break;
    case Wire::WIRETYPE_FIXED64:
      whole = walk.in.ReadLittleEndian64(&ignored);
      break;
    case Wire::WIRETYPE_FIXED32:
      whole = walk.in.ReadLittleEndian32(&ignored_word);
      break;
    case Wire::WIRETYPE_LENGTH_DELIMITED: {
      const int length = length_within(walk, limit);
      start = walk.in.CurrentPosition();
      whole = walk.in.Skip(length);
      break;
    }
    default:
      fail(walk, "not_onnx", "this is not an ONNX model: a protobuf group or an unknown wire type");
  }
  if (!whole) fail_short(walk);
  if (walk.in.CurrentPosition() > limit) fail(walk, "not_onnx", "a field is longer than the message that holds it");
  return start;
}

void check_text(const Walk& walk, std::string_view text) {
  if (static_cast<std::int64_t>(text.size()) > walk.options.most_name_bytes) {
    fail(walk, "limit_exceeded",
         "a name of " + std::to_string(text.size()) + " bytes, at most " +
             std::to_string(walk.options.most_name_bytes) + " are accepted");
  }
  if (!is_utf8(text)) fail(walk, "not_onnx", "a name is not valid UTF-8");
}

void count_message(Walk& walk, Message inside, int depth) {
  if (depth > walk.options.most_nesting) {
    fail(walk, "limit_exceeded", "messages are nested deeper than " + std::to_string(walk.options.most_nesting));
  }
  if (inside == Message::node && ++walk.nodes > walk.options.most_nodes) {
    fail(walk, "limit_exceeded", "more than " + std::to_string(walk.options.most_nodes) + " nodes");
  }
  if (inside == Message::tensor && ++walk.tensors > walk.options.most_tensors) {
    fail(walk, "limit_exceeded", "more than " + std::to_string(walk.options.most_tensors) + " tensors");
  }
}

/// Where the data of the tensor being walked lie, and the fields themselves in case they are kept.
struct TensorData {
  int begin = std::numeric_limits<int>::max(), end = 0;
  std::int64_t bytes = 0;
  std::string kept;
};

void append_data(std::string& out, const TensorData& data) {
  if (data.bytes == 0) return;
  std::string segment;  // TensorProto.Segment { begin = 1; end = 2 }
  segment += '\x08';
  append_varint(segment, static_cast<std::uint64_t>(data.begin));
  segment += '\x10';
  append_varint(segment, static_cast<std::uint64_t>(data.end));
  out += '\x1a';  // field 3, length-delimited
  append_varint(out, segment.size());
  out += segment;
  if (data.bytes <= most_kept_tensor_bytes) out += data.kept;
}

void require_delimited(const Walk& walk, std::uint32_t tag) {
  if (Wire::GetTagWireType(tag) != Wire::WIRETYPE_LENGTH_DELIMITED) {
    fail(walk, "not_onnx",
         "this is not an ONNX model: field " + std::to_string(Wire::GetTagFieldNumber(tag)) +
             " has another wire type than it should");
  }
}

void note_data(const Walk& walk, TensorData& data, int tag_at, int begin, int end) {
  data.begin = std::min(data.begin, begin);
  data.end = std::max(data.end, end);
  data.bytes += end - begin;
  if (data.bytes <= most_kept_tensor_bytes) data.kept.append(walk.start + tag_at, walk.start + end);
}

/// Walks the fields of a message that ends at `limit`, appending to `out` what is kept.
void walk_message(Walk& walk, Message message, int limit, int depth, std::string& out) {
  TensorData data;
  std::uint64_t seen = 0;  // fields that may stand once, by number
  while (walk.in.CurrentPosition() < limit) {
    const int tag_at = walk.in.CurrentPosition();
    std::uint32_t tag = 0;
    if (!walk.in.ReadVarint32(&tag))
      fail(walk, "truncated", "the file ends inside a field, or is not an ONNX model");
    const int number = Wire::GetTagFieldNumber(tag);
    if (number == 0) fail(walk, "not_onnx", "this is not an ONNX model: a field has number 0");
    const Field* field = find_field(message, number);
    const Fate fate = field == nullptr ? Fate::drop : field->fate;
    if (fate == Fate::refuse) fail(walk, "not_onnx", "sparse initializers and tensor segments are not supported");
    if (fate == Fate::message) {
      require_delimited(walk, tag);
      if (field->once && (seen >> number & 1) != 0)
        fail(walk, "not_onnx", "a field stands twice that may stand once");
      seen |= std::uint64_t{1} << number;
      const int length = length_within(walk, limit);
      count_message(walk, field->inside, depth + 1);
      std::string inside;
      walk_message(walk, field->inside, walk.in.CurrentPosition() + length, depth + 1, inside);
      append_varint(out, tag);
      append_varint(out, inside.size());
      out += inside;
      continue;
    }
    if (fate == Fate::text) require_delimited(walk, tag);
    const int begin = skip_value(walk, tag, limit);
    const int end = walk.in.CurrentPosition();
    if (fate == Fate::text) check_text(walk, {walk.start + begin, static_cast<std::size_t>(end - begin)});
    if (fate == Fate::data) note_data(walk, data, tag_at, begin, end);
    if (fate == Fate::keep || fate == Fate::text) out.append(walk.start + tag_at, walk.start + end);
  }
  append_data(out, data);
}

}  // namespace

std::string slim_model(std::span<const std::byte> bytes, const ImportOptions& options) {
  if (bytes.empty()) throw Error("not_onnx", options.label, options.label + ": the file is empty");
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) - 1) {
    throw Error("limit_exceeded", options.label,
                options.label +
                    ": models above 2 GiB are not read; keep the weights "
                    "in external files, which are not needed here");
  }
  const int size = static_cast<int>(bytes.size());
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()), size);
  in.SetTotalBytesLimit(std::numeric_limits<int>::max());
  Walk walk{in, reinterpret_cast<const char*>(bytes.data()), size, options};
  std::string out;
  walk_message(walk, Message::model, size, 0, out);
  return out;
}

}  // namespace sdip
