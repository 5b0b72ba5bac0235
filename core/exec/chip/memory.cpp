// A memory: bytes at addresses, and a shadow.
#include "core/exec/chip/memory.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/base/code_runs.h"
#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/base/units.h"
#include "core/exec/walk/views.h"

namespace sdip::exec {
namespace {

constexpr ValueId tile_buffer = -3;  // owner of what tiles on their way have taken

void require_within(const Memory& memory, std::int64_t address, std::int64_t bits, const std::string& who) {
  const std::int64_t end = address + ceil_div(bits, 8);
  if (address >= 0 && end <= memory.bytes) return;
  throw Error(
      "execution_failed", who,
      fmt::format("{} uses bytes {} to {} of {}, which has {}", who, address, end, memory.name, memory.bytes));
}

[[noreturn]] void fail(const Memory& memory, const Reading& reading, std::int64_t element, std::int64_t address,
                       const std::string& why) {
  throw Error("execution_failed", reading.who,
              fmt::format("{} reads element {} of '{}' in {} at address {}: {}", reading.who, element,
                          reading.graph.values[reading.slot.first].name, memory.name, address, why));
}

/// Bits [begin, end) are the owner's from now on.
void mark(Memory& memory, std::int64_t begin, std::int64_t end, Slot owner) {
  auto& shadow = memory.shadow;
  auto next = shadow.upper_bound(begin);
  if (next != shadow.begin()) {
    const auto before = std::prev(next);
    ShadowSpan& span = before->second;
    const bool same = span.owner == owner && span.time == memory.openings;
    if (span.end >= end && same) return;
    if (span.end >= begin && same) {  // goes on
      begin = before->first;
    } else if (span.end > begin) {
      if (span.end > end) shadow.emplace_hint(next, end, span);
      if (before->first == begin)
        shadow.erase(before);
      else
        span.end = begin;
    }
  }
  next = shadow.upper_bound(begin);
  while (next != shadow.end() && next->first < end) {
    if (next->second.end > end) {
      shadow.emplace(end, next->second);
      shadow.erase(next);
      break;
    }
    next = shadow.erase(next);
  }
  const auto behind = shadow.find(end);
  if (behind != shadow.end() && behind->second.owner == owner && behind->second.time == memory.openings) {
    end = behind->second.end;
    shadow.erase(behind);
  }
  shadow.insert_or_assign(begin, ShadowSpan{end, owner, memory.openings});
}

/// The first of bits [begin, end) that the owner has not written since `opened`, or `end`.
std::int64_t first_lost(const Memory& memory, std::int64_t begin, std::int64_t end, Slot owner,
                        std::int64_t opened) {
  auto span = memory.shadow.upper_bound(begin);
  if (span == memory.shadow.begin()) return begin;
  for (--span; begin < end; ++span) {
    if (span == memory.shadow.end() || span->first > begin || span->second.end <= begin ||
        span->second.owner != owner || span->second.time < opened)
      return begin;
    begin = span->second.end;
  }
  return end;
}

std::string taker_text(const Memory& memory, const Reading& reading, std::int64_t bit, std::int64_t opened) {
  auto span = memory.shadow.upper_bound(bit);
  if (span == memory.shadow.begin()) return "it was never written";
  --span;
  const ShadowSpan& by = span->second;
  if (by.end <= bit || by.time < opened) return "it was never written";
  if (by.owner.first == tile_buffer) return "it was overwritten by a tile buffer";
  return "it was overwritten by '" + reading.graph.values[by.owner.first].name + "'";
}

/// The least and the greatest of some elements.
std::pair<std::int64_t, std::int64_t> bounds_of(const Elements& at) {
  std::int64_t least = at.lines()[0].begin, most = least;
  for (const Line& line : at.lines()) {
    least = std::min({least, line.begin, line.last()});
    most = std::max({most, line.begin, line.last()});
  }
  return {least, most};
}

/// Where element 0 of a value lies, if its numbers stand there as single precision has them.
template <class SomeMemory>
auto floats_of(SomeMemory& memory, const Region& region) {
  using To = std::conditional_t<std::is_const_v<SomeMemory>, const float, float>;
  const bool as_floats = region.layout.format == NumberFormat::fp32 && !region.layout.beside &&
                         region.first_bit % (8 * static_cast<std::int64_t>(alignof(float))) == 0;
  return as_floats ? reinterpret_cast<To*>(memory.storage.data() + region.first_bit / 8) : nullptr;
}

/// Storage up to an address: twice what there was, so that it seldom moves.
void reach(Memory& memory, std::int64_t end) {
  const std::int64_t now = memory.storage.size();
  if (end > now) memory.storage.grow(std::max(end, std::min(2 * now, memory.bytes)));
}

/// The region that a reading means; all of `at` are elements that it has, written and not overwritten.
const Region& readable(const Memory& memory, const Reading& reading, const Elements& at) {
  const auto found = memory.regions.find(reading.slot);
  const std::int64_t first = at.empty() ? 0 : at.lines()[0].begin;
  if (found == memory.regions.end()) fail(memory, reading, first, reading.address, "it was never there");
  const Region& region = found->second;
  if (region.first_bit != reading.address * 8)
    fail(memory, reading, first, reading.address, "it lies at address " + std::to_string(region.first_bit / 8));
  if (at.empty()) return region;
  const auto [least, most] = bounds_of(at);
  const auto require = [&](std::int64_t element) {
    if (element < 0 || element >= region.layout.count)
      fail(memory, reading, element, reading.address, fmt::format("it has {} elements", region.layout.count));
    const std::int64_t bit = region.bit_of(element);
    const std::int64_t lost = first_lost(memory, bit, bit + region.bits(), reading.slot, region.opened);
    if (lost < bit + region.bits())
      fail(memory, reading, element, bit / 8, taker_text(memory, reading, lost, region.opened));
  };
  const bool inside = least >= 0 && most < region.layout.count;
  const auto whole = [&](std::int64_t from, std::int64_t to) {
    return first_lost(memory, region.bit_of(from), region.bit_of(to + 1), reading.slot, region.opened) ==
           region.bit_of(to + 1);
  };
  if (inside && whole(least, most)) return region;
  for (const Line& line : at.lines()) {
    const std::int64_t from = std::min(line.begin, line.last()), to = std::max(line.begin, line.last());
    if (inside && whole(from, to)) continue;
    for (std::int64_t i = 0; i < line.count; ++i) require(line.begin + i * line.step);
  }
  return region;
}

/// Bits at any bit address, one by one: of formats narrower than a byte.
void put_bits(Memory& memory, std::int64_t bit, std::int64_t bits, std::uint32_t code) {
  for (std::int64_t i = 0; i < bits; ++i) {
    std::byte& to = memory.storage.data()[(bit + i) / 8];
    const auto mask = static_cast<std::byte>(1U << ((bit + i) % 8));
    to = (code >> i & 1U) != 0 ? to | mask : to & ~mask;
  }
}

std::uint32_t bits_at(const Memory& memory, std::int64_t bit, std::int64_t bits) {
  std::uint32_t code = 0;
  for (std::int64_t i = 0; i < bits; ++i) {
    const std::byte from = memory.storage.data()[(bit + i) / 8];
    code |= (std::to_integer<std::uint32_t>(from) >> ((bit + i) % 8) & 1U) << i;
  }
  return code;
}

void put_line(Memory& memory, const Region& region, const Line& line, std::span<const float> numbers) {
  const Layout& l = region.layout;
  if (line.step == 1 && region.bits() >= 8)
    return encode_run(l.format, l.step, l.infinities, numbers,
                      memory.storage.data() + region.bit_of(line.begin) / 8);
  if (float* to = floats_of(memory, region)) {
    for (std::int64_t i = 0; i < line.count; ++i) to[line.begin + i * line.step] = numbers[at(i)];
    return;
  }
  for (std::int64_t i = 0; i < line.count; ++i)
    put_bits(memory, region.bit_of(line.begin + i * line.step), region.bits(),
             encoded_kept(l.format, numbers[at(i)], l.step, l.infinities));
}

void mark_line(Memory& memory, const Region& region, const Line& line, Slot slot) {
  if (line.step == 1) return mark(memory, region.bit_of(line.begin), region.bit_of(line.begin + line.count), slot);
  for (std::int64_t i = 0; i < line.count; ++i) {
    const std::int64_t bit = region.bit_of(line.begin + i * line.step);
    mark(memory, bit, bit + region.bits(), slot);
  }
}

/// Codes of whole bytes at steps, decoded a batch at a time.
void take_steps(const Memory& memory, const Region& region, const Line& line, float* to) {
  constexpr std::int64_t batch = 256;
  std::byte codes[batch * 4];
  const std::int64_t size = region.bits() / 8;
  const std::byte* from = memory.storage.data() + region.bit_of(line.begin) / 8;
  for (std::int64_t done = 0; done < line.count; done += batch) {
    const std::int64_t count = std::min(batch, line.count - done);
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(codes + i * size, from + (done + i) * line.step * size, as_size(size));
    decode_run(region.layout.format, region.layout.step, codes, {to + done, as_size(count)});
  }
}

void take_line(const Memory& memory, const Region& region, const Line& line, float* to) {
  const Layout& l = region.layout;
  if (line.step == 1 && region.bits() >= 8) {
    decode_run(l.format, l.step, memory.storage.data() + region.bit_of(line.begin) / 8, {to, as_size(line.count)});
  } else if (const float* from = floats_of(memory, region)) {
    for (std::int64_t i = 0; i < line.count; ++i) to[i] = from[line.begin + i * line.step];
  } else if (region.bits() >= 8) {
    take_steps(memory, region, line, to);
  } else {
    for (std::int64_t i = 0; i < line.count; ++i)
      to[i] = decoded(l.format, bits_at(memory, region.bit_of(line.begin + i * line.step), region.bits()),
                      l.step.scale, l.step.zero);
  }
}

/// Elements of a joined value by the parts in which they stand: calls read(part, its elements, how many came
/// before).
template <class Read>
void each_part(const JoinedRegion& joined, const Elements& at, const Read& read) {
  std::int64_t done = 0;
  for (const Line& line : at.lines())
    for (std::int64_t i = 0; i < line.count;) {
      const std::int64_t element = line.begin + i * line.step, row = element / joined.row;
      std::int64_t within = element % joined.row;
      auto part = joined.parts.begin();
      for (; within >= part->in_row; ++part) within -= part->in_row;
      const std::int64_t left = line.step > 0 ? ceil_div(part->in_row - within, line.step) : 1;
      const std::int64_t count = std::min(left, line.count - i);
      read(*part, mapped(part->map, Elements::line({row * part->in_row + within, count, line.step})), done);
      done += count;
      i += count;
    }
}

/// The reading of a part of a joined value, made from that of the whole.
Reading reading_of(const JoinedRegion::Part& part, const Reading& whole) {
  return {part.slot, part.address, whole.graph, whole.who};
}

const JoinedRegion* joined_of(const Memory& memory, const Reading& reading) {
  const auto joined = memory.joined.find(reading.slot);
  return joined == memory.joined.end() ? nullptr : &joined->second;
}

void require_elements(const Region& region, const Elements& at) {
  check(at.are_below(region.layout.count), "elements that a value has");
}

}  // namespace

void open_region(Memory& memory, Slot slot, std::int64_t address, const Layout& layout, const std::string& who) {
  Region region{address * 8, ++memory.openings, layout};
  if (layout.beside) region.data = zero_tensor(layout.type, {layout.count});
  require_within(memory, address, layout.count * region.bits(), who);
  if (!layout.beside) reach(memory, address + ceil_div(layout.count * region.bits(), 8));
  memory.regions[slot] = std::move(region);
}

Tensor elements_in(const Tensor& tensor, const Elements& at) {
  Tensor numbers{tensor.type, {at.size()}, {}, {}};
  at.each([&](std::int64_t element) {
    if (is_floating(tensor.type))
      numbers.floats.push_back(tensor.floats.at(as_size(element)));
    else
      numbers.ints.push_back(tensor.ints.at(as_size(element)));
  });
  return numbers;
}

void put_elements(Tensor& tensor, const Elements& at, const Tensor& numbers) {
  std::size_t i = 0;
  at.each([&](std::int64_t element) {
    const auto to = as_size(element);
    if (!numbers.floats.empty()) tensor.floats[to] = numbers.floats[i];
    if (!numbers.ints.empty()) tensor.ints[to] = numbers.ints[i];
    ++i;
  });
}

void claim(Memory& memory, Slot slot, const Elements& at) {
  const Region& region = memory.regions.at(slot);
  require_elements(region, at);
  for (const Line& line : at.lines()) mark_line(memory, region, line, slot);
}

void put(Memory& memory, Slot slot, const Elements& at, std::span<const float> numbers) {
  const Region& region = memory.regions.at(slot);
  check(!region.layout.beside, "floats of a value that stands in bytes");
  require_elements(region, at);
  std::size_t done = 0;
  for (const Line& line : at.lines()) {
    put_line(memory, region, line, numbers.subspan(done, as_size(line.count)));
    done += as_size(line.count);
  }
}

void put_codes(Memory& memory, Slot slot, const Elements& at, std::span<const std::int8_t> codes) {
  const Region& region = memory.regions.at(slot);
  check(!region.layout.beside && region.bits() == 8, "codes of a byte");
  require_elements(region, at);
  const std::int8_t* from = codes.data();
  for (const Line& line : at.lines()) {
    check(line.step == 1, "elements one behind the other");
    std::memcpy(memory.storage.data() + region.bit_of(line.begin) / 8, from, as_size(line.count));
    from += line.count;
  }
}

void write(Memory& memory, Slot slot, const Elements& at, std::span<const float> numbers) {
  claim(memory, slot, at);
  put(memory, slot, at, numbers);
}

void write(Memory& memory, Slot slot, const Elements& at, const Tensor& numbers) {
  Region& region = memory.regions.at(slot);
  if (!region.layout.beside) {
    const std::vector<float> floats(numbers.floats.begin(), numbers.floats.end());
    return write(memory, slot, at, floats);
  }
  claim(memory, slot, at);
  put_elements(region.data, at, numbers);
}

void take_buffer(Memory& memory, std::int64_t address, std::int64_t bytes, const std::string& who) {
  require_within(memory, address, bytes * 8, who);
  mark(memory, address * 8, (address + bytes) * 8, {tile_buffer, Place::nowhere});
}

void read(const Memory& memory, const Reading& reading, const Elements& at, std::span<float> numbers) {
  if (const JoinedRegion* joined = joined_of(memory, reading))
    return each_part(*joined, at, [&](const auto& part, const Elements& some, std::int64_t done) {
      read(memory, reading_of(part, reading), some, numbers.subspan(as_size(done), as_size(some.size())));
    });
  const Region& region = readable(memory, reading, at);
  check(!region.layout.beside, "floats of a value that stands in bytes");
  float* to = numbers.data();
  for (const Line& line : at.lines()) {
    take_line(memory, region, line, to);
    to += line.count;
  }
}

void read_codes(const Memory& memory, const Reading& reading, const Elements& at, std::span<std::int8_t> codes) {
  if (const JoinedRegion* joined = joined_of(memory, reading))
    return each_part(*joined, at, [&](const auto& part, const Elements& some, std::int64_t done) {
      read_codes(memory, reading_of(part, reading), some, codes.subspan(as_size(done), as_size(some.size())));
    });
  const Region& region = readable(memory, reading, at);
  check(!region.layout.beside && region.bits() == 8, "codes of a byte");
  std::int8_t* to = codes.data();
  const std::byte* from = memory.storage.data() + region.first_bit / 8;
  for (const Line& line : at.lines()) {
    if (line.step == 1)
      std::memcpy(to, from + line.begin, as_size(line.count));
    else
      for (std::int64_t i = 0; i < line.count; ++i)
        to[i] = std::to_integer<std::int8_t>(from[line.begin + i * line.step]);
    to += line.count;
  }
}

Tensor read(const Memory& memory, const Reading& reading, const Elements& at) {
  if (const JoinedRegion* joined = joined_of(memory, reading)) {
    Tensor all;
    each_part(*joined, at, [&](const auto& part, const Elements& some, std::int64_t) {
      const Tensor one = read(memory, reading_of(part, reading), some);
      all.type = one.type;
      all.floats.insert(all.floats.end(), one.floats.begin(), one.floats.end());
      all.ints.insert(all.ints.end(), one.ints.begin(), one.ints.end());
    });
    all.shape = {at.size()};
    return all;
  }
  const Region& region = readable(memory, reading, at);
  if (!region.layout.beside) {
    std::vector<float> floats(as_size(at.size()));
    read(memory, reading, at, floats);
    Tensor numbers{region.layout.type, {at.size()}, {}, {}};
    numbers.floats.assign(floats.begin(), floats.end());
    return numbers;
  }
  return elements_in(region.data, at);
}

void write_numbers(Memory& memory, Slot slot, const Elements& at, const Numbers& numbers) {
  if (memory.regions.at(slot).layout.beside) return write(memory, slot, at, tensor_of(numbers));
  write(memory, slot, at, std::span<const float>(numbers.floats));
}

Numbers read_numbers(const Memory& memory, const Reading& reading, const Elements& at, ElementType type) {
  const JoinedRegion* joined = joined_of(memory, reading);
  const auto region = memory.regions.find(joined == nullptr ? reading.slot : joined->parts.front().slot);
  if (region == memory.regions.end() || region->second.layout.beside) return numbers_of(read(memory, reading, at));
  Numbers numbers{type, Buffer<float>(as_size(at.size())), {}, {}};
  read(memory, reading, at, numbers.floats);
  return numbers;
}

const float* floats_in_place(const Memory& memory, const Reading& reading, const Elements& at) {
  if (joined_of(memory, reading) != nullptr) return nullptr;
  return floats_of(memory, readable(memory, reading, at));
}

const std::int8_t* codes_in_place(const Memory& memory, const Reading& reading, const Elements& at) {
  if (joined_of(memory, reading) != nullptr) return nullptr;
  const Region& region = readable(memory, reading, at);
  const bool in_bytes = region.layout.format == NumberFormat::int8 && !region.layout.beside;
  return in_bytes ? reinterpret_cast<const std::int8_t*>(memory.storage.data() + region.first_bit / 8) : nullptr;
}

float* floats_in_place(Memory& memory, Slot slot) { return floats_of(memory, memory.regions.at(slot)); }

}  // namespace sdip::exec
