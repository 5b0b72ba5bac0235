// Executes a compiled program, instruction by instruction and tile by tile, on the memories of one core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/stop.h"
#include "core/base/tensor.h"
#include "core/exec/clock/transfers.h"
#include "core/program/program.h"
#include "core/program/weights/weights.h"

namespace sdip {

/// The values of a weight whose bytes stand in a file; nothing where there are none. As `compute` takes them.
using StoredTensors = std::function<std::optional<Tensor>(const Value&)>;

/// For each value, what a step of an integer activation format stands for and, in unsigned formats, the code of 0.
using ActivationScales = std::map<ValueId, WeightScale>;

/// Is handed each instruction's result as it lies in memory when the instruction retires.
using ResultObserver = std::function<void(ValueId, const Tensor&)>;

/// Is handed what each instruction's tile operations moved when it retires: its number in the program.
using TransferObserver = std::function<void(std::size_t instruction, InstructionTransfers moved)>;

/// Counts of what was done, so that a test can see that it was done. Times are found elsewhere (core/exec/clock).
struct RunCounts {
  std::int64_t instructions = 0, tile_operations = 0;
  std::int64_t partial_tiles = 0;    // tiles of partial sums that left the chip and came back
  std::int64_t whole_operators = 0;  // computed on whole operands by the operator's own arithmetic
  std::int64_t recomputed_rows = 0;  // of strips: rows made again for a neighbouring strip
  std::int64_t rescaled_tiles = 0;   // of attention: key tiles after a row's first
};

struct Run {
  std::vector<Tensor> outputs;  // as the graph lists them
  RunCounts counts;
};

/// Bytes of a weight as a file has them: elements of the graph's type, row-major and little-endian. `kept` keeps
/// them where they are.
struct StoredBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> kept{};
};
using StoredByteSource = std::function<std::optional<StoredBytes>(const Value&)>;

/// How a program is executed; its results do not depend on it.
struct ExecuteOptions {
  ActivationScales scales{};
  std::vector<std::int32_t> order{};  // of instructions; none: as they stand
  std::int64_t threads = 1;
  StoredByteSource mapped{};  // weights whose bytes are at hand: asked before `stored`
  std::function<void(std::size_t done, std::size_t all)> progress{};  // after each instruction
  Stop stop{};                                                        // asked before each tile operation at least
  ResultObserver observe{};                                           // behind each instruction that makes a value
  TransferObserver moved{};                                           // behind each instruction
  /// An instruction that moves other than the clock charges it fails (core/exec/clock/charges.h).
  bool charged = false;
  bool sums_of_inputs = false;  // registers have the sums of norms of inputs, as if made before the program
};

/// Runs one pass of the program on one core. `inputs` are the graph's, in order. Elements live in memory in
/// `activation_format` and weights in `weight_format` (docs/model/executor.md). Requires the machine of the
/// compilation. Throws Error("shape_mismatch", ...) when `inputs` are not what the graph takes,
/// ("not_computable", ...) for random numbers and weights without values, ("scale_absent", ...) for an integer
/// activation format without a scale, and ("execution_failed", instruction, ...) when an instruction reads what was
/// never written, was overwritten or lies outside its memory. `order`: numbers of the instructions in another order
/// in which each comes behind those that it waits for (Instruction::after); none: as they stand.
Run execute(const CompiledStage& stage, const Machine& machine, std::span<const Tensor> inputs,
            const StoredTensors& stored, const ActivationScales& scales = {},
            std::span<const std::int32_t> order = {});

/// The same as `options` say. Throws Error("cancelled", ...) when it was.
Run execute(const CompiledStage& stage, const Machine& machine, std::span<const Tensor> inputs,
            const StoredTensors& stored, const ExecuteOptions& options);

/// The same with the weights of a `.weight` file alone. Throws what reading it throws, too, and
/// Error("not_computable", ...) for a weight that stands neither there nor in the program.
Run execute(const CompiledStage& stage, const Machine& machine, std::span<const Tensor> inputs,
            const WeightFile& weights, const ActivationScales& scales = {});

/// The weights of a `.weight` file as a graph's computation takes them: each as the first instruction that reads it
/// gets it.
StoredTensors stored_in(const WeightFile& weights);

/// Scales by which an integer activation format just holds what the graph computes from `inputs`: calibrated_scales
/// (core/exec/run/calibration.h) of this one sample by min-max. Empty for formats that need none. Throws what
/// `compute` throws.
ActivationScales activation_scales(const Graph& graph, const Machine& machine, std::span<const Tensor> inputs,
                                   const StoredTensors& stored, const Stop& stop = {});

/// Memory that one execution takes at most, told beforehand: pages of the machine's memories that the program's
/// values and buffers touch; weights that are held at once, were none mapped; tiles and pieces of results on their
/// way. Requires the machine of the compilation.
struct ExecutionMemory {
  std::int64_t memories_bytes = 0, weights_bytes = 0, tiles_bytes = 0;
  std::int64_t bytes() const { return memories_bytes + weights_bytes + tiles_bytes; }
};
ExecutionMemory execution_memory(const CompiledStage& stage, const Machine& machine);

/// Work of executing a stage and of computing its graph: multiply-accumulates and elements, and bytes that both
/// keep of weights and activations.
struct ExecutionWork {
  double operations = 0, bytes = 0;
};
ExecutionWork execution_work(const CompiledStage& stage);

}  // namespace sdip
