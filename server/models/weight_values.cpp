// Where the weights of a model's file are read.
#include "server/models/weight_values.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/onnx/raw.h"
#include "core/workload/workload.h"
#include "server/io/external_file.h"
#include "server/io/files.h"
#include "server/io/text.h"

namespace sdip {
namespace {

using ByteSpan = std::span<const std::byte>;

[[noreturn]] void refuse(const char* code, const Value& value, const std::string& why) {
  throw Error(code, printable(value.name), "the weight '" + printable(value.name) + "' " + why);
}

template <class T>
std::vector<float> numbers(ByteSpan bytes) {
  std::vector<float> floats(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < floats.size(); ++i) {
    T x;  // ONNX's raw data are little-endian, as this machine is
    std::memcpy(&x, bytes.data() + i * sizeof(T), sizeof(T));
    floats[i] = static_cast<float>(x);
  }
  return floats;
}

template <NumberFormat format>
std::vector<float> halves(ByteSpan bytes) {
  std::vector<float> floats(bytes.size() / 2);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    std::uint16_t code = 0;
    std::memcpy(&code, bytes.data() + 2 * i, 2);
    floats[i] = decoded(format, code);
  }
  return floats;
}

/// How the elements of a type are read from raw data, and by which tag a message has them packed in a field of
/// their own: the field's number in TensorProto (onnx.proto), wire type 2. 0: there they are varints.
struct TypeRow {
  ElementType type;
  std::vector<float> (*read)(ByteSpan);
  unsigned char packed_tag;
};
constexpr unsigned char raw_tag = 9 << 3 | 2;
constexpr TypeRow types[] = {
    {ElementType::float32, numbers<float>, 4 << 3 | 2},    {ElementType::float64, numbers<double>, 10 << 3 | 2},
    {ElementType::float16, halves<NumberFormat::fp16>, 0}, {ElementType::bfloat16, halves<NumberFormat::bf16>, 0},
    {ElementType::int8, numbers<std::int8_t>, 0},          {ElementType::uint8, numbers<std::uint8_t>, 0},
    {ElementType::int16, numbers<std::int16_t>, 0},        {ElementType::uint16, numbers<std::uint16_t>, 0},
    {ElementType::int32, numbers<std::int32_t>, 0},        {ElementType::uint32, numbers<std::uint32_t>, 0},
    {ElementType::int64, numbers<std::int64_t>, 0},        {ElementType::uint64, numbers<std::uint64_t>, 0},
    {ElementType::boolean, numbers<std::uint8_t>, 0},
};

const TypeRow* type_row(const Value& value) {
  for (const TypeRow& row : types)
    if (row.type == value.operand.type) return &row;
  if (value.operand.type == ElementType::string) refuse("not_modelled", value, "is of strings");
  return nullptr;
}

std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> floats;
  for (const double x : tensor.floats) floats.push_back(static_cast<float>(x));
  for (const std::int64_t x : tensor.ints) floats.push_back(static_cast<float>(x));
  return floats;
}

/// Raw data of any type; those without a row, of 8 and 4 bits, by way of a tensor.
std::vector<float> raw_numbers(const Value& value, ByteSpan bytes) {
  if (const TypeRow* row = type_row(value)) return row->read(bytes);
  return floats_of(tensor_of_raw(value.operand.type, value.operand.shape, text_of(bytes)));
}

ByteSpan part_of(const Value& value, ByteSpan file, std::int64_t length) {
  const std::int64_t offset = value.bytes->offset, size = std::ssize(file);
  if (offset < 0 || offset > size || length > size - offset)
    refuse("weights_absent", value,
           fmt::format("should stand at byte {}, {} bytes long, in a file of {}", offset, length, size));
  return file.subspan(as_size(offset), as_size(length));
}

/// The tag that stands before the length that stands before the data, or 0.
unsigned char tag_before(ByteSpan model, std::int64_t offset, std::int64_t length) {
  std::int64_t at = offset;
  int groups = 1;
  for (std::int64_t rest = length; rest >= 128; rest >>= 7) ++groups;
  at -= groups + 1;
  if (at < 0) return 0;
  for (int i = 0; i < groups; ++i) {
    const auto byte = static_cast<std::int64_t>(model[as_size(at + 1 + i)]);
    if (byte != ((length >> (7 * i) & 127) | (i + 1 < groups ? 128 : 0))) return 0;
  }
  return static_cast<unsigned char>(model[as_size(at)]);
}

/// TensorProto's fields of varints: int32_data, int64_data, uint64_data.
constexpr unsigned char varint_fields[] = {5, 7, 11};

/// Elements kept as varints, packed or one by one.
std::vector<float> varint_numbers(const Value& value, ByteSpan model, ByteSpan bytes, unsigned char tag) {
  const std::string_view text = text_of(bytes);
  for (const unsigned char field : varint_fields) {
    const auto one_by_one = static_cast<unsigned char>(field << 3);
    const auto before = as_size(value.bytes->offset) - 1;  // a tensor's data are not the first byte
    std::optional<Tensor> tensor;
    if (tag == (field << 3 | 2)) tensor = tensor_of_varints(value.operand.type, value.operand.shape, text);
    if (!tensor && value.bytes->offset > 0 && std::to_integer<unsigned char>(model[before]) == one_by_one)
      tensor = tensor_of_varints(value.operand.type, value.operand.shape, text, one_by_one);
    if (tensor) return floats_of(*tensor);
  }
  refuse("not_modelled", value, "is stored in pieces; expected raw_data, or one packed field");
}

