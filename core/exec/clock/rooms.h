// The activation memories of a core by address: what each instruction finds there, opens and leaves. Internal to
// its room.
//
// Before an instruction stand what others left it. It opens its tile buffers and its result; when it retires, its
// buffers go and with them what it was the last to read. A result may take the place of an operand that goes. Sides
// of DSRAM swap by instruction; with a pair for each family, by instruction of the family: there those that read
// may still run, so what was read stays until its place is taken or its side is written. A pass begins with the
// inputs.
//
// Worked example: 8 B that instruction 0 makes and 1 reads, 4 B that 1 makes: 0 occupies 8 B of side 1 and 1 these
// and 4 B of side 0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/program/program.h"

namespace sdip::exec {

/// The highest byte in use while an instruction runs: of the sides that its family's instructions read and write
/// now, and of STACKRAM. In a unified memory `stackram` is that of all.
struct Occupancy {
  std::int64_t read_side = 0, write_side = 0, stackram = 0;
  friend bool operator==(const Occupancy&, const Occupancy&) = default;
};

class Rooms {
 public:
  /// The stage must outlive it.
  Rooms(const CompiledStage& stage, const Machine& machine);

  void start_pass();

  /// Instruction `i`, in the order of the program. Throws Error("execution_failed", name, ...) when it reads what
  /// is not there, or opens what lies outside its memory or upon what is still needed.
  Occupancy run(std::size_t i);

 private:
  struct Held {
    std::int64_t bytes = 0;
    ValueId value = none;  // none: a tile buffer
    bool dies = false;     // with the instruction now running
  };
  using Memory = std::multimap<std::int64_t, Held>;  // by address

  std::size_t side(Family family, std::int64_t turn) const;
  std::size_t place_of(const PlacedOperand& source, std::size_t i) const;
  void read(const PlacedOperand& source, std::size_t i);
  void open(std::size_t memory, std::int64_t address, std::int64_t bytes, ValueId value, std::size_t i);
  bool is_last_use(std::size_t memory, ValueId value, std::size_t i) const;
  bool was_read(std::size_t memory, ValueId value, std::size_t i) const;
  std::int64_t highest_byte(std::size_t memory) const;
  [[noreturn]] void fail(std::size_t i, const std::string& what) const;
  Family family_of(std::size_t i) const;

  const CompiledStage& stage_;
  const Machine& machine_;
  const bool unified_, pairs_;
  List<std::int64_t> bytes_;                      // of each value
  std::vector<std::vector<std::int64_t>> turns_;  // by instruction: of each family, those before it
  List<std::int64_t> last_read_;                  // by value: the last instruction that reads it in DSRAM, or -1
  List<char> pushed_;                             // by value: it waits in STACKRAM
  List<std::int64_t> popped_;                     // by value: the instruction that pops it, or none
  std::map<std::pair<std::size_t, std::int64_t>, ValueId> inputs_;  // memory and address
  std::vector<Memory> memories_;                                    // DSRAM's sides, of each family; STACKRAM last
};

}  // namespace sdip::exec
