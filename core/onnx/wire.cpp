// A bounded walk over a model's protobuf wire format: checks it, and leaves out what is large or not needed.
#include "core/onnx/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/onnx/fields.h"
#include "core/onnx/utf8.h"

namespace sdip {
namespace {

using google::protobuf::io::CodedInputStream;
using WireLite = google::protobuf::internal::WireFormatLite;

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
  std::int64_t nodes = 0, tensors = 0, messages = 0, names = 0, kept_bytes = 0;
};

[[noreturn]] void fail_in(const Walk& walk, const char* code, const std::string& what) {
  const std::string at = std::to_string(walk.in.CurrentPosition());
  throw Error(code, walk.options.label, fmt::format("{}, byte {}: {}", walk.options.label, at, what));
}

[[noreturn]] void fail_short(const Walk& walk) { fail_in(walk, "truncated", "the file ends inside a field"); }

void count(const Walk& walk, std::int64_t counted, std::int64_t most, const char* what) {
  if (counted > most) fail_in(walk, "limit_exceeded", fmt::format("more than {} {}", most, what));
}

/// The length of a field that follows, checked against the message that holds it.
int length_within(Walk& walk, int limit) {
  std::uint32_t length = 0;
  if (!walk.in.ReadVarint32(&length)) fail_short(walk);
  const std::int64_t room = limit - walk.in.CurrentPosition();
  if (static_cast<std::int64_t>(length) <= room) return static_cast<int>(length);
  if (static_cast<std::int64_t>(length) > walk.end - walk.in.CurrentPosition()) fail_short(walk);
  fail_in(walk, "not_onnx", "a field is longer than the message that holds it");
}

/// Skips the value of a field. Returns where it starts, its length prefix left out.
int skip_value(Walk& walk, std::uint32_t tag, int limit) {
  int start = walk.in.CurrentPosition();
  bool whole = true;
  std::uint64_t ignored = 0;
  std::uint32_t ignored_word = 0;
  switch (WireLite::GetTagWireType(tag)) {
    case WireLite::WIRETYPE_VARINT:
      whole = walk.in.ReadVarint64(&ignored);
      break;
    case WireLite::WIRETYPE_FIXED64:
      whole = walk.in.ReadLittleEndian64(&ignored);
      break;
    case WireLite::WIRETYPE_FIXED32:
      whole = walk.in.ReadLittleEndian32(&ignored_word);
      break;
    case WireLite::WIRETYPE_LENGTH_DELIMITED: {
      const int length = length_within(walk, limit);
      start = walk.in.CurrentPosition();
      whole = walk.in.Skip(length);
      break;
    }
    default:
      fail_in(walk, "not_onnx", "this is not an ONNX model: a protobuf group or an unknown wire type");
  }
  if (!whole) fail_short(walk);
  if (walk.in.CurrentPosition() > limit)
    fail_in(walk, "not_onnx", "a field is longer than the message that holds it");
  return start;
}

void check_text(Walk& walk, std::string_view text) {
  count(walk, ++walk.names, walk.options.most_names, "names");
  if (static_cast<std::int64_t>(text.size()) > walk.options.most_name_bytes) {
    fail_in(walk, "limit_exceeded",
            fmt::format("a name of {} bytes, at most {} are accepted", text.size(), walk.options.most_name_bytes));
  }
  for (char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20 || code == 0x7f) {
      fail_in(walk, "invalid_graph", "a name has the control character " + std::to_string(code));
    }
  }
  if (!is_utf8(text)) fail_in(walk, "not_onnx", "a name is not valid UTF-8");
}

void count_message(Walk& walk, Message inside, int depth) {
  if (depth > walk.options.most_nesting) {
    fail_in(walk, "limit_exceeded", "messages are nested deeper than " + std::to_string(walk.options.most_nesting));
  }
  count(walk, ++walk.messages, walk.options.most_messages, "messages");
  if (inside == Message::node) count(walk, ++walk.nodes, walk.options.most_nodes, "nodes");
  if (inside == Message::tensor) count(walk, ++walk.tensors, walk.options.most_tensors, "tensors");
}

