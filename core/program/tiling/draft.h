// Between graph and program: instructions whose operands have no place yet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/program/program.h"
#include "core/program/tiling/tiles.h"
#include "core/program/tiling/tiling.h"

namespace sdip {

struct DraftOperand {
  ValueId value = none;  // after views are seen through
  Fetch fetch;           // its place still open; unused for a nest's own operands
  bool aligned = false;  // of an elementwise operator and not seen through a transposition: each element is read
                         // where the result's is made
};

/// One operator. A nest has its activations in operands[0] and, when it multiplies two activations, the second in
/// operands[1]; what follows belongs to fused operators. Weights and scalars are not operands.
struct Draft {
  NodeId node = none;         // the main one
  std::vector<NodeId> nodes;  // all that it computes, in graph order
  std::string mnemonic;
  Work work;
  std::vector<DraftOperand> operands;
  ValueId destination = none;
  std::int64_t out_elements = 0;
  bool weighted = false;     // a nest whose second operand is a weight
  bool elementwise = false;  // one pass, each output element from the element in the same place
  std::int64_t weight_elements = 0, bias_elements = 0, held_weight_elements = 0;
  std::vector<ValueId> weights;       // every weight it reads
  std::vector<std::string> fused;     // mnemonics behind the main one
  std::vector<Fetch> weight_fetches;  // of row-wise work and fused operators, from PSRAM
  const MappingRule* rule = nullptr;  // what the user says of its mapping
  std::vector<std::string> prologue;  // mnemonics before a nest, on its first operand as it is read
  std::int64_t prologue_passes = 0, statistics_passes = 0;  // as in InstructionClass
  bool prologue_sums = false;
  Compound compound = Compound::single;
  std::vector<Part> parts;
  bool line_buffers = false;
  std::int64_t spread_cores = 1;        // cores that share its groups; work and elements are of one core's part
  bool shares_channels = false;         // as a class's
  std::int64_t turned_run = 0;          // as in InstructionClass
  std::optional<Formats> formats = {};  // nothing: those of the machine
  List<Draft> apart;                    // of an attention, until chains are carried: the three that it was made of
};

/// Values of Concats that no instruction makes (part_views), by the values whose bytes they join, in order: these
/// are written to DRAM, where readers of the whole find them.
using Joined = std::map<ValueId, std::vector<ValueId>>;

/// Whether both read and write one format, and have one of their weights and one of their sums, so that they may be
/// one instruction.
bool share_formats(const Draft& a, const Draft& b, const Machine& machine);

/// A draft that another is about to be part of has the other's formats of weights and sums, and what stays of its
/// weights, if it has none of its own. Requires share_formats.
void take_formats(Draft& draft, const Draft& joined);

/// Whether a node makes no instruction: it gives another shape of the same bytes or, read in the other order, a
/// transpose, but for one whose order another operand says.
bool is_view(const Graph& graph, const Node& node, const Work& work, const Machine& machine);

/// One value's life in the program. Draft numbers; an input is made at -1, an output used once more at the end.
struct Life {
  std::int64_t bytes = 0;
  std::int32_t made = -1;
  List<std::int32_t> uses;  // ascending, each draft once
  bool is_input = false;
  bool leaves_by_dram = false;    // a result of the graph, unless it goes over the link
  bool in_dram = false;           // never whole on chip: written to and read from DRAM
  bool spilled = false;           // uses that find it no more in DSRAM read it from DRAM
  bool joined = false;            // of Joined: it has no bytes but its parts' in DRAM
  std::int32_t last_joined = -1;  // the last use of what it is a joined part of
  bool skips_dsram = false;       // waits in STACKRAM from the start, and all uses read it there
  // The next draft that writes to its DSRAM pair, on the other side, and the one after that, which overwrites it.
  std::int32_t next_writer = 0, overwriter = 1;
  DsramPair pair = {};
  bool in_dsram() const { return !in_dram && !skips_dsram && !uses.empty() && uses.front() < overwriter; }
  bool in_dsram_at(std::int32_t draft) const { return in_dsram() && draft < overwriter; }
  bool needs_stack() const { return !in_dram && !spilled && !uses.empty() && uses.back() >= overwriter; }
  /// The last use that reads DSRAM. Requires in_dsram().
  std::int32_t last_in_dsram() const { return *(std::ranges::lower_bound(uses, overwriter) - 1); }
};
/// The life of each value; lives of values that are no operands are empty.
using Lives = List<Life>;

/// Whether the result of a draft may take the place of its operand `o`: read once, each element where the result's
/// is made and written. A compound reads its operands again after results were written; so does a product that the
/// same value enters, as in x W + x.
bool may_replace(const Draft& draft, const DraftOperand& o);

/// Puts an elementwise draft behind the one that makes its operand: its other operands, weights and nodes are
/// added.
void join_behind(Draft& before, const Draft& next);

/// A value for the sums of a norm, two of each row, which lie in registers.
ValueId add_sums(Graph& graph, NodeId node, std::int64_t rows, List<ValueId>& roots);

/// Puts a norm, and what is fused behind it, before the nest that reads it. `makes_sums`: as the nest reads its
/// rows, the norm's sums are made, too.
void add_prologue(const Draft& norm, bool makes_sums, Draft& reader);

/// Leaves one of `cores` its part of a product's or an attention's heads. Requires that they divide the heads.
void spread(Draft& draft, std::int64_t cores);

/// Whether a draft is ONNX's Transpose, which may join the draft that makes its operand.
bool is_transpose(const Graph& graph, const Draft& draft);

/// How many neighbours of a Transpose's operand stay neighbours: the product of the trailing axes left in place.
/// Example: [2, 64, 8, 40] to [2, 8, 64, 40] leaves runs of 40.
std::int64_t run_left_by(const Graph& graph, const Node& transpose);

/// Makes the draft write its results in a Transpose's order. Requires that it makes the Transpose's operand.
void join_turned(const Graph& graph, Draft& before, const Draft& transpose);

/// The class of a draft whose operand number i lies where `place` says, its results and mapping apart.
InstructionClass class_of(const Draft& draft, const std::function<Place(std::size_t)>& place);

/// Mnemonics of all that a draft does, joined by "+".
std::string full_mnemonic(const Draft& draft);

/// How often the most frequent name occurs: uses of the busiest circuit.
std::int64_t most_uses(const std::vector<std::string>& names);

/// How many drafts read each value; outputs of the graph, values of which a part is read in place, and joined parts
/// counted once more.
std::vector<std::int32_t> use_counts(const Graph& graph, const List<Draft>& drafts, const List<ValueId>& roots,
                                     const Joined& joined);

/// Whether a value is part of the bytes that it shares, not all of them (part_views).
bool is_part(const Graph& graph, const List<ValueId>& roots, ValueId v);

/// Where every value lies and what each instruction finds there.
struct Placement {
  List<InstructionClass> classes_of_drafts;  // one a draft, mapping chosen
  List<Instruction> instructions;            // sources, pops and occupancy
};

/// The room that a mapping may use: bytes for tiles on the reading and writing side of DSRAM, and of PSRAM for
/// streamed weights.
struct TileRoom {
  std::int64_t read_bytes = 0, write_bytes = 0, weight_bytes = 0;
  std::int64_t buffers = 2;  // tiles in flight: 2 double-buffered, 1 not
  std::int64_t weight_buffers = 2;
  std::int64_t activation_bits = 16, accumulator_bits = 32;
  WeightForm form;
  TileSearch search = TileSearch::exact;  // how mappings of nests are found
  TileGoal goal = TileGoal::bytes;        // and what they save first
  bool weights_stay = false;              // in PSRAM, all of the stage's: loaded again they cost nothing
  std::int64_t burst_bytes = 1;           // to which DRAM transfers are rounded up
  bool weights_multiply = false;          // in their memory: each row with all channels of a tile at once
  friend auto operator<=>(const TileRoom&, const TileRoom&) = default;
};

/// The room that tiles may use of PSRAM (nothing when weights lie in place), how many are in flight, and formats;
/// the sides of DSRAM are left open.
TileRoom machine_room(const Machine& machine, WeightPlace weights);

/// The same for an instruction that may have formats of its own; tiles of a conversion have the room of the wider.
TileRoom room_for(const InstructionClass& c, const Machine& machine, WeightPlace weights);
void give_formats(TileRoom& room, const InstructionClass& c, const Machine& machine);

/// The nest of an instruction that has one.
Nest nest_of(const InstructionClass& c);

/// All of a nest as one tile.
Mapping whole_mapping(const Nest& nest);

/// The most bytes, or of their price, that goal balanced moves where `fewest` would do: a hundredth more.
constexpr std::int64_t most_balanced(std::int64_t fewest) { return fewest + fewest / 100; }

/// The smallest mapping of the loops that may be split.
Mapping least_mapping(const Nest& nest, const TileSizes& sizes);

/// The mapping of fewest DRAM bytes, then fewest folds at reference widths, then smallest tiles (decision 6 of the
/// machine's reference; core/program/tiling/tiling.h); nothing when even the smallest tile does not fit. Tiles
/// below a reference size of 2^18 result elements are taken only when larger ones do not fit or move more. Channels
/// and sums are cut in multiples of 32, finer where nothing so coarse has room in what that takes; columns and sums
/// only where that moves fewer bytes. With tile_search=exact and tile_goal=bytes it has no more dram_bytes than in
/// less room. A rule's mapping is what it says, or nothing when that does not fit. The room says how a nest's
/// mapping is searched for (docs/model/tiling.md#search): greedy and sampled ones are never of fewer bytes; with
/// goal cycles none of the same search takes fewer cycles on the reference machine.
std::optional<Mapping> choose_mapping(const InstructionClass& c, const TileRoom& room,
                                      const MappingRule* rule = nullptr);

/// Bytes of the tile buffers that a class with its mapping occupies on each side of DSRAM, beside whole operands.
struct TileBuffers {
  std::int64_t read_bytes = 0, write_bytes = 0;
};

/// The answer of choose_mapping, and ranges of room.weight_bytes and of the sides of DSRAM, with these in them, for
/// which it says the same; of a side for which that is not known, none. Sound by construction: of a room the
/// searches know only what an AskedCapacity answers, so that it is the same for all larger ones with these answers;
/// and since they take the best of what fits, for all smaller ones in which the mappings that decided fit. Not the
/// whole step: they ask for mappings that then lose, too. It is everything where weights lie in place (a room of
/// 0). Worked example: a linear layer of one row of 8 sums by 64 channels, 16 bit, all operands on chip,
/// double-buffered weights: in 2,048 B the whole layer fits, from there on; in 2,047 B one granule of 32 channels,
/// and all that it is asked for is 1,024 B and 2,048 B.
struct MappingStep {
  std::optional<Mapping> mapping;
  CapacityRange weight_room, read_room = no_capacity, write_room = no_capacity;
  bool holds(const TileRoom& room) const {
    return weight_room.holds(room.weight_bytes) && read_room.holds(room.read_bytes) &&
           write_room.holds(room.write_bytes);
  }
  friend bool operator==(const MappingStep&, const MappingStep&) = default;
};

/// The parts of a room as a search for a mapping meets them.
struct AskedRoom {
  AskedCapacity read, write, weights;
  explicit AskedRoom(const TileRoom& room)
      : read(room.read_bytes), write(room.write_bytes), weights(room.weight_bytes) {}
  bool holds(const TileBuffers& buffers) const {
    return read.holds(buffers.read_bytes) && write.holds(buffers.write_bytes);
  }
};

MappingStep mapping_step(const InstructionClass& c, const TileRoom& room, const MappingRule* rule = nullptr);

/// Why what the rule says is no mapping of this class in this room: a sentence with the bytes that are missing.
std::string misfit_of(const MappingRule& rule, InstructionClass c, const TileRoom& room);

/// DRAM bytes of an instruction with its mapping, one core: each transfer in whole bursts, as the estimate and the
/// executor count them, but for weights that stay in PSRAM. Worked example: 10 elements of 8 bit from DRAM and as
/// many results to it in tiles of 4, bursts of 4: 3 + 3 bursts, 24 bytes.
std::int64_t dram_bytes(const InstructionClass& c, const TileRoom& room);

/// A nest that is one instruction, with the mapping that moves no more DRAM bytes than any other in whatever room:
/// all of it as one tile. Where tiles leave out what lies between the positions that they read, A is on chip.
InstructionClass least_moving(InstructionClass c);

/// Cycles of an instruction with its mapping on the reference machine (docs/model/tiling.md#options-of-the-search),
/// one core: those of a nest's array and port, or of the work of its parts, or of its dram_bytes at 64 a cycle, of
/// which the most. Worked example: row-wise work of 1,000 elements in one pass, 16 bit, from DRAM and back: 4
/// cycles of 256 elements, but 4,000 bytes: 63 cycles.
std::int64_t reference_cycles(const InstructionClass& c, const TileRoom& room);

/// Bytes that all copies of a nest's second operand move, each loaded once by itself in tiles of so many channels
/// and sums. Requires a nest without several groups of weights.
std::int64_t second_operand_bytes(const InstructionClass& c, const TileRoom& room, std::int64_t channels,
                                  std::int64_t sums);

/// The buffers that a class with its mapping needs.
TileBuffers tile_buffers(const InstructionClass& c, const TileRoom& room);

/// The bytes by which the tiles of a class with its mapping exceed each room, with so many weight tiles in flight.
struct MissingBytes {
  std::int64_t read_bytes = 0, write_bytes = 0, weight_bytes = 0;
  bool none() const { return read_bytes == 0 && write_bytes == 0 && weight_bytes == 0; }
};
MissingBytes missing_bytes(const InstructionClass& c, const TileRoom& room, std::int64_t weight_buffers);

}  // namespace sdip
