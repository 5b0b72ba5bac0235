// Mixes of workloads.
#include "core/explore/mix.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/cost/price/area.h"

namespace sdip {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// How each metric of a mix follows from its workloads'. One that depends on the program alone, as a peak, has to
/// fit for the workload that needs most.
constexpr struct {
  Metric metric;
  MixedBy by;
} rules[] = {
    {Metric::throughput_fps, MixedBy::rate},
    {Metric::latency_s, MixedBy::images},
    {Metric::stream_latency_s, MixedBy::images},
    {Metric::step_cycles, MixedBy::time},
    {Metric::stall_share, MixedBy::time},
    {Metric::utilization, MixedBy::time},
    {Metric::dram_bytes_per_frame, MixedBy::images},
    {Metric::weight_bytes_per_frame, MixedBy::images},
    {Metric::activation_bytes_per_frame, MixedBy::images},
    {Metric::program_bytes_per_frame, MixedBy::images},
    {Metric::dram_bytes_over_bound, MixedBy::bytes},
    {Metric::cycles_over_bound, MixedBy::cycles},
    {Metric::energy_j_per_frame, MixedBy::images},
    {Metric::power_w, MixedBy::time},
    {Metric::area_mm2, MixedBy::greatest},
    {Metric::edp_js, MixedBy::derived},
    {Metric::sram_bytes, MixedBy::greatest},
    {Metric::dsram_peak_bytes, MixedBy::greatest},
    {Metric::stackram_peak_bytes, MixedBy::greatest},
    {Metric::psram_peak_bytes, MixedBy::greatest},
    {Metric::active_cores, MixedBy::time},
    {Metric::fps_per_mm2, MixedBy::derived},
    {Metric::frames_per_j, MixedBy::derived},
    {Metric::power_w_per_mm2, MixedBy::derived},
    {Metric::tops, MixedBy::time},
    {Metric::tops_peak, MixedBy::greatest},
    {Metric::tops_per_w, MixedBy::derived},
    {Metric::tops_per_mm2, MixedBy::derived},
    {Metric::tops_peak_per_mm2, MixedBy::derived},
    {Metric::ops_per_dram_byte, MixedBy::per_byte},
    {Metric::price_usd, MixedBy::greatest},
    {Metric::million_images_usd, MixedBy::images},
};
static_assert(std::size(rules) == metric_count, "each metric says how it follows from those of a mix's workloads");

constexpr bool in_order() {
  for (std::size_t m = 0; m < metric_count; ++m)
    if (rules[m].metric != static_cast<Metric>(m)) return false;
  return true;
}
static_assert(in_order(), "in the order of core/cost/price/metrics.def");

double metric_of(const Outcome& outcome, Metric metric) { return outcome.values[metric]; }

/// The shares of the workloads: in all images, in all the time, in all bytes to and from DRAM. Each sums to 1.
struct Shares {
  std::vector<double> images, time, bytes;
};

/// All alike where there is nothing to share.
std::vector<double> summing_to_one(std::vector<double> shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& one : shares) one = sum > 0 ? one / sum : 1 / static_cast<double>(shares.size());
  return shares;
}

Shares shares_of(const Mix& mix, std::span<const Outcome> outcomes) {
  Shares shares;
  for (const MixPart& part : mix) shares.images.push_back(part.weight);
  shares.images = summing_to_one(std::move(shares.images));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    shares.time.push_back(shares.images[i] / metric_of(outcomes[i], Metric::throughput_fps));
    shares.bytes.push_back(shares.images[i] * metric_of(outcomes[i], Metric::dram_bytes_per_frame));
  }
  shares.time = summing_to_one(std::move(shares.time));
  shares.bytes = summing_to_one(std::move(shares.bytes));
  return shares;
}

double mean(Metric metric, std::span<const double> shares, std::span<const Outcome> outcomes) {
  double sum = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) sum += shares[i] * metric_of(outcomes[i], metric);
  return sum;
}

/// The mean of a ratio a / b: all a over all b, where the shares are those of all a.
double mean_of_ratios(Metric metric, std::span<const double> shares, std::span<const Outcome> outcomes) {
  double sum = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) sum += shares[i] / metric_of(outcomes[i], metric);
  return 1 / sum;
}

double greatest(Metric metric, std::span<const Outcome> outcomes) {
  double most = -std::numeric_limits<double>::infinity();
  for (const Outcome& outcome : outcomes) {
    if (std::isnan(metric_of(outcome, metric))) return not_known;
    most = std::max(most, metric_of(outcome, metric));
  }
  return most;
}