struct Files {
  std::filesystem::path model_path;  // empty: a built-in model, or one whose folder is out of reach
  std::string built_bytes;
  std::shared_ptr<const MappedFile> model;
  std::map<std::string, std::shared_ptr<const MappedFile>> beside;

  ByteSpan model_bytes() const { return model ? model->bytes() : std::as_bytes(std::span(built_bytes)); }
};

ByteSpan external_file(Files& files, const Value& value) {
  const std::string& name = value.bytes->file;
  if (const auto open = files.beside.find(name); open != files.beside.end()) return open->second->bytes();
  if (files.model_path.empty())
    refuse("weights_absent", value, "stands in '" + printable(name) + "', which is not in the model's own file");
  try {
    return files.beside.emplace(name, map_external_file(files.model_path.parent_path(), name))
        .first->second->bytes();
  } catch (const Error& error) {
    refuse("weights_absent", value, "stands in '" + printable(name) + "': " + error.what());
  }
}

ByteSpan external_bytes(Files& files, const Value& value) {
  const std::int64_t expected = stored_bytes(value.operand.type, value.operand.shape);
  const std::int64_t length = value.bytes->length;
  if (length != 0 && length != expected)
    refuse("weights_absent", value, fmt::format("has {} bytes of external data, expected {}", length, expected));
  return part_of(value, external_file(files, value), expected);
}

/// Raw data where they stand; nothing for what is packed in another way, or not at all.
std::optional<ByteSpan> bytes_in_place(Files& files, const Value& value) {
  if (!value.bytes) return std::nullopt;
  if (!value.bytes->file.empty()) return external_bytes(files, value);
  const std::int64_t length = value.bytes->length;
  if (length == 0 || length != stored_bytes(value.operand.type, value.operand.shape)) return std::nullopt;
  const ByteSpan model = files.model_bytes(), bytes = part_of(value, model, length);
  return tag_before(model, value.bytes->offset, length) == raw_tag ? std::optional(bytes) : std::nullopt;
}

std::vector<float> read_value(Files& files, const Value& value) {
  const TypeRow* type = type_row(value);
  const std::int64_t expected = stored_bytes(value.operand.type, value.operand.shape);
  const std::int64_t length = value.bytes->length;
  if (!value.bytes->file.empty()) return raw_numbers(value, external_bytes(files, value));
  if (length == 0) refuse("weights_absent", value, "has a shape but no values in the model");
  const ByteSpan model = files.model_bytes();
  const ByteSpan bytes = part_of(value, model, length);
  const unsigned char tag = tag_before(model, value.bytes->offset, length);
  if (tag != raw_tag && (type == nullptr || type->packed_tag == 0 || tag != type->packed_tag))
    return varint_numbers(value, model, bytes, tag);
  if (length != expected)
    refuse("weights_absent", value, fmt::format("has {} bytes in the model, expected {}", length, expected));
  return raw_numbers(value, bytes);
}

}  // namespace

MemberWeights member_weights(const Member& member, const Machine& machine, std::uint64_t seed,
                             const std::filesystem::path& folder) {
  auto files = std::make_shared<Files>();
  if (is_built_in(member)) {
    const std::string name = member.name + ".weights";
    files->built_bytes = built_model(member.name, pass_sizes({member.role, member.name}, machine));
    NewFile file(folder / name);
    write_weights(files->built_bytes, seed, [&](ByteSpan piece) { file.write(text_of(piece)); });
    files->beside.emplace(name, std::make_shared<MappedFile>(file.path()));  // stays readable without its name
  } else {
    files->model_path = member.file;
    files->model = mapped(member);
  }
  return {[files](const Value& value) { return read_value(*files, value); },
          [files](const Value& value) -> std::optional<StoredBytes> {
            const auto bytes = bytes_in_place(*files, value);
            return bytes ? std::optional(StoredBytes{*bytes, files}) : std::nullopt;
          }};
}

StoredTensors stored_tensors(WeightSource source) {
  return [source = std::move(source)](const Value& value) -> std::optional<Tensor> {
    Tensor tensor{value.operand.type, value.operand.shape, {}, {}};
    for (const float x : source(value)) {
      if (is_floating(tensor.type))
        tensor.floats.push_back(static_cast<double>(x));
      else
        tensor.ints.push_back(static_cast<std::int64_t>(x));
    }
    return tensor;
  };
}

const Member& member_of(const std::vector<Member>& members, const std::string& stage) {
  const auto made_from = [&](const Member& m) { return m.name == stage || stage.starts_with(m.name + "/"); };
  const auto found = std::ranges::find_if(members, made_from);
  check(found != members.end(), "every stage comes from a model");
  return *found;
}

}  // namespace sdip
