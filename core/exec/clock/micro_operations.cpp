// Micro-operations, listed one by one, and the words that instructions take.
#include "core/exec/clock/operations.h"

namespace sdip::exec {
namespace {

using Micros = std::vector<Micro>;

struct Lister {
  const InstructionClass& c;
  bool rom;
  Micros list{};

  Lister(const InstructionClass& of, const Machine& m, Role role) : c(of), rom(weights_wired(m, role)) {}

  void add(Micro one, Count times = 1) {
    for (Count i = 0; i < times; ++i) list.push_back(one);
  }
  bool in_memory(Place place) const {
    switch (place) {
      case Place::nowhere:
      case Place::scalar:
        return false;
      case Place::psram:
        return !rom;
      default:
        return true;
    }
  }
  void read(Place place, Count times = 1) {
    if (in_memory(place)) add(Micro::read, times);
  }
  void write_results() {
    if (c.to_dsram || c.to_dram) add(Micro::write);
    if (c.push) add(Micro::write);
  }
};

}  // namespace

Micros micro_operations_of_nest(const InstructionClass& c, const Machine& m, Role role, bool first, bool last) {
  Lister l(c, m, role);
  l.read(c.operand_a);
  l.add(Micro::pass, c.prologue_passes);
  l.read(c.operand_b);
  if (!first) l.add(Micro::read);
  l.add(Micro::product);
  if (!last) {
    l.add(Micro::write);
    return l.list;
  }
  for (const Fetch& f : c.fetches) l.read(f.place);
  l.add(Micro::pass, c.fused_operators);
  l.add(Micro::pass, c.statistics_passes);
  l.write_results();
  return l.list;
}

Micros micro_operations_of_rows(const InstructionClass& c, const Machine& m, Role role, Count apart, bool last) {
  Lister l(c, m, role);
  const bool host = host_computes(c, m);
  if (host) l.rom = false;  // the host has no wires
  for (const Fetch& f : c.fetches) {
    const bool in_each_pass = f.passes >= apart;
    if (!in_each_pass && !last) continue;
    const Count times = in_each_pass ? f.passes / apart : f.passes;
    l.read(f.place, f.per_fold && !host ? times : 1);
  }
  l.add(Micro::pass, host ? 1 : c.work.passes / apart);
  if (!last) return l.list;
  if (!host) l.add(Micro::pass, c.fused_operators + c.statistics_passes);
  l.write_results();
  return l.list;
}

Micros micro_operations_of_attention(const InstructionClass& c, const Machine& m, Role role, bool rescales,
                                     bool divides) {
  Lister l(c, m, role);
  l.add(Micro::read, 2);  // scores: q and k
  l.add(Micro::product);
  for (const Fetch& f : c.fetches) l.read(f.place);
  l.add(Micro::pass, c.fused_operators);
  l.add(Micro::write);
  for (int pass = 0; pass < 2; ++pass) {  // softmax: maximum; exponentials
    l.add(Micro::read);
    l.add(Micro::pass);
  }
  l.add(Micro::write);
  l.add(Micro::read);  // running maxima and sums
  l.add(Micro::write);
  if (rescales) {
    l.add(Micro::read);
    l.add(Micro::pass);
    l.add(Micro::write);
  }
  l.add(Micro::read, 2);  // probabilities and values
  if (rescales) l.add(Micro::read);
  l.add(Micro::product);
  l.add(Micro::write);
  if (!divides) return l.list;
  l.add(Micro::read, 2);  // accumulators and sums
  l.add(Micro::pass);
  l.write_results();
  return l.list;
}

Count words_bytes(const Instruction& instruction, const std::vector<Operation>& operations, const Machine& m) {
  Count words = 0;
  switch (m.granularity) {
    case Granularity::per_operator:
      words = instruction.words;
      break;
    case Granularity::per_tile:
      for (std::size_t i = 0; i < operations.size(); ++i) words += instruction.words;
      break;
    case Granularity::micro_operation:
      for (const Operation& o : operations) words += 2 * o.commands;
      break;
  }
  return 32 * words;
}

}  // namespace sdip::exec
