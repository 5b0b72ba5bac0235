// Finds which instructions must have retired before one starts: who wrote the bytes that it reads, who wrote or
// reads those that it writes, and the one of its family before it, behind which the pair's sides swap. Each memory
// is cut into stretches of equal history: who wrote it last, and the last of each family to read it since.
//
// As each waits for the one of its family before it, what has retired is known by the latest of each family. A mark
// is left out when another one's instruction had waited for it.
//
// Example: conv2d 0 makes a of x, softmax 1 makes b of a, conv2d 2 makes c of x, conv2d 3 makes d of c, all on
// chip. 1 waits for 0, whose result it reads; so does 2, the next convolution, whose pair's sides must have
// swapped. 3 reads what 2 wrote, and writes where a lies, which 1 reads: it waits for 1 and 2, and through these
// for 0.
#include "core/program/form/marks.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/base/error.h"
#include "core/program/form/form.h"
#include "core/program/kinds.h"

namespace sdip {
namespace {

/// The latest instruction of each family, or -1.
using Latest = std::array<std::int32_t, pair_families>;
constexpr Latest nobody = [] {
  Latest latest{};
  latest.fill(-1);
  return latest;
}();

void raise(Latest& latest, const Latest& other) {
  for (std::size_t f = 0; f < latest.size(); ++f) latest[f] = std::max(latest[f], other[f]);
}

/// A memory's bytes: who wrote them last and who read them since. Stretches by their first byte.
struct History {
  struct Stretch {
    std::int32_t writer = -1;
    Latest readers = nobody;
  };
  std::map<std::int64_t, Stretch> stretches{{0, {}}};

  auto cut_at(std::int64_t address) {
    const auto next = stretches.upper_bound(address);
    const auto here = std::prev(next);
    return here->first == address ? here : stretches.emplace_hint(next, address, here->second);
  }
};

/// Bytes of a memory that an instruction touches. Memories: two sides of each pair, STACKRAM, DRAM.
struct Touched {
  std::size_t memory = 0;
  std::int64_t begin = 0, end = 0;
};
constexpr std::size_t stackram_number = 2 * pair_families, dram_number = stackram_number + 1;
constexpr std::int64_t most_stretches = 100'000'000;  // looked at; a compiled program has a few for each operand

class Marker {
 public:
  explicit Marker(const Marking& program)
      : program_(program),
        maker_(program.graph.values.size(), -1),
        first_of_node_(program.graph.nodes.size(), -1),
        sums_of_node_(program.graph.nodes.size(), -1),
        waited_(program.instructions.size(), nobody) {
    for (NodeId n = 0; n < std::ssize(program.graph.nodes); ++n)
      node_named_.try_emplace(program.graph.nodes[n].name, n);
  }

  bool too_many() const { return looked_at_ > most_stretches; }

  /// The instructions that instruction i, the next one, must wait for: of each family the latest.
  Latest needs_of(std::size_t i) {
    needs_ = nobody;
    now_ = static_cast<std::int32_t>(i);
    const Instruction& instruction = program_.instructions[i];
    if (ordinals_[family(now_)] > 0) need(last_[family(now_)]);
    for (const PlacedOperand& source : instruction.sources) read(source);
    const InstructionClass& c = *program_.classes[i];
    const std::size_t reads = side(family(now_), ordinals_[family(now_)]), writes = reads ^ 1;
    for (const auto& [memory, tiles] :
         {std::pair{reads, instruction.read_tiles}, {writes, instruction.write_tiles}})
      touch({memory, tiles.address.value, tiles.address.value + tiles.bytes.value}, true);
    const std::int64_t bytes = value_bytes(program_.graph, instruction.destination, program_.machine).value;
    const auto write = [&](bool there, std::size_t memory, Bytes address) {
      if (there) touch({memory, address.value, address.value + bytes}, true);
    };
    write(c.to_dsram, writes, instruction.dsram_address);
    write(c.push, stackram_number, instruction.stackram_address);
    write(c.to_dram, dram_number, instruction.dram_address);
    need_registers(instruction);
    ++ordinals_[family(now_)];
    last_[family(now_)] = now_;
    return needs_;
  }

  /// Whether what i has waited for, when those in `after` have retired, has all of `needs`.
  std::int32_t missing(std::size_t i, const Latest& needs, const std::vector<std::int32_t>& after) {
    for (const std::int32_t j : after) raise(waited_[i], with(j));
    for (std::size_t f = 0; f < needs.size(); ++f)
      if (needs[f] > waited_[i][f]) return needs[f];
    return -1;
  }

  std::vector<std::int32_t> fewest(const Latest& needs) const {
    std::vector<std::int32_t> after;
    for (const std::int32_t j : needs) {
      const auto implies = [&](std::int32_t other) {
        return other >= 0 && other != j && waited_[other][family(j)] >= j;
      };
      if (j >= 0 && std::ranges::none_of(needs, implies)) after.push_back(j);
    }
    std::ranges::sort(after);
    return after;
  }

 private:
  std::size_t family(std::int32_t i) const { return at(program_.classes[i]->work.family); }
  /// The first instruction of a family reads side 0 and writes side 1.
  static std::size_t side(std::size_t pair, std::int32_t ordinal) { return 2 * pair + (ordinal % 2 == 0 ? 0 : 1); }

