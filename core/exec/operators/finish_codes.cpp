// Finishes a nest's sums of codes when they are done.
//
// Example: a sum of 300 in steps of 0.5 x 0.25, scale 2, bias 1: 37.5, 75, 76, each in double, the last in float.
#include <algorithm>

#include "core/base/in_vectors.h"
#include "core/exec/operators/finish.h"
#include "core/exec/walk/broadcast.h"

namespace sdip::exec {
namespace {

/// Results side by side: sum x step x alpha + beta x bias. A pointer that is nullptr stands for one number.
struct SumLine {
  const std::int32_t* sums = nullptr;
  std::size_t count = 0;
  const double* steps = nullptr;
  double step = 0, alpha = 1, beta = 1;
  const double* biases = nullptr;
  double bias = -0.0;  // nothing: -0 leaves -0 what it is
};

template <std::size_t Count, bool Steps, bool Biases>
SDIP_EACH void end_sums(const SumLine& line, float* to) {
  using Doubles = SideBySide<double, Count>;
  const auto end = [&](const std::int32_t* sums, const double* steps, const double* biases, float* results)
                       SDIP_LOOP {
                         constexpr Doubles none{};
                         SideBySide<std::int32_t, Count> given;
                         sdip::load(given, sums);
                         Doubles step = none + line.step, bias = none + line.bias;
                         if constexpr (Steps) sdip::load(step, steps);
                         if constexpr (Biases) sdip::load(bias, biases);
                         if constexpr (Biases) bias = bias * line.beta;
                         const Doubles x = __builtin_convertvector(given, Doubles) * step * line.alpha + bias;
                         store(__builtin_convertvector(x, SideBySide<float, Count>), results);
                       };
  std::size_t i = 0;
  for (; i + Count <= line.count; i += Count)
    end(line.sums + i, Steps ? line.steps + i : nullptr, Biases ? line.biases + i : nullptr, to + i);
  if (i == line.count) return;
  std::int32_t sums[Count] = {};
  double steps[Count] = {}, biases[Count] = {};
  float results[Count];
  std::copy(line.sums + i, line.sums + line.count, sums);
  if (Steps) std::copy(line.steps + i, line.steps + line.count, steps);
  if (Biases) std::copy(line.biases + i, line.biases + line.count, biases);
  end(sums, steps, biases, results);
  std::copy(results, results + (line.count - i), to + i);
}

void end_sums_of(const SumLine& line, float* to) {
  in_vectors(widest_vectors(), [&](auto floats) SDIP_LOOP {
    constexpr std::size_t count = floats / 2;
    if (line.steps != nullptr && line.biases != nullptr)
      end_sums<count, true, true>(line, to);
    else if (line.steps != nullptr)
      end_sums<count, true, false>(line, to);
    else if (line.biases != nullptr)
      end_sums<count, false, true>(line, to);
    else
      end_sums<count, false, false>(line, to);
  });
}

}  // namespace

Numbers Finish::operator()(const Elements& at, std::span<const std::int32_t> sums,
                           std::span<const double> steps) const {
  if (out_.type != ElementType::float32 || rescale_ || !bias_.ints.empty()) {
    Buffer<double> numbers(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
      numbers[i] = static_cast<double>(sums[i]) * steps[steps.size() == 1 ? 0 : i];
    return all(at, std::span<const double>(numbers));
  }
  Numbers results{out_.type, Buffer<float>(sums.size()), {}, {}};
  std::size_t done = 0;
  const auto end = [&](std::size_t count, const double* biases, double bias) {
    const double* own = steps.size() == 1 ? nullptr : steps.data() + done;
    end_sums_of({sums.data() + done, count, own, steps[0], alpha_, beta_, biases, bias},
                results.floats.data() + done);
    done += count;
  };
  if (bias_.floats.empty()) {
    if (!sums.empty()) end(sums.size(), nullptr, -0.0);
    return results;
  }
  const Elements beside = elements_beside(bias_shape_, out_.shape, at);
  for (const Line& line : beside.lines()) {
    const double* first = bias_.floats.data() + line.begin;
    if (line.step == 1) end(as_size(line.count), first, 0);
    if (line.step == 0) end(as_size(line.count), nullptr, beta_ * *first);
    for (std::int64_t i = 0; line.step != 1 && line.step != 0 && i < line.count; ++i)
      end(1, nullptr, beta_ * first[i * line.step]);
  }
  return results;
}

}  // namespace sdip::exec
