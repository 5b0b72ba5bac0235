// The way of a frame through a workload's stages, the diffusion loop in it, on whatever computes a stage. Internal
// to its room.
//
// From 1,000 training steps with variances beta_i = (sqrt 0.00085 + (sqrt 0.012 - sqrt 0.00085) i / 999)^2 (the
// published configuration of Stable Diffusion 1 and 2, "scaled linear"), T are taken: t = (T - 1) d, ..., d, 0, d =
// floor(1000 / T), each to t' = t - d. With A the product of (1 - beta_i) to i = t and A' to t' (1 below 0), s =
// sqrt((1 - A) / A), s' alike, a step x' = a x + b eps + sigma noise (core/program/workload.h) has
//   ddim   a = sqrt(A' / A), b = sqrt(1 - A') - a sqrt(1 - A)          Song et al., arXiv:2010.02502, eta 0
//   ddpm   a the same, b = -a (1 - A / A') / sqrt(1 - A),               Ho et al., arXiv:2006.11239, algorithm 2
//          sigma = sqrt((1 - A / A') (1 - A') / (1 - A))
//   euler  a = 1, b = s' - s; the latent begins s times as large        Karras et al., arXiv:2206.00364, algorithm
//   2
// Worked example, T = 2: t = 500 and 0, A = 0.276333 and 0.99915. ddim: a = 1.901513, b = -1.588436, then 1.000425,
// -0.029167. ddpm: b = -1.617065, sigma 0.029150, then b = -0.029167, sigma 0. euler: b = -1.589112, then
// -0.029167.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/exec/chip/execute.h"
#include "core/program/workload.h"

namespace sdip {

/// The numbers that a core's registers hold in one step.
struct StepNumbers {
  double t = 0, a = 1, b = 0, sigma = 0;
};

/// The numbers of all steps, the noisiest first. Requires 1 to 1,000 steps.
std::vector<StepNumbers> step_numbers(Sampler sampler, std::int64_t steps);

/// The factor of the latent of pure noise before the first step.
double first_noise_scale(Sampler sampler, std::int64_t steps);

/// The guidance scale that pipelines of Stable Diffusion use when none is given.
inline constexpr double guidance_scale = 7.5;

/// The graph with each node that draws random numbers replaced by an input of its name, so that two computations
/// can be given the same noise.
Graph with_given_noise(const Graph& graph);

/// Numbers for an input, from the seed and its name: of a latent or noise normal, other floats from -1 to 1,
/// integers 0 or 1 (tokens that every vocabulary has).
enum class Distribution { uniform, normal };
Tensor random_numbers(const Operand& operand, const std::string& name, std::uint64_t seed,
                      Distribution distribution);

/// One use of a stage on the way: which, and of a core in which step (from 0).
struct StageUse {
  std::size_t stage = 0;
  std::int64_t step = 0;
};

/// Computes a stage from its inputs; returns its outputs, or nothing to end the way.
using StageRunner =
    std::function<std::optional<std::vector<Tensor>>(const StageUse&, const std::vector<Tensor>& inputs)>;

/// Takes one frame from noise through the stages in order, a core's `steps` times. An input of a stage is, in this
/// order: of a core its latent and registers; for a decoder the latent; what an earlier stage made under that name;
/// what a text encoder made in that shape, or the half of it that a pass of guidance reads; else random numbers of
/// `seed`, the same in every step but for noise. Returns whether it came to the end. Requires stages whose graphs
/// draw no random numbers.
bool walk(std::span<const CompiledStage> stages, Sampler sampler, std::int64_t steps, std::uint64_t seed,
          const StageRunner& run);

}  // namespace sdip