/// The wire type that a field's values have when they are not packed.
Wire wire_of(const Field& field) {
  if (field.holds == Holds::number || field.holds == Holds::numbers) return Wire::varint;
  if (field.holds == Holds::real || field.holds == Holds::reals) return Wire::fixed32;
  return field.holds == Holds::data ? field.element : Wire::delimited;
}

bool is_plural(Holds holds) {
  return holds == Holds::numbers || holds == Holds::reals || holds == Holds::byte_strings ||
         holds == Holds::texts || holds == Holds::messages;
}

void check_wire(const Walk& walk, const Field& field, std::uint32_t tag) {
  const auto found = static_cast<Wire>(WireLite::GetTagWireType(tag)), wanted = wire_of(field);
  const bool packable = field.holds == Holds::numbers || field.holds == Holds::reals || field.holds == Holds::data;
  if (found == wanted || (packable && found == Wire::delimited)) return;
  fail_in(walk, "not_onnx",
          fmt::format("this is not an ONNX model: field {} has another wire type than it should", field.number));
}

/// Packed elements are whole: varints end, and fixed ones fill the length. Long data are not touched: their pages
/// stay unread.
void check_packed(const Walk& walk, const Field& field, std::uint32_t tag, std::string_view packed) {
  if (WireLite::GetTagWireType(tag) != WireLite::WIRETYPE_LENGTH_DELIMITED) return;
  const Wire element = wire_of(field);
  bool whole = true;
  if (element == Wire::fixed32) whole = packed.size() % 4 == 0;
  if (element == Wire::fixed64) whole = packed.size() % 8 == 0;
  const bool read = field.holds != Holds::data || std::ssize(packed) <= most_kept_tensor_bytes;
  if (element == Wire::varint && read) {
    int length = 0;  // of the varint so far
    for (char letter : packed) {
      length = (static_cast<unsigned char>(letter) & 0x80) != 0 ? length + 1 : 0;
      whole = whole && length < 10;
    }
    whole = whole && length == 0;
  }
  if (!whole) {
    fail_in(walk, "truncated", fmt::format("field {} is packed and ends inside an element", field.number));
  }
}

/// Where the data of the tensor being walked lie, and the fields themselves in case they are kept.
struct TensorData {
  int begin = std::numeric_limits<int>::max(), end = 0;
  std::int64_t bytes = 0;
  int number = 0;  // of the field they stand in
  std::string kept;
};

/// A message being walked: what has been seen of it.
struct Holder {
  Message of;
  std::uint64_t seen = 0;  // numbers of fields that may stand once
  std::int64_t attributes = 0, list_bytes = 0;
  TensorData data;
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
  if (data.bytes <= most_kept_tensor_bytes) {
    out += data.kept;
  } else if (data.number == 9) {
    out.append("\x4a\x00", 2);  // raw_data of no bytes
  }
}

void note_data(const Walk& walk, Holder& holder, int number, int tag_at, int begin, int end) {
  TensorData& data = holder.data;
  if (data.number != 0 && (data.number != number || number == 9)) {
    fail_in(walk, "invalid_graph", "a tensor has its data in two fields, or raw data twice");
  }
  data.number = number;
  data.begin = std::min(data.begin, begin);
  data.end = std::max(data.end, end);
  data.bytes += end - begin;
  if (data.bytes <= most_kept_tensor_bytes) data.kept.append(walk.start + tag_at, walk.start + end);
}

/// Lists inside one message: sizes of a tensor, values of an attribute.
void count_list(const Walk& walk, Holder& holder, const Field& field, int bytes) {
  if (field.holds == Holds::message || field.holds == Holds::messages || field.holds == Holds::data) return;
  if (holder.of == Message::attribute || field.holds == Holds::numbers) holder.list_bytes += bytes;
  if (holder.of == Message::attribute && holder.list_bytes > walk.options.most_attribute_bytes) {
    fail_in(walk, "limit_exceeded",
            fmt::format("an attribute of more than {} bytes", walk.options.most_attribute_bytes));
  }
  const std::int64_t most_sizes = 11 * (walk.options.most_rank + 8);  // a tag, and a varint of at most 10 bytes
  if (holder.of == Message::tensor && field.holds == Holds::numbers && holder.list_bytes > most_sizes) {
    fail_in(walk, "limit_exceeded", fmt::format("a tensor of more than {} dimensions", walk.options.most_rank));
  }
}

