// .npy files: ten or twelve bytes, a Python dictionary as text, and the elements.
#include "core/onnx/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/onnx/raw.h"

namespace sdip {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::size_t most_npy_header = 1 << 16, most_npy_rank = 32;

[[noreturn]] void refuse_npy(const std::string& what) { throw Error("tensor_file_invalid", "", what); }

/// How numpy calls a type: "f4". Nothing for those that it lacks.
struct NpyRow {
  ElementType type;
  std::string_view code, name;
};
constexpr NpyRow npy_rows[] = {
    {ElementType::float32, "f4", "numpy.float32"}, {ElementType::float64, "f8", "numpy.float64"},
    {ElementType::float16, "f2", "numpy.float16"}, {ElementType::int8, "i1", "numpy.int8"},
    {ElementType::uint8, "u1", "numpy.uint8"},     {ElementType::int16, "i2", "numpy.int16"},
    {ElementType::uint16, "u2", "numpy.uint16"},   {ElementType::int32, "i4", "numpy.int32"},
    {ElementType::uint32, "u4", "numpy.uint32"},   {ElementType::int64, "i8", "numpy.int64"},
    {ElementType::uint64, "u8", "numpy.uint64"},   {ElementType::boolean, "b1", "numpy.bool_"},
};

const NpyRow* npy_row(ElementType type) {
  const auto found = std::ranges::find(npy_rows, type, &NpyRow::type);
  return found == std::end(npy_rows) ? nullptr : found;
}

/// The type as which numpy holds the numbers of `type`.
const NpyRow& stored_row(ElementType type) {
  if (type == ElementType::string) throw Error("not_modelled", "", "strings have no numbers to read or write");
  if (const NpyRow* row = npy_row(type)) return *row;
  if (is_floating(type)) return *npy_row(ElementType::float32);
  return *npy_row(wrapped(type, -1) < 0 ? ElementType::int8 : ElementType::uint8);
}

/// The entries of the header's dictionary.
struct NpyHeader {
  std::string descr;
  bool fortran = false;
  Shape shape;
};

/// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class NpyHeaderReader {
 public:
  explicit NpyHeaderReader(std::string_view text) : text_(text) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      bool& known = key == "descr" ? has_descr : key == "fortran_order" ? has_order : has_shape;
      if (known || (&known == &has_shape && key != "shape")) refuse_npy("its header has an unknown or double key");
      known = true;
      if (key == "descr")
        header.descr = quoted();
      else if (key == "fortran_order")
        header.fortran = truth();
      else
        header.shape = tuple();
      if (take(',')) continue;
      expect('}');
      break;
    }
    skip();
    if (at_ != text_.size() || !has_descr || !has_order || !has_shape)
      refuse_npy("its header is not {'descr', 'fortran_order', 'shape'}");
    return header;
  }

 private:
  void skip() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }
  bool take(char letter) {
    skip();
    if (at_ == text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  void expect(char letter) {
    if (!take(letter)) refuse_npy(fmt::format("its header lacks a '{}'", letter));
  }
  std::string quoted() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote == '[') refuse_npy("it holds records; expected an array of numbers");
    const auto end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) refuse_npy("its header lacks a quoted text");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(inside);
  }
  bool truth() {
    skip();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    refuse_npy("its header's fortran_order is neither True nor False");
  }
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!take(')')) {
      std::int64_t size = 0;
      skip();
      const char* end = text_.data() + text_.size();
      const auto [last, problem] = std::from_chars(text_.data() + at_, end, size);
      if (problem != std::errc() || size < 0 || shape.size() == most_npy_rank)
        refuse_npy("its header's shape is none");
      at_ = as_size(last - text_.data());
      take('L');  // Python 2 wrote 3L
      shape.push_back(size);
      if (take(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// The header's text, and the elements after it.
std::pair<std::string_view, std::string_view> parts_of_npy(std::string_view bytes) {
  if (!bytes.starts_with(npy_magic) || bytes.size() < 10) refuse_npy("this is no .npy file");
  const auto version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3 || bytes[7] != 0) refuse_npy("it is of a version other than 1.0, 2.0 and 3.0");
  const std::size_t before = version == 1 ? 10 : 12;
  if (bytes.size() < before) refuse_npy("it ends within its header");
  const std::size_t length = little_endian(bytes.substr(8, before - 8));
  if (length > most_npy_header || length > bytes.size() - before) refuse_npy("its header is longer than it may be");
  return {bytes.substr(before, length), bytes.substr(before + length)};
}

/// The same with the first of two bytes last, of elements of `size` bytes.
std::string turned_bytes(std::string_view bytes, std::size_t size) {
  std::string turned(bytes);
  for (std::size_t at = 0; at + size <= turned.size(); at += size)
    std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(at),
                 turned.begin() + static_cast<std::ptrdiff_t>(at + size));
  return turned;
}

/// Elements that stood with the first axis fastest, in C order.
template <class Number>
void reorder(std::vector<Number>& numbers, const Shape& shape) {
  if (numbers.empty()) return;
  std::vector<Number> ordered;
  ordered.reserve(numbers.size());
  std::vector<std::int64_t> index(shape.size(), 0), stride(shape.size(), 1);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) stride[axis] = stride[axis - 1] * shape[axis - 1];
  std::int64_t at = 0;
  while (ordered.size() < numbers.size()) {
    ordered.push_back(numbers[as_size(at)]);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      at += stride[axis];
      if (++index[axis] < shape[axis]) break;
      at -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  numbers = std::move(ordered);
}

/// Numbers that another type held, as `type` holds them.
Tensor converted(Tensor tensor, ElementType type) {
  for (double& x : tensor.floats) x = rounded(type, x);
  for (const std::int64_t x : tensor.ints)
    if (wrapped(type, x) != x)
      throw Error("value_out_of_range", "", std::to_string(x) + " is no " + std::string(element_type_text(type)));
  tensor.type = type;
  return tensor;
}

void require_numbers(const std::string& descr) {
  const char kind = descr.size() < 2 ? '\0' : descr[1];
  if (std::string_view("fiub").find(kind) != std::string_view::npos) return;
  const bool objects = descr.find('O') != std::string::npos;
  refuse_npy(fmt::format("it holds '{}'{}; expected an array of floats, integers or booleans", descr.substr(0, 20),
                         objects ? ", Python objects, which are never loaded" : ""));
}

}  // namespace