double mixed_value(Metric metric, const Shares& shares, std::span<const Outcome> outcomes) {
  switch (mixed_by(metric)) {
    case MixedBy::images:
      return mean(metric, shares.images, outcomes);
    case MixedBy::time:
      return mean(metric, shares.time, outcomes);
    case MixedBy::rate:
      return mean_of_ratios(metric, shares.images, outcomes);
    case MixedBy::cycles:
      return mean_of_ratios(metric, shares.time, outcomes);
    case MixedBy::bytes:
      return mean_of_ratios(metric, shares.bytes, outcomes);
    case MixedBy::per_byte:
      return mean(metric, shares.bytes, outcomes);
    case MixedBy::greatest:
      return greatest(metric, outcomes);
    case MixedBy::derived:
      break;
  }
  return not_known;
}

double weight_of_text(std::string_view text, const std::string& where) {
  double weight = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (problem != std::errc() || end != text.data() + text.size() || !(weight > 0) || weight > most_weight)
    throw Error(
        "value_invalid", where,
        std::string(text.substr(0, 80)) + ": expected a weight above 0, at most 1000000, as in sd15:3+sdxl");
  return weight;
}

}  // namespace

Mix mix_of_text(std::string_view text, const std::string& where) {
  Mix mix;
  for (const std::string_view part : split(text, '+')) {
    const auto colon = part.rfind(':');
    const std::string name(part.substr(0, colon));
    if (name.empty())
      throw Error("value_invalid", where, "expected names of models between the plus signs, as in sd15:3+sdxl");
    if (std::ranges::find(mix, name, &MixPart::model) != mix.end())
      throw Error("value_invalid", where, name.substr(0, 80) + " stands twice in the mix");
    if (mix.size() == most_workloads)
      throw Error("limit_exceeded", where, fmt::format("expected at most {} workloads", most_workloads));
    mix.push_back({name, colon == std::string_view::npos ? 1 : weight_of_text(part.substr(colon + 1), where)});
  }
  return mix;
}

std::string mix_text(const Mix& mix) {
  std::string text;
  for (const MixPart& part : mix)
    text += (text.empty() ? "" : "+") + part.model + (part.weight == 1 ? "" : ":" + shortest_text(part.weight));
  return text;
}

MixedBy mixed_by(Metric metric) { return rules[at(metric)].by; }

CapacityRange Programs::psram_bytes() const {
  CapacityRange both = of.empty() ? no_capacity : of[0]->psram_bytes;
  for (const auto& application : of) both.narrow(application->psram_bytes);
  return both;
}

Programs compile_mix(const Mix& mix, const Machine& machine,
                     const std::function<std::shared_ptr<const Application>(const std::string&)>& compile_one) {
  if (mix.size() > 1 && machine.weight_storage == WeightStorage::hard_coded)
    throw Error("value_conflict", "weight_storage", "weights that are wired in are those of one workload");
  Programs programs;
  for (const MixPart& part : mix) {
    programs.mix.push_back(part);
    programs.of.push_back(compile_one(part.model));
    if (!programs.of.back() || programs.of.back()->feasible) continue;
    if (mix.size() == 1) return programs.of.back();
    auto failed = std::make_shared<Application>(*programs.of.back());
    failed->reason = part.model + ": " + failed->reason;
    return failed;
  }
  if (mix.size() > 1) {
    const auto chip = std::make_shared<const Application>(common_chip(programs.of));
    for (auto& application : programs.of) {
      auto on_chip = std::make_shared<Application>(*application);
      on_chip->chip = chip;
      application = std::move(on_chip);
    }
  }
  return programs;
}

Outcome mixed(const Mix& mix, std::span<const Outcome> outcomes) {
  check(!outcomes.empty() && mix.size() == outcomes.size(), "mixed: an outcome of each workload");
  if (outcomes.size() == 1) return outcomes[0];
  Outcome all;
  all.feasible = std::ranges::all_of(outcomes, &Outcome::feasible);
  const auto first = std::ranges::find(outcomes, false, &Outcome::feasible);
  if (first != outcomes.end()) all.reason = mix[at(first - outcomes.begin())].model + ": " + first->reason;
  all.values.fill(not_known);
  if (!std::ranges::all_of(outcomes, &Outcome::counted)) return all;
  const Shares shares = shares_of(mix, outcomes);
  for (std::size_t m = 0; m < metric_count; ++m)
    all.values[m] = mixed_value(static_cast<Metric>(m), shares, outcomes);
  for (const DerivedMetric& row : derived_metrics()) {
    const auto& [a, b] = row.of;
    all.values[row.metric] = row.from(metric_of(all, a), metric_of(all, b));
  }
  return all;
}

}  // namespace sdip