void check_once(const Walk& walk, Holder& holder, const Field& field) {
  if (is_plural(field.holds) || field.holds == Holds::data) return;
  if ((holder.seen >> field.number & 1) != 0) {
    fail_in(walk, "not_onnx", fmt::format("field {} stands twice, but may stand once", field.number));
  }
  holder.seen |= std::uint64_t{1} << field.number;
}

void walk_message(Walk& walk, Message message, int limit, int depth, std::string& out);

/// A message in a message: walked, and written again with its new length.
void walk_inside(Walk& walk, Holder& holder, const Field& field, std::uint32_t tag, int limit, int depth,
                 std::string& out) {
  const int length = length_within(walk, limit);
  count_message(walk, field.inside, depth + 1);
  if (field.inside == Message::attribute) {
    count(walk, ++holder.attributes, walk.options.most_attributes, "attributes of one node");
  }
  std::string inside;
  walk_message(walk, field.inside, walk.in.CurrentPosition() + length, depth + 1, inside);
  append_varint(out, tag);
  append_varint(out, inside.size());
  out += inside;
}

/// A field without a message in it.
void walk_plain(Walk& walk, Holder& holder, const Field& field, std::uint32_t tag, int tag_at, int limit,
                std::string& out) {
  const int begin = skip_value(walk, tag, limit), end = walk.in.CurrentPosition();
  const std::string_view value(walk.start + begin, as_size(end - begin));
  if (field.holds == Holds::text || field.holds == Holds::texts) check_text(walk, value);
  if (field.holds == Holds::byte_strings) count(walk, ++walk.names, walk.options.most_names, "strings");
  check_packed(walk, field, tag, value);
  count_list(walk, holder, field, end - tag_at);
  if (field.holds == Holds::data) {
    note_data(walk, holder, field.number, tag_at, begin, end);
    return;
  }
  walk.kept_bytes += end - tag_at;
  count(walk, walk.kept_bytes, walk.options.most_structure_bytes, "bytes of structure");
  out.append(walk.start + tag_at, walk.start + end);
}

/// Walks the fields of a message that ends at `limit`, appending to `out` what is kept.
void walk_message(Walk& walk, Message message, int limit, int depth, std::string& out) {
  Holder holder{message, 0, 0, 0, {}};
  while (walk.in.CurrentPosition() < limit) {
    const int tag_at = walk.in.CurrentPosition();
    std::uint32_t tag = 0;
    if (!walk.in.ReadVarint32(&tag))
      fail_in(walk, "truncated", "the file ends inside a field, or is not an ONNX model");
    const int number = WireLite::GetTagFieldNumber(tag);
    if (number == 0) fail_in(walk, "not_onnx", "this is not an ONNX model: a field has number 0");
    const Field* field = find_field(message, number);
    if (field == nullptr) {
      skip_value(walk, tag, limit);
      continue;
    }
    if (field->holds == Holds::refused)
      fail_in(walk, "not_onnx", "sparse initializers and tensor segments are not supported");
    check_wire(walk, *field, tag);
    check_once(walk, holder, *field);
    if (field->inside != Message::other) {
      walk_inside(walk, holder, *field, tag, limit, depth, out);
    } else {
      walk_plain(walk, holder, *field, tag, tag_at, limit, out);
    }
  }
  append_data(out, holder.data);
}

}  // namespace

std::string slim_model(std::span<const std::byte> bytes, const ImportOptions& options) {
  if (bytes.empty()) throw Error("not_onnx", options.label, options.label + ": the file is empty");
  if (bytes.size() > as_size(std::numeric_limits<int>::max()) - 1) {
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
