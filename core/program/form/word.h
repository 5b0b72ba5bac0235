// An instruction as words of IMEM: a head of fixed fields in two words, then what does not fit. Internal to its
// room.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/program/form/fields.h"

namespace sdip {

inline constexpr std::size_t word_bytes = instruction_word_bits / 8;
inline constexpr std::size_t head_bytes = least_instruction_words * word_bytes;

/// The parts of an instruction's word beside its class: the numbers of its operators in the program's list, and
/// what they need to know beside the loop nest: attributes and shapes, as bytes.
struct WordContext {
  std::vector<std::int64_t> opcodes;
  std::string descriptor;
  std::int64_t src1_size = 0, src2_size = 0;
  std::int64_t number = 0;  // of the instruction
};

/// One field of the head, for the table in docs/formats.md.
struct HeadField {
  std::string name;
  int bits = 0;
  bool in_tail = false;  // a bit that says whether it is there
};

/// Writes fields; `bits` as in core/program/form/fields.h.
class WordOut {
 public:
  static constexpr bool is_text = false;
  explicit WordOut(std::vector<HeadField>* listing = nullptr) : listing_(listing) { put("words", 16, 0); }

  bool has(std::string_view name, bool differs) {
    if (in_tail_)
      tail_.byte(differs ? 1 : 0);
    else
      put(name, 1, differs ? 1 : 0);
    return differs;
  }
  void number(std::string_view name, int bits, std::int64_t& x, std::int64_t standard, std::int64_t);
  template <std::size_t N>
  void numbers(std::string_view name, int bits, std::array<std::int64_t*, N> x,
               std::array<std::int64_t, N> standard, std::int64_t plain, char) {
    for (std::size_t i = 0; i < N; ++i) number(name, bits, *x[i], standard[i], plain);
  }
  template <class E, class Text>
  void choice(std::string_view name, int bits, E& x, E standard, int, Text) {
    auto code = static_cast<std::int64_t>(x);
    number(name, bits, code, static_cast<std::int64_t>(standard), 0);
  }
  void flag(std::string_view name, bool& x) { has(name, x); }
  void formats(std::string_view name, std::optional<Formats>& x, const std::optional<Formats>&);
  void order(int bits, LoopOrder& x, const LoopOrder& standard);
  void fetches(std::string_view name, int in_head, std::vector<Fetch>& x, const std::vector<Fetch>&);
  void parts(std::string_view name, std::vector<Part>& x);
  void bytes(std::string_view name, std::string& x);
  void reals(std::string_view name, InstructionScales& x);

  /// Whole words.
  std::string take();

 private:
  void put(std::string_view name, int bits, std::uint64_t x);

  std::vector<HeadField>* listing_;
  std::array<std::uint8_t, head_bytes> head_{};
  int at_ = 0;
  bool in_tail_ = false;
  ByteWriter tail_;
};

/// Reads what WordOut wrote, trusting nothing. Throws Error("bytes_invalid", ...).
class WordIn {
 public:
  static constexpr bool is_text = false;
  /// Takes one instruction's words from the front of `words`.
  explicit WordIn(std::span<const std::byte>& words);

  bool has(std::string_view, bool) { return in_tail_ ? tail_.flag() : take_bits(1) == 1; }
  void number(std::string_view name, int bits, std::int64_t& x, std::int64_t standard, std::int64_t);
  template <std::size_t N>
  void numbers(std::string_view name, int bits, std::array<std::int64_t*, N> x,
               std::array<std::int64_t, N> standard, std::int64_t plain, char) {
    for (std::size_t i = 0; i < N; ++i) number(name, bits, *x[i], standard[i], plain);
  }
  template <class E, class Text>
  void choice(std::string_view name, int bits, E& x, E standard, int count, Text) {
    std::int64_t code = 0;
    number(name, bits, code, static_cast<std::int64_t>(standard), 0);
    if (code < 0 || code >= count) tail_.refuse(std::string(name) + ": no such choice");
    x = static_cast<E>(code);
  }
  void flag(std::string_view name, bool& x) { x = has(name, false); }
  void formats(std::string_view name, std::optional<Formats>& x, const std::optional<Formats>&);
  void order(int bits, LoopOrder& x, const LoopOrder& standard);
  void fetches(std::string_view name, int in_head, std::vector<Fetch>& x, const std::vector<Fetch>&);
  void parts(std::string_view name, std::vector<Part>& x);
  void bytes(std::string_view name, std::string& x);
  void reals(std::string_view name, InstructionScales& x);

  /// Throws unless nothing but zeros is left.
  void finish();
  [[noreturn]] void refuse(const std::string& what) const { tail_.refuse(what); }

 private:
  std::uint64_t take_bits(int bits);