Tensor tensor_of_npy(std::string_view bytes, ElementType type) {
  const auto [text, elements] = parts_of_npy(bytes);
  const NpyHeader header = NpyHeaderReader(text).read();
  require_numbers(header.descr);
  const NpyRow& row = stored_row(type);
  const char order = header.descr.front();
  if (std::string_view("<>|=").find(order) == std::string_view::npos) refuse_npy("its byte order is not known");
  if (header.descr.substr(1) != row.code)
    throw Error("shape_mismatch", "",
                fmt::format("the file holds '{}' and the tensor is {}; save it as {}", header.descr.substr(0, 20),
                            element_type_text(type), row.name));
  std::int64_t expected = 0;
  try {
    expected = stored_bytes(row.type, header.shape);
  } catch (const Error&) {
    refuse_npy("its shape has too many elements");
  }
  if (std::ssize(elements) != expected)
    refuse_npy(fmt::format("it has {} bytes of elements; its shape {} has {}", elements.size(),
                           shape_text(header.shape), expected));
  const auto size = as_size(bits_of(row.type) / 8);
  Tensor tensor = tensor_of_raw(row.type, header.shape, order == '>' ? turned_bytes(elements, size) : elements);
  if (header.fortran) {
    reorder(tensor.floats, header.shape);
    reorder(tensor.ints, header.shape);
  }
  return row.type == type ? tensor : converted(std::move(tensor), type);
}

std::string npy_of_tensor(const Tensor& tensor) {
  const NpyRow& row = stored_row(tensor.type);
  std::string shape = "(";
  for (const std::int64_t size : tensor.shape) shape += std::to_string(size) + ", ";
  if (tensor.shape.size() > 1) shape.resize(shape.size() - 2);
  if (tensor.shape.size() == 1) shape.pop_back();
  const bool bytes_alone = bits_of(row.type) == 8;
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}), }}",
                                   bytes_alone ? "|" : "<", row.code, shape);
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string bytes(npy_magic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  Tensor stored = tensor;
  stored.type = row.type;
  return bytes + header + raw_of_tensor(stored);
}

}  // namespace sdip
