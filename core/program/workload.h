// The workload of a machine: one or more networks, each in its place in the frame's way through SDIP.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/machine/machine.h"

namespace sdip {

/// text_encoder: once a prompt, before streaming; encoder, decoder: the VAE, once a frame; core: a diffusion step,
/// run `steps` times over the cores in series; network: any other model, one pass a frame, N frames on N cores.
enum class Role { text_encoder, encoder, core, decoder, network };
std::string_view role_text(Role role);

/// Which of a network's parts in series a stage is; the first reads the input, the last writes the result.
struct SeriesPart {
  std::int32_t index = 0, count = 1;
  bool first() const { return index == 0; }
  bool last() const { return index == count - 1; }
};

/// Whether the weights of a stage of that role are in ROM, wired to the multipliers: weight_storage=hard_coded, and
/// hard_coded_part names it (vae: encoder and decoder) or all. A network is named by all alone; the hoisted context
/// is a text encoder's.
bool hard_coded(const Machine& machine, Role role);

/// Where the weights of a stage of that role lie while it runs: in PSRAM, which DRAM fills; in ROM; or, with
/// in_memory_weights=fefet, in each core's FeFET memory, which also multiplies by them.
enum class WeightPlace { psram, rom, fefet };
WeightPlace weight_place(const Machine& machine, Role role);

/// Whether they lie where they are used, in ROM or a FeFET memory: they take no PSRAM, no port of it and no DRAM.
inline bool weights_in_place(const Machine& machine, Role role) {
  return weight_place(machine, role) != WeightPlace::psram;
}

/// Whether a stage of that role is a circuit made for its network alone: encoder and decoder with
/// vae_stage=circuit.
bool is_circuit(const Machine& machine, Role role);

/// Whether a stage of that role is on the chip and has rows of its own (core/machine/stage_rows.h), encoder and
/// decoder those of vae_encoder and vae_decoder.
bool has_own_rows(const Machine& machine, Role role);

/// Whether a stage of that role runs on a block of a kind of its own, which no other stage uses: a circuit, or a
/// core with rows of its own. A text encoder (of several, all of them) runs on a diffusion core else; encoder and
/// decoder each on a core as these are.
inline bool is_own_block(const Machine& machine, Role role) {
  return is_circuit(machine, role) || has_own_rows(machine, role);
}

/// Whether a stage of that role that streams weights has a PSRAM that is not the diffusion cores': encoder and
/// decoder; a text encoder with a row of PSRAM of its own, or whose stack would be in PSRAM.
bool has_own_psram(const Machine& machine, Role role);

/// Whether the PSRAM that it runs from has psram_bytes, and no size of its own.
bool follows_psram_bytes(const Machine& machine, Role role);

/// The machine of a stage: what a stage of that role runs on. Its own rows stand in place of the cores', and no row
/// of any stage is left; a text encoder with rows of its own is one core. A circuit's own state machine goes from
/// operator to operator at no cost, no program stands in IMEM, and nothing is left to a host. Its `cores` are
/// those in lockstep, where these are said; where not, it gives the same again of what it gives.
Machine machine_of_stage(Machine machine, Role role, std::optional<std::int64_t> cores = {});

/// The same without a copy of the machine where the stage has that one itself: then it refers to it, which must
/// outlive it, and which may have rows of other stages.
class StageMachine {
 public:
  StageMachine(const Machine& machine, Role role) : given_(&machine) {
    if (is_own_block(machine, role) || machine.dies > 1) own_ = machine_of_stage(machine, role);
  }
  StageMachine(Machine&&, Role) = delete;
  const Machine& operator*() const { return own_ ? *own_ : *given_; }

 private:
  const Machine* given_;
  std::optional<Machine> own_;
};

struct Stage {
  Role role = Role::network;
  std::string name;
  std::shared_ptr<const Graph> graph;  // rewritten
  RewriteCounts rewrites;
  SeriesPart part = {};
};

struct Workload {
  std::string name;
  std::vector<Stage> stages;  // in the order a frame meets them
};

/// Makes a noise predictor into a core's program: with guidance the latent is doubled (or the network run twice)
/// and the two predictions combined; then the sampler's update. The latent is the first input of rank 3 or more,
/// the prediction the first output; t, sigma_t and the like are inputs of one element (general registers). Requires
/// a linked graph. Throws Error("not_a_noise_predictor", ...) when latent and prediction differ in shape.
void append_step(Graph& graph, const Machine& machine);

/// The first input of rank 3 or more: the latent of a noise predictor. `none` when there is none.
ValueId latent_input(const Graph& graph);

/// Takes out of a core's program what follows from its context and weights alone (keys and values of
/// cross-attention): its results become inputs of the step, held like any other, and the returned stage makes them
/// once a prompt, as a text encoder makes the context. Nothing when there is no such part. Requires a linked graph.
std::optional<Stage> hoist_context(Stage& core);

}  // namespace sdip
