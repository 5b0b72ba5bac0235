// This machine's processor, measured, and what core/baseline/archetypes/cpu.h predicts of it. As JSON:
//   bench_cpu measure                                          the processor's figures
//   bench_cpu predict MACHINE.json THREADS FORMAT MODEL.onnx   seconds of a pass, by part, of each thread count
// tests/bench/onnxruntime_cpu.mjs runs onnxruntime beside it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/baseline/archetypes/cpu.h"
#include "core/baseline/device.h"
#include "server/studies/comparison.h"

namespace {

using namespace sdip;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Events a second of `work`, which does so many: the best of many short runs, since others use the machine, too.
double rate_of(double events, const std::function<void()>& work, double enough_s = 0.4) {
  double best = 0;
  for (const double end = now_s() + enough_s; now_s() < end;) {
    const double start = now_s();
    work();
    best = std::max(best, events / (now_s() - start));
  }
  return best;
}

constexpr std::int64_t loops = 10'000;

/// A chain of additions, one a cycle.
void add_chain() {
  std::int64_t left = loops;
  asm volatile("1:\n dec %0\n jnz 1b" : "+r"(left)::"cc");
}

// Twelve sums that do not wait for each other, as many as two units of latency 4 need and some more.
#define SDIP_TWELVE(instruction)                                                                        \
  instruction("0") instruction("1") instruction("2") instruction("3") instruction("4") instruction("5") \
      instruction("6") instruction("7") instruction("8") instruction("9") instruction("10") instruction("11")
#define SDIP_FMA_512(r) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" r "\n"
#define SDIP_FMA_256(r) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" r "\n"
#define SDIP_VNNI_512(r) "vpdpbusd %%zmm30, %%zmm31, %%zmm" r "\n"
#define SDIP_CLEARED "vzeroall\n"
#define SDIP_CLOBBERED                                                                                       \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
      "xmm13", "xmm14", "xmm15", "cc"
constexpr double chains = 12;

__attribute__((target("avx512f"))) void fma_512() {
  std::int64_t left = loops;
  asm volatile(SDIP_CLEARED
               "vpxord %%zmm30, %%zmm30, %%zmm30\n vpxord %%zmm31, %%zmm31, %%zmm31\n 1:\n" SDIP_TWELVE(
                   SDIP_FMA_512) "dec %0\n jnz 1b"
               : "+r"(left)::SDIP_CLOBBERED);
}
__attribute__((target("avx2,fma"))) void fma_256() {
  std::int64_t left = loops;
  asm volatile(SDIP_CLEARED "1:\n" SDIP_TWELVE(SDIP_FMA_256) "dec %0\n jnz 1b" : "+r"(left)::SDIP_CLOBBERED);
}
__attribute__((target("avx512vnni"))) void vnni_512() {
  std::int64_t left = loops;
  asm volatile(SDIP_CLEARED "1:\n" SDIP_TWELVE(SDIP_VNNI_512) "dec %0\n jnz 1b" : "+r"(left)::SDIP_CLOBBERED);
}

// Read all of it once, in the order of addresses, eight registers a step.
#define SDIP_EIGHT(instruction)                                                                         \
  instruction("0") instruction("1") instruction("2") instruction("3") instruction("4") instruction("5") \
      instruction("6") instruction("7")
#define SDIP_READ_512(r) "vmovups " r "*64(%0), %%zmm" r "\n"
#define SDIP_READ_256(r) "vmovups " r "*32(%0), %%ymm" r "\n"
__attribute__((target("avx512f"))) void read_512(const char* from, const char* end) {
  asm volatile("1:\n" SDIP_EIGHT(SDIP_READ_512) "add $512, %0\n cmp %1, %0\n jb 1b\n"
               : "+r"(from)
               : "r"(end)
               : SDIP_CLOBBERED, "memory");
}
__attribute__((target("avx"))) void read_256(const char* from, const char* end) {
  asm volatile("1:\n" SDIP_EIGHT(SDIP_READ_256) "add $256, %0\n cmp %1, %0\n jb 1b\n"
               : "+r"(from)
               : "r"(end)
               : SDIP_CLOBBERED, "memory");
}

double read_bytes_per_s(double bytes) {
  constexpr std::size_t step = 512;
  const std::size_t size = std::max(step, static_cast<std::size_t>(bytes) / step * step);
  const std::vector<char> data(size, 1);
  const bool wide = __builtin_cpu_supports("avx512f") != 0;
  constexpr double long_s = 2;
  return rate_of(
      static_cast<double>(size), [&] { (wide ? read_512 : read_256)(data.data(), data.data() + size); }, long_s);
}

/// What `of_one` gives on all processors at once.
double on_all(std::int64_t processors, const std::function<double()>& of_one) {
  std::vector<double> rates(static_cast<std::size_t>(processors));
  std::vector<std::thread> threads;
  for (double& rate : rates) threads.emplace_back([&] { rate = of_one(); });
  for (std::thread& thread : threads) thread.join();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

/// The bytes of the first processor's cache of that level that holds data; 0 where the system does not say.
double cache_bytes(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream level_file(folder + "level"), type_file(folder + "type"), size_file(folder + "size");
    int found = 0;
    std::string type, size;
    if (!(level_file >> found) || !(type_file >> type) || !(size_file >> size)) continue;
    if (found != level || type == "Instruction") continue;
    return std::stod(size) * (size.back() == 'M' ? 1 << 20 : size.back() == 'K' ? 1 << 10 : 1);
  }
  return 0;
}

std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return line.substr(line.find(':') + 2);
  return "";
}

