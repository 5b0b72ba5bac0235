// The way of a frame through a workload's stages.
#include "core/exec/run/diffusion.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr std::int64_t training_steps = 1000;
constexpr double first_beta = 0.00085, last_beta = 0.012;

/// The product of 1 - beta_i to i = t.
double signal_left(std::int64_t t) {
  double product = 1;
  for (std::int64_t i = 0; i <= t; ++i) {
    const double first = std::sqrt(first_beta), last = std::sqrt(last_beta);
    const double root = first + (last - first) * static_cast<double>(i) / static_cast<double>(training_steps - 1);
    product *= 1 - root * root;
  }
  return product;
}

double noise_level(double left) { return std::sqrt((1 - left) / left); }

std::uint64_t hash_of(const std::string& name, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return hash ^ (seed * 0x9e3779b97f4a7c15U);
}

}  // namespace

std::vector<StepNumbers> step_numbers(Sampler sampler, std::int64_t steps) {
  check(steps >= 1 && steps <= training_steps, "1 to 1,000 steps");
  const std::int64_t distance = training_steps / steps;
  List<StepNumbers> numbers;
  for (std::int64_t i = steps - 1; i >= 0; --i) {
    const std::int64_t t = i * distance;
    const double left = signal_left(t), next = signal_left(t - distance);
    StepNumbers step;
    step.t = static_cast<double>(t);
    if (sampler == Sampler::euler) {
      step.b = noise_level(next) - noise_level(left);
    } else {
      const double lost = 1 - left / next;
      step.a = std::sqrt(next / left);
      step.b = sampler == Sampler::ddim ? std::sqrt(1 - next) - step.a * std::sqrt(1 - left)
                                        : -step.a * lost / std::sqrt(1 - left);
      step.sigma = sampler == Sampler::ddim ? 0 : std::sqrt(lost * (1 - next) / (1 - left));
    }
    numbers.push_back(step);
  }
  return numbers;
}

double first_noise_scale(Sampler sampler, std::int64_t steps) {
  if (sampler != Sampler::euler) return 1;
  return noise_level(signal_left((steps - 1) * (training_steps / steps)));
}

Graph with_given_noise(const Graph& graph) {
  Graph given = graph;
  const auto draws = [](const Node& node) { return node.op->random; };
  for (const Node& node : given.nodes) {
    if (!draws(node)) continue;
    for (const ValueId v : node.outputs) {
      if (v == none) continue;
      given.values[v].kind = ValueKind::input;
      given.inputs.push_back(v);
    }
  }
  std::erase_if(given.nodes, draws);
  sdip::link(given);
  return given;
}

Tensor random_numbers(const Operand& operand, const std::string& name, std::uint64_t seed,
                      Distribution distribution) {
  std::mt19937_64 engine(hash_of(name, seed));
  const auto unit = [&] { return static_cast<double>((engine() >> 40) + 1) * 0x1p-24; };  // above 0, to 1
  Tensor tensor = zero_tensor(operand.type, operand.shape);
  for (double& x : tensor.floats) {
    const double first = unit();
    if (distribution == Distribution::uniform) {
      x = rounded(operand.type, 2 * first - 1);
    } else {  // Box and Muller, 1958
      const double radius = std::sqrt(-2 * std::log(first));
      x = rounded(operand.type, radius * std::cos(2 * std::numbers::pi * unit()));
    }
  }
  for (std::int64_t& x : tensor.ints) x = static_cast<std::int64_t>(engine() >> 63);
  return tensor;
}