  std::span<const std::byte> head_;
  ByteReader tail_;
  int at_ = 16;
  bool in_tail_ = false;
};

/// The most instructions' operands, parts and nodes that a word's lists may have.
inline constexpr std::size_t most_word_list = 1 << 16;

template <class Item>
void resize_list(WordOut&, std::vector<Item>&, std::int64_t) {}
template <class Item>
void resize_list(WordIn& v, std::vector<Item>& list, std::int64_t count) {
  if (count < 0 || count > static_cast<std::int64_t>(most_word_list)) v.refuse("a list of more than 65,536");
  list.resize(as_size(count));
}

/// The instruction that stands `back` before `number`.
inline std::int32_t earlier_by(WordOut&, std::int64_t number, std::int64_t back) {
  return static_cast<std::int32_t>(number - back);
}
inline std::int32_t earlier_by(WordIn& v, std::int64_t number, std::int64_t back) {
  if (back < 1 || back > number) v.refuse("a mark of no earlier instruction");
  return static_cast<std::int32_t>(number - back);
}

/// A DSRAM pair and which side of it, as one number.
inline std::int64_t pair_code(const PlacedOperand& source) {
  return 2 * static_cast<std::int64_t>(source.pair.value_or(Family::conv2d)) + (source.older ? 1 : 0);
}
inline void set_pair(WordOut&, PlacedOperand&, std::int64_t) {}
inline void set_pair(WordIn& v, PlacedOperand& source, std::int64_t code) {
  if (code < 0 || code >= 2 * static_cast<std::int64_t>(pair_families)) v.refuse("no such DSRAM pair");
  source.pair = static_cast<Family>(code / 2);
  source.older = code % 2 != 0;
}

/// Where each family has a DSRAM pair: in which the sources lie, and what the instruction waits for, counted back
/// from it.
template <class Visitor>
void pair_fields(Visitor& v, Instruction& i, std::int64_t number) {
  if (v.has("pairs", std::ranges::any_of(i.sources, [](const PlacedOperand& s) { return s.pair.has_value(); })))
    for (PlacedOperand& source : i.sources) {
      if (source.place != Place::dsram) continue;
      std::int64_t code = pair_code(source);
      v.number("source_pair", only_tail, code, 0, 0);
      set_pair(v, source, code);
    }
  if (!v.has("after", !i.after.empty())) return;
  auto count = static_cast<std::int64_t>(i.after.size());
  v.number("marks", only_tail, count, 0, 0);
  resize_list(v, i.after, count);
  for (std::int32_t& earlier : i.after) {
    std::int64_t back = number - earlier;
    v.number("mark", only_tail, back, 0, 0);
    earlier = earlier_by(v, number, back);
  }
}

/// Everything an instruction's words hold: the fields above and, in `context`, what follows from the graph.
template <class Visitor>
void word_fields(Visitor& v, Instruction& i, InstructionClass& c, WordContext& context) {
  auto opcodes = static_cast<std::int64_t>(context.opcodes.size());
  v.number("operators", 3, opcodes, 0, 0);
  resize_list(v, context.opcodes, opcodes);
  for (std::size_t k = 0; k < std::max<std::size_t>(3, context.opcodes.size()); ++k) {
    std::int64_t unused = 0;
    std::int64_t& opcode = k < context.opcodes.size() ? context.opcodes[k] : unused;
    v.number("opcode", k < 3 ? 9 : only_tail, opcode, 0, 0);
  }
  auto sources = static_cast<std::int64_t>(i.sources.size());
  v.number("sources", 2, sources, 0, 0);
  resize_list(v, i.sources, sources);
  for (std::size_t k = 0; k < std::max<std::size_t>(2, i.sources.size()); ++k) {
    PlacedOperand unused;
    PlacedOperand& source = k < i.sources.size() ? i.sources[k] : unused;
    v.choice("source_place", k < 2 ? 3 : only_tail, source.place, Place::nowhere, 6, place_text);
    std::int64_t pop = source.pop ? 1 : 0;
    v.number("source_pop", k < 2 ? 2 : only_tail, pop, 0, 0);
    source.pop = pop != 0;
    v.number("source_address", k < 2 ? 26 : only_tail, source.address.value, 0, 0);
  }
  v.flag("to_dsram", c.to_dsram);
  v.flag("to_stackram", c.push);
  v.flag("to_dram", c.to_dram);
  v.number("dsram_address", 24, i.dsram_address.value, 0, 0);
  v.number("stackram_address", 26, i.stackram_address.value, 0, 0);
  v.number("dram_address", 0, i.dram_address.value, 0, 0);
  v.number("src1_size", 28, context.src1_size, 0, 0);
  v.number("src2_size", 28, context.src2_size, 0, 0);
  v.number("weight_offset", 32, i.weight_offset.value, 0, 0);
  class_fields(v, c, InstructionClass());
  const MemorySpan none_there;
  for (MemorySpan* tiles : {&i.read_tiles, &i.write_tiles}) {
    v.number("tiles_address", 0, tiles->address.value, none_there.address.value, 0);
    v.number("tiles_bytes", 0, tiles->bytes.value, none_there.bytes.value, 0);
  }
  pair_fields(v, i, context.number);
  v.bytes("descriptor", context.descriptor);
  v.reals("scales", i.scales);
}

}  // namespace sdip
