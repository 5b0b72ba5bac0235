// A tensor as people write one.
#include "core/onnx/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/ops/operator.h"

namespace sdip {
namespace {

constexpr std::size_t most_depth = 16, most_shown = 40;

[[noreturn]] void refuse_value(const char* code, const std::string& what) { throw Error(code, "", what); }

[[noreturn]] void refuse_value_text(std::string_view text) {
  refuse_value("value_invalid", "'" + std::string(text.substr(0, most_shown)) +
                                    "' is no value; expected a number, true, false, or numbers in brackets such as "
                                    "[1,0] or [[1,2],[3,4]]");
}

/// Numbers in reading order, and the sizes that the brackets around them have.
struct WrittenNumbers {
  std::vector<std::string_view> numbers;
  Shape shape;  // of a number alone: none
};

class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  WrittenNumbers read() {
    read_item(0);
    skip_blanks();
    if (at_ != text_.size()) refuse_value_text(text_);
    return std::move(written_);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool take(char letter) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }

  void read_item(std::size_t depth) {
    if (take('[')) return read_list(depth);
    if (depth_known_ && depth != written_.shape.size()) refuse_value_text(text_);  // lists of other depths
    depth_known_ = true;
    const std::size_t end = std::min(text_.find_first_of(",[] \t", at_), text_.size());
    if (end == at_) refuse_value_text(text_);
    if (std::ssize(written_.numbers) == most_folded_elements)
      refuse_value("limit_exceeded",
                   fmt::format("has more elements than a value may: {} at most", most_folded_elements));
    written_.numbers.push_back(text_.substr(at_, end - at_));
    at_ = end;
  }

  void read_list(std::size_t depth) {
    if (depth == most_depth || (depth_known_ && depth >= written_.shape.size())) refuse_value_text(text_);
    const bool first = depth == written_.shape.size();
    if (first) written_.shape.push_back(any_size);
    std::int64_t size = 0;
    if (!take(']')) {
      do {
        read_item(depth + 1);
        ++size;
      } while (take(','));
      if (!take(']')) refuse_value_text(text_);
    } else {
      if (!depth_known_) depth_known_ = true;
      if (depth + 1 != written_.shape.size()) refuse_value_text(text_);
    }
    if (written_.shape[depth] != any_size && written_.shape[depth] != size)
      refuse_value("value_invalid",
                   fmt::format("the lists in '{}' are not all of one length", text_.substr(0, most_shown)));
    written_.shape[depth] = size;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool depth_known_ = false;  // once a number, or an empty list, was met
  WrittenNumbers written_;
};

[[noreturn]] void refuse_number(ElementType type, std::string_view text, bool outside) {
  refuse_value(outside ? "value_out_of_range" : "value_invalid",
               fmt::format("'{}' is no {}", text.substr(0, most_shown), element_type_text(type)));
}

std::int64_t int_of(ElementType type, std::string_view text) {
  if (type == ElementType::boolean && (text == "true" || text == "false")) return text == "true";
  const char* end = text.data() + text.size();
  std::int64_t number = 0;
  auto [last, problem] = std::from_chars(text.data(), end, number);
  bool fits = problem == std::errc();
  if (type == ElementType::uint64) {
    std::uint64_t wide = 0;
    const auto read = std::from_chars(text.data(), end, wide);
    last = read.ptr, problem = read.ec, number = static_cast<std::int64_t>(wide);
    fits = problem == std::errc();
  } else {
    fits = fits && wrapped(type, number) == number;
  }
  const bool whole = problem != std::errc::invalid_argument && last == end;
  if (!whole || !fits) refuse_number(type, text, whole);
  return number;
}

double float_of(ElementType type, std::string_view text) {
  const char* end = text.data() + text.size();
  double number = 0;
  const auto [last, problem] = std::from_chars(text.data(), end, number);
  const bool whole = problem != std::errc::invalid_argument && last == end;
  if (!whole || problem != std::errc()) refuse_number(type, text, whole);
  const double held = rounded(type, number);
  const bool lost = (std::isfinite(number) && !std::isfinite(held)) || std::isnan(number) != std::isnan(held);
  if (lost) refuse_number(type, text, true);
  return held;
}

/// The sizes that are meant. Throws shape_mismatch.
Shape fitted(const Shape& declared, const WrittenNumbers& written, std::string_view text) {
  const bool alone = written.shape.empty();
  Shape shape = alone ? declared : written.shape;
  for (std::int64_t& size : shape) size = size == any_size ? 1 : size;
  bool same = alone ? element_count(shape) == 1 : declared.size() == written.shape.size();
  for (std::size_t axis = 0; same && axis < declared.size(); ++axis)
    same = declared[axis] == any_size || declared[axis] == shape[axis];
  if (same) return shape;
  std::string expected = shape_text(declared);
  for (std::size_t at = 0; (at = expected.find("-1", at)) != std::string::npos;) expected.replace(at, 2, "any");
  refuse_value("shape_mismatch", fmt::format("'{}' has the shape {}; expected {}", text.substr(0, most_shown),
                                             shape_text(written.shape), expected));
}

}  // namespace

Tensor tensor_of_text(ElementType type, const Shape& declared, std::string_view text) {
  if (type == ElementType::string) refuse_value("value_invalid", "a tensor of strings cannot be given as a value");
  const WrittenNumbers written = TextReader(text).read();
  Tensor tensor{type, fitted(declared, written, text), {}, {}};
  for (const std::string_view number : written.numbers) {
    if (is_floating(type))
      tensor.floats.push_back(float_of(type, number));
    else
      tensor.ints.push_back(int_of(type, number));
  }
  return tensor;
}

}  // namespace sdip