  Latest with(std::int32_t j) const {
    Latest latest = waited_[j];
    latest[family(j)] = std::max(latest[family(j)], j);
    return latest;
  }

  void need(std::int32_t j) {
    if (j >= 0 && j != now_) needs_[family(j)] = std::max(needs_[family(j)], j);
  }

  Touched bytes_of(const PlacedOperand& source) const {
    const std::int64_t bytes = value_bytes(program_.graph, source.value, program_.machine).value;
    std::size_t memory = source.place == Place::stackram ? stackram_number : dram_number;
    if (source.place == Place::dsram && source.pair) {
      const auto pair = at(*source.pair);
      memory = side(pair, ordinals_[pair]) ^ (source.older ? 1 : 0);
    } else if (source.place != Place::stackram && source.place != Place::dram) {
      return {};
    }
    return {memory, source.address.value, source.address.value + bytes};
  }

  /// Reads a source; the bytes of a joined value lie where its parts were written.
  void read(const PlacedOperand& source) {
    const auto joined = program_.joined.find(source.value);
    if (joined == program_.joined.end()) return touch(bytes_of(source), false);
    for (const ValueId part : joined->second) {
      const std::int32_t maker = maker_[part];
      if (maker < 0) continue;
      need(maker);
      const std::int64_t from = program_.instructions[maker].dram_address.value;
      touch({dram_number, from, from + value_bytes(program_.graph, part, program_.machine).value}, false);
    }
  }

  void touch(const Touched& bytes, bool writes) {
    if (bytes.begin >= bytes.end || too_many()) return;
    History& history = histories_[bytes.memory];
    const auto first = history.cut_at(bytes.begin), end = history.cut_at(bytes.end);
    for (auto stretch = first; stretch != end; ++stretch, ++looked_at_) {
      need(stretch->second.writer);
      if (!writes) {
        stretch->second.readers[family(now_)] = now_;
        continue;
      }
      for (const std::int32_t reader : stretch->second.readers) need(reader);
    }
    if (!writes) return;
    history.stretches.erase(std::next(first), end);
    first->second = {now_, nobody};
  }

  /// Waits for values that lie in no memory: numbers in general registers, the sums of a norm, further results of
  /// one operator.
  void need_registers(const Instruction& instruction) {
    for (const NodeId n : instruction.nodes) {
      for (const ValueId v : program_.graph.nodes[n].inputs)
        if (v != none) need(maker_[program_.roots[v]]);
      need(sums_of_node_[n]);
      const std::int32_t first = first_of_node_[n];
      if (first < 0) first_of_node_[n] = now_;
      if (first >= 0 && makes_several(program_.graph.nodes[n])) need(first);
    }
    maker_[instruction.destination] = now_;
    if (!instruction.nodes.empty()) return;
    const auto norm = node_named_.find(instruction.name);
    if (norm != node_named_.end()) sums_of_node_[norm->second] = now_;
  }

  const Marking& program_;
  std::array<History, dram_number + 1> histories_{};
  std::array<std::int32_t, pair_families> ordinals_{}, last_ = nobody;
  List<std::int32_t> maker_, first_of_node_, sums_of_node_;
  std::map<std::string_view, NodeId> node_named_;
  List<Latest> waited_;
  Latest needs_ = nobody;
  std::int32_t now_ = 0;
  std::int64_t looked_at_ = 0;
};

}  // namespace

void give_pairs(const std::vector<PlacedOperand>& sources, InstructionClass& c) {
  std::size_t own = 0;
  const auto next = [&](Place place) {
    const PlacedOperand source = own < sources.size() ? sources[own] : PlacedOperand();
    ++own;
    return place == Place::dsram && source.place == Place::dsram ? source.pair : DsramPair();
  };
  if (is_nest(c.work.family) || c.compound == Compound::strips) {
    c.pair_a = next(c.operand_a);
    if (c.operand_b != Place::psram) c.pair_b = next(c.operand_b);
  }
  for (Part& part : c.parts) {
    if (c.compound == Compound::attention && &part == &c.parts.back()) part.pair_b = next(part.operand_b);
    if (c.compound != Compound::strips) continue;
    if (is_nest(part.work.family) && part.operand_b != Place::psram) part.pair_b = next(part.operand_b);
    for (Fetch& fetch : part.fetches)
      if (fetch.place != Place::psram) fetch.pair = next(fetch.place);
  }
  for (Fetch& fetch : c.fetches) {
    if (fetch.place == Place::psram) continue;
    while (own < sources.size() && sources[own].place == Place::scalar) ++own;
    fetch.pair = next(fetch.place);
  }
}

void mark(const Marking& program, const std::function<void(std::size_t, const std::string&)>& refuse) {
  Marker marker(program);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Latest needs = marker.needs_of(i);
    if (marker.too_many()) refuse(i, "addresses that cut memories into too many pieces");
    std::vector<std::int32_t>& after = program.instructions[i].after;
    if (after == unsaid_marks) after = marker.fewest(needs);
    const std::int32_t missing = marker.missing(i, needs, after);
    if (missing >= 0) refuse(i, fmt::format("after: expected {}, or one that waited for it", missing));
  }
}

}  // namespace sdip
