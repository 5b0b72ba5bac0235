// Words of IMEM, bit by bit: the lowest bit of a byte first, as in `.weight`.
//
// Worked example: a field of 4 bits holds 0 to 14; 15 says that the number stands behind the head: 20 is 1111 there
// and the byte 40 (its zigzag) in the tail.
#include "core/program/form/word.h"

#include <algorithm>

#include "core/base/error.h"

namespace sdip {

void WordOut::put(std::string_view name, int bits, std::uint64_t x) {
  check(at_ + bits <= static_cast<int>(8 * head_bytes), "the head of an instruction fits its words");
  if (listing_ != nullptr) listing_->push_back({std::string(name), bits});
  auto byte = as_size(at_ / 8);
  at_ += bits;
  for (std::uint64_t left = (x & ((std::uint64_t{1} << bits) - 1)) << (at_ - bits) % 8; left != 0; left >>= 8)
    head_[byte++] |= static_cast<std::uint8_t>(left & 0xff);
}

void WordOut::number(std::string_view name, int bits, std::int64_t& x, std::int64_t standard, std::int64_t) {
  if (bits == 0) {
    if (has(name, x != standard)) tail_.number(x);
    if (listing_ != nullptr && !in_tail_) listing_->back().in_tail = true;
    return;
  }
  if (in_tail_ || bits == only_tail) return tail_.number(x);
  const std::int64_t beyond = (std::int64_t{1} << bits) - 1;
  const bool fits = x >= 0 && x < beyond;
  put(name, bits, static_cast<std::uint64_t>(fits ? x : beyond));
  if (!fits) tail_.number(x);
}

void WordOut::order(int bits, LoopOrder& x, const LoopOrder& standard) {
  auto code = static_cast<std::int64_t>(std::ranges::find(loop_orders, x) - loop_orders.begin());
  const auto plain = static_cast<std::int64_t>(std::ranges::find(loop_orders, standard) - loop_orders.begin());
  number("order", bits, code, plain, plain);
}

void WordIn::order(int bits, LoopOrder& x, const LoopOrder& standard) {
  std::int64_t code = 0;
  const auto plain = static_cast<std::int64_t>(std::ranges::find(loop_orders, standard) - loop_orders.begin());
  number("order", bits, code, plain, plain);
  if (code < 0 || code >= static_cast<std::int64_t>(loop_orders.size())) refuse("no such order of loops");
  x = loop_orders[at(code)];
}

namespace {

template <class Visitor>
void fetch_fields(Visitor& v, Fetch& f, bool in_head) {
  v.choice("fetch_place", in_head ? 3 : only_tail, f.place, Place::nowhere, 6, place_text);
  std::int64_t fold = f.per_fold ? 1 : 0;
  v.number("fetch_fold", in_head ? 2 : only_tail, fold, 0, 0);
  f.per_fold = fold != 0;
  v.number("fetch_passes", in_head ? 3 : only_tail, f.passes, 1, 1);
  v.number("fetch_elements", in_head ? 27 : only_tail, f.elements, 0, 0);
}

template <class Visitor>
void fetch_list(Visitor& v, int in_head, std::vector<Fetch>& x) {
  auto count = static_cast<std::int64_t>(x.size());
  v.number("fetches", 2, count, 0, 0);
  resize_list(v, x, count);
  const auto slots = as_size(in_head);
  for (std::size_t k = 0; k < std::max(slots, x.size()); ++k) {
    Fetch unused;
    fetch_fields(v, k < x.size() ? x[k] : unused, k < slots);
  }
}

template <class Visitor>
void part_list(Visitor& v, std::vector<Part>& x, bool& in_tail) {
  auto count = static_cast<std::int64_t>(x.size());
  v.number("parts", 0, count, 0, 0);
  resize_list(v, x, count);
  in_tail = true;
  for (Part& part : x) part_fields(v, part);
  in_tail = false;
}

}  // namespace

void WordOut::fetches(std::string_view, int in_head, std::vector<Fetch>& x, const std::vector<Fetch>&) {
  fetch_list(*this, in_head, x);
}

void WordIn::fetches(std::string_view, int in_head, std::vector<Fetch>& x, const std::vector<Fetch>&) {
  fetch_list(*this, in_head, x);
}

void WordOut::parts(std::string_view, std::vector<Part>& x) { part_list(*this, x, in_tail_); }

void WordIn::parts(std::string_view, std::vector<Part>& x) { part_list(*this, x, in_tail_); }

void WordOut::bytes(std::string_view name, std::string& x) {
  if (has(name, !x.empty())) tail_.text(x);
}

void WordIn::bytes(std::string_view name, std::string& x) {
  x = has(name, false) ? tail_.text(std::size_t{1} << 24) : std::string();
}

void WordOut::formats(std::string_view name, std::optional<Formats>& x, const std::optional<Formats>&) {
  if (!has(name, x.has_value())) return;
  tail_.byte(static_cast<std::uint8_t>(x->weights));
  tail_.byte(static_cast<std::uint8_t>(x->activations));
  tail_.byte(static_cast<std::uint8_t>(static_cast<std::uint8_t>(x->results) | (x->accumulators ? 128 : 0) |
                                       (x->density_hundredths ? 64 : 0)));
  if (x->accumulators) tail_.byte(static_cast<std::uint8_t>(*x->accumulators));
  if (x->density_hundredths) tail_.byte(static_cast<std::uint8_t>(*x->density_hundredths));
}

void WordIn::formats(std::string_view name, std::optional<Formats>& x, const std::optional<Formats>&) {
  x = std::nullopt;
  if (!has(name, false)) return;
  x.emplace();
  const auto format = [&](std::uint8_t code) {
    if (code >= std::size(number_formats)) refuse("formats: three or four number formats");
    return static_cast<NumberFormat>(code);
  };
  x->weights = format(tail_.byte());
  x->activations = format(tail_.byte());
  const std::uint8_t results = tail_.byte();
  x->results = format(results & 63);
  if ((results & 128) != 0) x->accumulators = format(tail_.byte());
  if ((results & 64) == 0) return;
  x->density_hundredths = tail_.byte();
  if (*x->density_hundredths < 1 || *x->density_hundredths > 100) refuse("formats: a density from 1 to 100");
}

void WordOut::reals(std::string_view name, InstructionScales& x) {
  if (!has(name, !x.empty())) return;
  tail_.size(x.size());
  for (const auto& scale : x) {
    tail_.byte(!scale ? 0 : !scale->zero ? 1 : 2);
    if (scale) tail_.real(scale->scale);
    if (scale && scale->zero) tail_.byte(*scale->zero);
  }
}

void WordIn::reals(std::string_view name, InstructionScales& x) {
  x.clear();
  if (!has(name, false)) return;
  for (std::size_t left = tail_.size(most_word_list); left > 0; --left) {
    x.emplace_back();
    const std::uint8_t kind = tail_.byte();
    if (kind > 2) refuse("scales: a scale, one with its zero point, or the channels'");
    if (kind > 0) x.back() = WeightScale(static_cast<float>(tail_.real()));
    if (kind == 2) x.back()->zero = tail_.byte();
  }
}

namespace {

/// `words` where the count does not fit its 16 bits: it stands in the first 8 bytes behind the head.
constexpr std::size_t counted_behind = 0xffff;
constexpr std::size_t count_bytes = 8;

}  // namespace

std::string WordOut::take() {
  std::string bytes = tail_.take();
  const auto words_for = [](std::size_t tail) {
    return least_instruction_words + (tail + word_bytes - 1) / word_bytes;
  };
  std::size_t words = words_for(bytes.size());
  if (words >= counted_behind) {
    words = words_for(bytes.size() + count_bytes);
    std::string count;
    for (std::size_t i = 0; i < count_bytes; ++i) count += static_cast<char>(words >> 8 * i & 0xff);
    bytes.insert(0, count);
  }
  bytes.resize(words * word_bytes - head_bytes, '\0');
  const std::size_t said = std::min(words, counted_behind);
  head_[0] = static_cast<std::uint8_t>(said & 0xff);
  head_[1] = static_cast<std::uint8_t>(said >> 8);
  return std::string(head_.begin(), head_.end()) + bytes;
}

namespace {

/// Words of the instruction at the front, and how many bytes of them are before its tail.
std::pair<std::size_t, std::size_t> extent_at(std::span<const std::byte> words) {
  const ByteReader in(words);
  if (words.size() < head_bytes) in.refuse("the words end early");
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(words[i]); };
  std::size_t count = byte(0) | byte(1) << 8, before = head_bytes;
  if (count == counted_behind && words.size() >= head_bytes + count_bytes) {
    count = 0;
    before += count_bytes;
    for (std::size_t i = 0; i < count_bytes; ++i) count |= byte(head_bytes + i) << 8 * i;
    if (count < counted_behind) in.refuse("a count of words that fits the head");
  }
  if (count * word_bytes < before || count > words.size() / word_bytes)
    in.refuse("an instruction of more words than there are, or of none");
  return {count, before};
}

}  // namespace

