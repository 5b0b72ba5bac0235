// How fast the executor's products are: of each kernel its rate, its share of what the processor's multipliers
// could do, and how many times the plain loops' rate. build/release/tests/bench_kernels
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "core/exec/kernels/kernels_simple.h"
#include "core/exec/kernels/kernels_team.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sdip::exec {
namespace {

/// The time that the processor gave one thread: others use the machine, too.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_on_the_wall() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double best_seconds(int runs, double (*clock)(), const std::function<void()>& work) {
  double best = 0;
  for (int i = 0; i < runs; ++i) {
    const double start = clock();
    work();
    const double seconds = clock() - start;
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

#if defined(__x86_64__)
constexpr int chains = 10, rounds = 4'000'000;

/// Fused multiply-adds of registers, ten at a time.
__attribute__((target("avx512f"))) void add_in_registers(float* out) {
  __m512 sums[chains];
#pragma GCC unroll 10
  for (int c = 0; c < chains; ++c) sums[c] = _mm512_set1_ps(out[c]);
  __m512 x = _mm512_set1_ps(0.5F);
  for (int i = 0; i < rounds; ++i) {
    __asm__ volatile("" : "+v"(x));
#pragma GCC unroll 10
    for (auto& sum : sums) sum = _mm512_fmadd_ps(x, x, sum);
  }
#pragma GCC unroll 10
  for (int c = 1; c < chains; ++c) sums[0] = _mm512_add_ps(sums[0], sums[c]);
  _mm512_storeu_ps(out, sums[0]);
}

/// What one core could do, in multiply-adds a second.
double avx512_peak() {
  float out[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  return 16.0 * chains * rounds / best_seconds(5, processor_seconds, [&] { add_in_registers(out); });
}
#endif

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

struct Case {
  const char* name;
  ProductShape shape;
};

// The most frequent convolutions and products of the Stable Diffusion 1.5 U-Net at 64 x 64.
constexpr Case cases[] = {
    {"conv 320 x 320 x 3 x 3 at 64 x 64", {320, 4096, 2880, 320, 1}},
    {"conv 1280 x 1280 x 3 x 3 at 8 x 8", {1280, 64, 11520, 1280, 1}},
    {"linear 4096 x 320 x 1280", {4096, 1280, 320, 320, 1}},
    {"q k, 4096 x 4096 of 40", {4096, 4096, 40, 40, 1}},
    {"p v, 4096 x 40 of 4096", {4096, 40, 4096, 4096, 1}},
};

template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<T>(static_cast<int>(i * 7919 % 251) - 125);
  return all;
}

double macs_of(const ProductShape& s) {
  return static_cast<double>(s.rows) * static_cast<double>(s.columns) * static_cast<double>(s.depth);
}

/// Multiply-adds a second of one kernel.
template <class T, class S>
double rate(ProductShape shape, NumberFormat format, const KernelOptions& options) {
  const std::vector<T> left = numbers<T>(shape.rows * shape.depth), right = numbers<T>(shape.depth * shape.columns);
  std::vector<S> sums(static_cast<std::size_t>(shape.rows * shape.columns));
  const Matrix<T> l{left.data(), shape.depth, 1}, r{right.data(), shape.columns, 1};
  return macs_of(shape) / best_seconds(5, options.threads > 1 ? seconds_on_the_wall : processor_seconds, [&] {
           multiply(shape, format, l, r, Sums<S>{sums.data(), shape.columns}, options);
         });
}

/// The plain loops', on a part of the rows.
template <class T, class S>
double simple_rate(ProductShape shape, NumberFormat format) {
  shape.rows = 4;
  const std::vector<T> left = numbers<T>(shape.rows * shape.depth), right = numbers<T>(shape.depth * shape.columns);
  std::vector<S> sums(static_cast<std::size_t>(shape.rows * shape.columns));
  const Matrix<T> l{left.data(), shape.depth, 1}, r{right.data(), shape.columns, 1};
  return macs_of(shape) / best_seconds(2, processor_seconds, [&] {
           multiply_simply(shape, format, l, r, Sums<S>{sums.data(), shape.columns});
         });
}

void print_row(const char* kernel, const Case& of, double plain, double one, double two, double peak) {
  std::printf("  %-14s %-36s %8.1f %8.1f %7.0f%% %7.0fx\n", kernel, of.name, 2e-9 * one, 2e-9 * two,
              peak > 0 ? 100 * one / peak : 0, one / plain);
}

template <class T, class S>
void measure(const char* kernel, NumberFormat format, std::int64_t lanes, Vectors vectors, double peak,
             std::size_t count) {
  Team team(2);
  Workspace workspace;
  for (std::size_t i = 0; i < count; ++i) {
    Case one = cases[i];
    one.shape.lanes = lanes;
    const double alone = rate<T, S>(one.shape, format, {vectors, 1, {}, &workspace});
    const double both = rate<T, S>(one.shape, format, {vectors, 2, team.share(), &workspace});
    print_row(kernel, one, simple_rate<T, S>(one.shape, format), alone, both, peak);
  }
}

int run() {
  std::printf("Products of the executor on %s, %u threads\n", processor().c_str(),
              std::thread::hardware_concurrency());
  double peak = 0;
#if defined(__x86_64__)
  if (widest_vectors() == Vectors::avx512) peak = avx512_peak();
#endif
  std::printf("  One core's fp32 multipliers: %.1f GFLOP/s (AVX-512, registers alone; 0: not measured)\n",
              2e-9 * peak);
  std::printf("  %-14s %-36s %8s %8s %8s %8s\n", "kernel", "product", "GFLOP/s", "2 thr.", "of peak", "loops'");
  const Vectors widest = widest_vectors();
  measure<float, float>("fp32", NumberFormat::fp32, 1, widest, peak, std::size(cases));
  measure<float, float>("fp32 tree 16", NumberFormat::fp32, 16, widest, peak, 3);
  measure<float, float>("fp32 tree 32", NumberFormat::fp32, 32, widest, peak, 1);
  measure<std::int8_t, std::int32_t>("int8", NumberFormat::int32, 16, widest, peak, std::size(cases));
  measure<std::int16_t, std::int32_t>("int16", NumberFormat::int32, 16, widest, peak, 2);
  if (widest >= Vectors::avx2) {
    measure<float, float>("fp32, AVX2", NumberFormat::fp32, 1, Vectors::avx2, peak, 1);
    measure<std::int8_t, std::int32_t>("int8, AVX2", NumberFormat::int32, 1, Vectors::avx2, peak, 1);
  }
  return 0;
}

}  // namespace
}  // namespace sdip::exec

int main() { return sdip::exec::run(); }