OrderedJson measured_machine() {
  const auto processors = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const bool wide = __builtin_cpu_supports("avx512f") != 0, vnni = __builtin_cpu_supports("avx512vnni") != 0;
  const double events = static_cast<double>(loops);
  const double clock_hz = rate_of(events, add_chain);
  const auto fma = [&] { return rate_of(chains * events, wide ? fma_512 : fma_256); };
  const double one = fma(), all = on_all(processors, fma);
  const double l2 = cache_bytes(2), l3 = cache_bytes(3);
  const double large = 3 * l3 + 1e6;
  return {{"model", cpuinfo("model name")},
          {"family", cpuinfo("cpu family")},
          {"family_model", cpuinfo("model\t")},
          {"processors", processors},
          {"simd_bits", wide ? 512 : 256},
          {"vnni", vnni},
          {"amx", cpuinfo("flags").find("amx_tile") != std::string::npos},
          {"clock_hz", clock_hz},
          {"fma_per_s", one},
          {"fma_per_s_of_all", all},
          {"fma_per_cycle", std::max<std::int64_t>(1, std::llround(one / clock_hz))},
          {"vnni_per_s", vnni ? rate_of(chains * events, vnni_512) : 0},
          {"l1_bytes", cache_bytes(1)},
          {"l2_bytes", l2},
          {"l3_bytes", l3},
          {"l2_bytes_per_cycle", read_bytes_per_s(l2 / 2) / clock_hz},
          {"l3_bytes_per_cycle", read_bytes_per_s(std::max(4 * l2, l3 / 4)) / clock_hz},
          {"dram_bytes_per_s_of_one", read_bytes_per_s(large)},
          {"dram_bytes_per_s", on_all(processors, [&] { return read_bytes_per_s(large); })}};
}

CpuMachine machine_of_json(const OrderedJson& m, std::int64_t threads, const std::string& format) {
  const auto bits = m.at("simd_bits").get<std::int64_t>();
  CpuMachine machine;
  machine.clock_hz = m.at("clock_hz");
  machine.cores = threads;
  machine.bytes_per_element = bytes_of_format(format);
  machine.multiplier.columns = machine.vector_lanes = bits / 32;
  machine.multiplier.terms = 4 / static_cast<std::int64_t>(machine.bytes_per_element);
  machine.multiplier.per_cycle = machine.vector_ports = m.at("fma_per_cycle");
  machine.multiplier.registers = bits == 512 ? 32 : 16;
  machine.l1_bytes = m.at("l1_bytes");
  machine.l2_bytes = m.at("l2_bytes");
  machine.l3_bytes = m.at("l3_bytes");
  machine.l2_bytes_per_cycle = m.at("l2_bytes_per_cycle");
  machine.l3_bytes_per_cycle = m.at("l3_bytes_per_cycle");
  machine.dram_bytes_per_s = m.at("dram_bytes_per_s");
  machine.core_dram_bytes_per_s = m.at("dram_bytes_per_s_of_one");
  machine.launch_s = m.value("launch_s", 0.0);
  machine.join_s = m.value("join_s", 0.0);
  machine.software_share = m.value("software_share", 1.0);
  return machine;
}

OrderedJson predicted(const OrderedJson& machine, const std::string& threads, const std::string& format,
                      const std::string& file) {
  const CpuMachine cpu = machine_of_json(machine, std::stoll(threads), format);
  const Catalog catalog(FileModels{});
  LayerTime sum;
  double macs = 0;
  for (const LayeredStage& stage : layered_work(catalog.workloads(), file, Machine{})) {
    const std::vector<LayerTime> times = times_of(stage.layers, cpu);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const auto count = static_cast<double>(stage.layers[i].times);
      macs += count * static_cast<double>(macs_of(stage.layers[i]));
      sum.seconds += count * times[i].seconds;
      sum.compute_s += count * times[i].compute_s;
      sum.vector_s += count * times[i].vector_s;
      sum.on_chip_s += count * times[i].on_chip_s;
      sum.memory_s += count * times[i].memory_s;
      sum.overhead_s += count * times[i].overhead_s;
    }
  }
  const double peak = macs_per_cycle(cpu.multiplier) * static_cast<double>(cpu.cores) * cpu.clock_hz;
  return {{"seconds", sum.seconds},
          {"compute_s", sum.compute_s},
          {"vector_s", sum.vector_s},
          {"caches_s", sum.on_chip_s},
          {"dram_s", sum.memory_s},
          {"overhead_s", sum.overhead_s},
          {"macs", macs},
          {"peak_s", macs / peak}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  try {
    if (mode == "measure" && argc == 2) {
      std::cout << measured_machine().dump(1) << "\n";
      return 0;
    }
    if (mode == "predict" && argc == 6) {
      std::ifstream file(argv[2]);
      std::cout << predicted(OrderedJson::parse(file), argv[3], argv[4], argv[5]).dump() << "\n";
      return 0;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  std::cerr << "bench_cpu measure | bench_cpu predict MACHINE.json THREADS FORMAT MODEL.onnx\n";
  return 2;
}