namespace {

/// The values that are known so far.
struct Way {
  std::span<const CompiledStage> stages;
  Sampler sampler;
  std::int64_t steps;
  std::uint64_t seed;
  const StageRunner& run;
  std::map<std::string, Tensor> made{};  // by name, of stages before
  std::vector<Tensor> texts{};           // of text encoders
  std::optional<Tensor> latent{};        // of the core
};

Tensor number_of(const Operand& operand, double x) {
  Tensor tensor = zero_tensor(operand.type, operand.shape);
  for (double& one : tensor.floats) one = rounded(operand.type, x);
  for (std::int64_t& one : tensor.ints) one = static_cast<std::int64_t>(x);
  return tensor;
}

/// Register values by the names that append_step gives them; any other scalar of a core is the time.
double register_value(const std::string& name, const StepNumbers& numbers) {
  if (name == "step/guidance_scale") return guidance_scale;
  if (name == "step/a_t") return numbers.a;
  if (name == "step/b_t") return numbers.b;
  if (name == "step/sigma_t") return numbers.sigma;
  return numbers.t;
}

/// Half of a text of two prompts: the first is read by the first pass, without a prompt.
std::optional<Tensor> half_of(const Tensor& text, const Value& value) {
  Shape whole = value.operand.shape;
  if (whole.empty()) return std::nullopt;
  whole[0] *= 2;
  if (text.shape != whole || text.type != value.operand.type) return std::nullopt;
  Tensor half = zero_tensor(text.type, value.operand.shape);
  const auto count = half.floats.size(), first = value.name.ends_with("/second") ? count : 0;
  std::copy_n(text.floats.begin() + static_cast<std::ptrdiff_t>(first), count, half.floats.begin());
  return half;
}

/// The value of an input that an earlier stage made; nothing where none did.
std::optional<Tensor> handed_over(const Way& way, const CompiledStage& stage, const Value& value) {
  const auto fits = [&](const Tensor& tensor) {
    return tensor.type == value.operand.type && tensor.shape == value.operand.shape;
  };
  if (stage.role == Role::decoder && way.latent && fits(*way.latent)) return way.latent;
  if (const auto made = way.made.find(value.name); made != way.made.end() && fits(made->second))
    return made->second;
  for (const Tensor& text : way.texts) {
    if (fits(text)) return text;
    if (auto half = half_of(text, value)) return half;
  }
  return std::nullopt;
}

std::vector<Tensor> inputs_of_stage(const Way& way, const CompiledStage& stage) {
  std::vector<Tensor> inputs;
  for (const ValueId v : stage.graph->inputs) {
    const Value& value = stage.graph->values[v];
    auto given = handed_over(way, stage, value);
    inputs.push_back(
        given ? *std::move(given)
              : random_numbers(value.operand, value.name, way.seed,
                               stage.role == Role::decoder ? Distribution::normal : Distribution::uniform));
  }
  return inputs;
}

bool walk_core(Way& way, std::size_t number) {
  const CompiledStage& stage = way.stages[number];
  const Graph& graph = *stage.graph;
  const ValueId latent = latent_input(graph);
  check(latent != none, "a core has a latent");
  const Operand& operand = graph.values[latent].operand;
  Tensor x = random_numbers(operand, "latent", way.seed, Distribution::normal);
  const double scale = first_noise_scale(way.sampler, way.steps);
  for (double& one : x.floats) one = rounded(operand.type, one * scale);
  const List<StepNumbers> numbers = step_numbers(way.sampler, way.steps);
  std::vector<Tensor> inputs = inputs_of_stage(way, stage);
  for (std::int64_t step = 0; step < way.steps; ++step) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Value& value = graph.values[graph.inputs[i]];
      const std::string noise = fmt::format("{} of step {}", value.name, step);
      if (graph.inputs[i] == latent)
        inputs[i] = x;
      else if (element_count(value.operand.shape) == 1)
        inputs[i] = number_of(value.operand, register_value(value.name, numbers[step]));
      else if (value.name == "step/random")
        inputs[i] = random_numbers(value.operand, noise, way.seed, Distribution::normal);
    }
    auto outputs = way.run({number, step}, inputs);
    if (!outputs) return false;
    x = outputs->at(0);
  }
  way.latent = std::move(x);
  return true;
}

}  // namespace

bool walk(std::span<const CompiledStage> stages, Sampler sampler, std::int64_t steps, std::uint64_t seed,
          const StageRunner& run) {
  Way way{stages, sampler, steps, seed, run};
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const CompiledStage& stage = stages[s];
    if (stage.role == Role::core) {
      if (!walk_core(way, s)) return false;
      continue;
    }
    auto outputs = run({s, 0}, inputs_of_stage(way, stage));
    if (!outputs) return false;
    for (std::size_t i = 0; i < outputs->size(); ++i) {
      const std::string& name = stage.graph->values[stage.graph->outputs[i]].name;
      if (stage.role == Role::text_encoder) way.texts.push_back((*outputs)[i]);
      way.made[name] = std::move((*outputs)[i]);
    }
  }
  return true;
}

}  // namespace sdip
