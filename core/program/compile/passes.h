// The compiler's passes: what each is given and leaves, and their order.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/schedule.h"
#include "core/program/tiling/draft.h"
#include "core/program/tiling/mapping_cache.h"

namespace sdip {

struct FrontCache;

/// One stage on its way from graph to program; each pass fills or changes a part.
struct Compilation {
  const Machine& machine;
  Role role = Role::network;
  SeriesPart part;
  std::shared_ptr<const Graph> graph;  // a pass that changes it makes its own copy
  List<ValueId> roots;                 // by value: the value whose bytes it shares (views)
  List<Draft> drafts;
  Lives lives;
  Placement placement;
  Program program;
  std::optional<std::string> infeasible;  // why; later passes do not run
  std::string_view stage{};
  std::span<const MappingRule> mapping_rules{};
  bool say_needed_bytes = true;
  std::vector<std::int64_t> rules_met{};  // how many layers each rule matched, all stages so far
  std::span<const FormatRule> format_rules{};
  std::vector<std::int64_t> formats_met{};  // the same of these
  std::shared_ptr<MappingCache> mappings = std::make_shared<MappingCache>();
  std::shared_ptr<KnownWindows> windows = std::make_shared<KnownWindows>();
  FrontCache* fronts = nullptr;  // what earlier compilations found out; may be absent
  const Stop* stop = nullptr;
  Joined joined{};
  CapacityRange psram_bytes{};  // with which every decision so far would have been the same
  std::int64_t chip_share =
      1;  // chains of products are cut as if values of up to so small a part of a DSRAM lay there
  std::shared_ptr<const Graph> made_again{};  // the graph behind pass `recompute`, where that has its say
  std::vector<std::vector<NodeId>> strips{};  // nodes of each instruction that carries strips
};

/// A compilation of the same stage and mapping rules, of a graph in which formats are said.
Compilation asked_alike(const Compilation& from, const Machine& machine, std::shared_ptr<const Graph> graph);

/// The needs of a pass of the stage on one core: bytes of DRAM, and cycles on the reference machine. Requires
/// places.
struct PassNeeds {
  Int128 bytes = 0, cycles = 0;
};
PassNeeds pass_needs(const Compilation& c);

/// use_counts of a compilation's drafts.
std::vector<std::int32_t> use_counts(const Compilation& c);

/// Takes a range of room for weights that a decision of the compilation rests on.
void narrow_psram(Compilation& c, const CapacityRange& weight_room);

inline const Shape& shape_of(const Graph& graph, ValueId v) { return graph.values[v].operand.shape; }

bool is_softmax_of_last_axis(const Graph& graph, const Node& node);

/// `reason` says why the pass stands where it does.
struct Pass {
  std::string_view name, reason;
  void (*run)(Compilation&);
};

/// All passes in the order they run.
std::span<const Pass> passes();

/// split_products: a product with weights whose result is only cut along its channels becomes one for each piece
/// (split_products), where the copies are more than the operand, which comes again for each.
/// Example: x W, W [320, 2560], Split into two of 1280 channels become x W_0 and x W_1.
void split_products(Compilation& c);

/// factor_weights: a linear operator becomes two thinner ones where that is fewer weights (low_rank).
/// Example: x W with W [8, 16] at rank 2 becomes (x A) B, 48 weights for 128.
void factor_weights(Compilation& c);

/// load_constants: where a product's first operand is a constant, an sdip.Copy makes it an activation.
/// Example: MatMul(W, x) becomes MatMul(Copy(W), x): a copy, which fetches W, and a matmul.
void load_constants(Compilation& c);

/// Each result of the graph becomes a copy, so that a program has instructions though no operator makes one: its
/// results are constants, other shapes of inputs, or without elements.
void copy_results(Compilation& c);

/// say_formats: values, weights and sums of layers are kept in the formats that the user says; where a layer reads
/// what another format holds, an sdip.Convert stands before it. An elementwise operator of which nothing is said
/// works in the format of its first operand, all else in that of the machine. Example: fp16 machine, "conv*"
/// activations=int8: x -> Convert -> conv -> Relu -> Convert -> softmax.
void say_formats(Compilation& c);

/// recompute: with skip_handling=recompute, what would wait in DRAM is made again just before it is read where
/// that moves fewer bytes, the weights read again included.
/// Example: n = LayerNorm(x) is read by q, k and v, STACKRAM holds x alone: k and v get norms of their own.
void recompute(Compilation& c);

/// lower: one draft an operator, in graph order; views and constants make none. When nothing is left to do, results
/// are copied (copy_results). Infeasible when an operator's work is beyond 2^50, so that sums fit 64 bits.
/// Example: Conv, Reshape, Transpose, MatMul become conv2d, transpose, linear; the Reshape's output is the Conv's
/// bytes.
void lower(Compilation& c);

/// fuse_attention: scores, what is fused to them and their softmax join the product with the values, when nothing
/// else reads scores or probabilities.
/// Example: matmul(q, k), add(mask), softmax, matmul(v) become one "attention+add", which fetches q, k, v and mask.
void fuse_attention(Compilation& c);

/// fuse_pointwise: an elementwise operator joins the operator just before it when it alone uses that result. One
/// that stands farther back is moved behind the others in between when these make fewer elements than it does.
/// Example: conv2d, silu, add(residual) become one "conv2d+silu+add" that also fetches the residual; conv2d,
/// linear (of the time embedding), add become linear, "conv2d+add".
void fuse_pointwise(Compilation& c);

/// fuse_norm: a norm, with what is fused behind it, whose result only nests read as their first operand becomes
/// their prologue. Its sums come from an instruction of their own, from the producer of its operand
/// (norm_statistics=producer), or, of a norm over the summed channels of each row, from the prologue itself. A norm
/// that stays one instruction reads its operand once when the producer makes its sums.
/// Example: groupnorm+silu, conv2d become "groupnorm_sums" and "groupnorm+silu+conv2d", which reads the operand of
/// the norm; with norm_statistics=producer the instruction before makes the sums and one is left.
void fuse_norm(Compilation& c);

/// fuse_chains: products with weights one behind the other, with norms of rows and elementwise operators between,
/// become instructions that carry strips of rows through the whole chain; cut where that moves the fewest DRAM
/// bytes. Example: the feed-forward x W_v, gelu(x W_g) v, h W becomes one instruction; v and h never leave the
/// chip.
void fuse_chains(Compilation& c);

/// fuse_strips: chains of convolutions, with pooling, nearest enlargement and elementwise operators between, become
/// instructions that carry strips of rows through the whole chain; cut where that moves the fewest DRAM bytes.
/// Example: four 3x3 convolutions whose tensors do not fit in DSRAM become one instruction that reads the first
/// tensor and writes the last, if their weights fit in PSRAM together.
void fuse_strips(Compilation& c);

/// turn: with transposition=static a Transpose joins the instruction that makes its operand, when nothing else
/// reads that and writing run by run takes no longer than the Transpose it saves: results are written in its order.
/// Example: linear, Transpose of heads become one "linear+transpose", whose results are written 40 neighbours at a
/// time.
void turn(Compilation& c);

/// spread_branches: heads of products of two activations and of attentions, groups of products of weights, and with
/// branches=channels the output channels of those of one group, are shared by cores that have no frame of their own
/// (roles network and text_encoder). Example: 12 heads on 8 cores become 2 heads on each of 6.
void spread_branches(Compilation& c);
/// Whether a stage's cores share one frame: else each has a frame, or a part of the network, of its own.
bool shares_cores(Role role, const SeriesPart& part);

/// schedule: the order of least peak live bytes, with schedule=least_live (core/program/schedule.h); drafts change
/// places. Example: two branches that begin together are run one after the other.
void schedule(Compilation& c);

/// pack: with a DSRAM pair for each family, independent drafts of different families stand next to each other, so
/// that their instructions overlap (core/program/pack.h). Example: conv2d, norm of it, linear of x: the linear
/// comes before the norm and runs beside the convolution.
void pack(Compilation& c);

/// live: who uses what until when, and what can never be whole on chip.
void live(Compilation& c);

/// say_mappings: what the user says of layers' mappings, and of where their results lie, becomes part of the drafts
/// and lives.
void say_mappings(Compilation& c);

/// keep_said: infeasible when a result that was said to stay on chip does not.
void keep_said(Compilation& c);

/// place: DSRAM ping-pong, STACKRAM, spills to DRAM, and a mapping for each instruction. Infeasible when even the
/// smallest tile of one does not fit.
void place(Compilation& c);

/// depend: with a DSRAM pair for each family, what each instruction waits for (core/program/form/marks.h). Example:
/// conv2d 0, softmax 1 of its result, conv2d 2 of x, conv2d 3 of that: 3 waits for 2, and for 1, which reads what
/// it overwrites.
void depend(Compilation& c);

/// Which drafts' weights stay in PSRAM, and the bytes of it that all of them would take. All stay where these fit,
/// else, in draft order, what psram_pinned_bytes hold; drafts that read the same weights in the same tiles share
/// them.
struct Staying {
  std::vector<char> by_draft;
  std::int64_t needed_bytes = 0;
};
Staying staying_weights(const Compilation& compilation, std::span<const InstructionClass> classes,
                        const AskedCapacity& psram);

/// pin: weights that all fit in PSRAM stay there; else the program's first ones stay in its pinned part, whole
/// instructions only. Infeasible when weights said to be resident do not fit.
void pin(Compilation& c);

/// classify: instructions of equal cost share one class; the program's own totals.
/// Example: 72 equal residual convolutions are 72 instructions of one class.
void classify(Compilation& c);

}  // namespace sdip