WordIn::WordIn(std::span<const std::byte>& words) : tail_({}) {
  const auto [count, before] = extent_at(words);
  head_ = words.first(head_bytes);
  tail_ = ByteReader(words.subspan(before, count * word_bytes - before));
  words = words.subspan(count * word_bytes);
}

std::uint64_t WordIn::take_bits(int bits) {
  std::uint64_t x = 0;
  for (int i = 0; i < bits; ++i, ++at_)
    if ((std::to_integer<unsigned>(head_[at(at_ / 8)]) >> at_ % 8 & 1) != 0) x |= std::uint64_t{1} << i;
  return x;
}

void WordIn::number(std::string_view name, int bits, std::int64_t& x, std::int64_t standard, std::int64_t) {
  if (bits == 0) {
    x = has(name, false) ? tail_.number() : standard;
    return;
  }
  if (in_tail_ || bits == only_tail) {
    x = tail_.number();
    return;
  }
  const std::uint64_t beyond = (std::uint64_t{1} << bits) - 1, found = take_bits(bits);
  x = found == beyond ? tail_.number() : static_cast<std::int64_t>(found);
}

void WordIn::finish() {
  while (at_ < static_cast<int>(8 * head_bytes))
    if (take_bits(1) != 0) refuse("a bit beyond the head's fields");
  if (tail_.left() >= word_bytes) refuse("more words than the instruction needs");
  while (tail_.left() > 0)
    if (tail_.byte() != 0) refuse("bytes beyond the instruction's fields");
}

}  // namespace sdip
