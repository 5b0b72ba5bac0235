// Chips and their figures, each with its source: what a public document says, tagged by how it was come by.
#include "core/baseline/chips.h"

namespace sdip {
namespace {

constexpr std::string_view read = "read", secondary = "secondary", derived = "derived", unverified = "unverified",
                           assumption = "assumption";

constexpr std::string_view ascend_clock_source = "256 TFLOP/s of fp16 over 131072 MACs and two operations";
constexpr std::string_view ascend_sram_source = "assumption: 32 MB of L2 and 32 cores of 1.6 MB of buffers";
constexpr std::string_view common_source = "commonly quoted, not read again";
constexpr std::string_view diannao_source = "Chen et al., DianNao, ASPLOS 2014, abstract";
constexpr std::string_view diannao_busy_source = "452 GOP/s over 256 products and 256 sums at 980 MHz";
constexpr std::string_view diannao_ports_source =
    "assumption: 256 weights, 16 inputs and 16 sums of 16 bits a cycle";
constexpr std::string_view eyeriss_source = "Chen et al., Eyeriss, JSSC 2017, abstract";
constexpr std::string_view eyeriss_busy_source = "35 frames/s of 0.666 G multiply-accumulates over 168 x 200 MHz";
constexpr std::string_view eyeriss_sram_source =
    "assumption: 108 KB of buffer and 168 x 0.5 KB beside the elements (JSSC 2017), not read again; 80 bits an "
    "element a cycle";
constexpr std::string_view ga100_source = "LLMCompass (ISCA 2024), figure data; readings of the die photo";
constexpr std::string_view ga100_macs_source =
    "1024 fp16 multiply-accumulates a cycle of each SM: 108 in use, 128 built";
constexpr std::string_view ga100_sram_source = "48 MiB of L2 built, 128 SMs of 192 KiB and 256 KiB of registers";
constexpr std::string_view gc200_source = "a public note on GC200; core/baseline/devices";
constexpr std::string_view gc200_links_source = "assumption: ten IPU links of eight lanes";
constexpr std::string_view gc200_macs_source = "250 TFLOP/s of fp16 over two operations at 1350 MHz";
constexpr std::string_view gc2_macs_source = "125 TFLOP/s of fp16 over two operations at 1600 MHz";
constexpr std::string_view gemmini_source = "Genc et al., Gemmini, DAC 2021, area table, restated in a public note";
constexpr std::string_view gh100_macs_source =
    "2048 fp16 multiply-accumulates a cycle of each SM: 132 in use, 144 built";
constexpr std::string_view gh100_sram_source = "60 MiB of L2 built, 144 SMs of 256 KiB and 256 KiB of registers";
constexpr std::string_view hanlon_source = "J. Hanlon, New chips for machine intelligence (2019, updated)";
constexpr std::string_view kiln_source = "a public model of GPUs, its table of chips";
constexpr std::string_view liao_source =
    "Liao et al., A Scalable and Unified AI Architecture, Communications of HUAWEI RESEARCH 1 (2022), 4.1.3";
constexpr std::string_view mtia_source = "MTIA 2i, ISCA 2025, Table 2";
constexpr std::string_view mtia_half_source =
    "MTIA 2i, ISCA 2025, Table 2: half of the int8 rate, as units of 16-bit floats make them";
constexpr std::string_view nvdla_source = "nvdla.org, primer, table of area and performance";
constexpr std::string_view peak_source = "assumption: the peak power is that of all MACs at work";
constexpr std::string_view place_source =
    "assumption: arrays of this organisation read so many bits of operands and sums a cycle";
constexpr std::string_view rc18_source =
    "Zimmer et al., VLSI 2019 and JSSC 2020; Shao et al., MICRO 2019: abstracts";
constexpr std::string_view unpu_source = "Lee et al., UNPU, JSSC 2019, abstract";
constexpr std::string_view unpu_macs_source = "345.6 GOPS at 16 bits over two operations at 200 MHz";
constexpr std::string_view v1_source =
    "Jouppi et al., ISCA 2017, by J. Hanlon, New chips for machine intelligence (2019)";
constexpr std::string_view v4_source = "Jouppi et al., ISCA 2023, Table 4, by quotations";
constexpr std::string_view v4_sram_source =
    "assumption: 128 MiB of CMEM (ISCA 2023) and 32 of vector memories, two cores of v4i's";
constexpr std::string_view v4i_source = "Jouppi et al., ISCA 2021, Tables 1 and 2, Fig. 6, by quotations";

constexpr ChipFigure figures[] = {
    {"tpu_v1", "die_mm2_max", 331, secondary, v1_source},
    {"tpu_v1", "clock_mhz", 700, secondary, v1_source},
    {"tpu_v1", "macs_per_clk", 65536, secondary, v1_source},
    {"tpu_v1", "sram_mib", 28, secondary, v1_source},
    {"tpu_v1", "ddr_bits", 128, secondary, v1_source},
    {"tpu_v1", "dram_gbs", 34, secondary, v1_source},
    {"tpu_v1", "pcie_lanes", 16, secondary, v1_source},
    {"tpu_v1", "power_idle_w", 28, secondary, v1_source},
    {"tpu_v1", "power_busy_w", 40, secondary, v1_source},
    {"tpu_v1", "tdp_w", 75, secondary, v1_source},
    {"tpu_v1", "read_bits", 18432, assumption, place_source},
    {"tpu_v1", "bank_kib", 64, assumption, place_source},
    {"tpu_v4i", "die_mm2_max", 400, secondary, v4i_source},
    {"tpu_v4i", "clock_mhz", 1050, secondary, v4i_source},
    {"tpu_v4i", "macs_per_clk", 65536, secondary, v4i_source},
    {"tpu_v4i", "sram_mib", 144, secondary, v4i_source},
    {"tpu_v4i", "dram_gbs", 614, secondary, v4i_source},
    {"tpu_v4i", "hbm_stacks", 2, derived, v4i_source},
    {"tpu_v4i", "power_idle_w", 55, secondary, v4i_source},
    {"tpu_v4i", "tdp_w", 175, secondary, v4i_source},
    {"tpu_v4i", "read_bits", 40960, assumption, place_source},
    {"tpu_v4i", "bank_kib", 64, assumption, place_source},
    {"tpu_v4", "die_mm2_max", 600, secondary, v4_source},
    {"tpu_v4", "clock_mhz", 1050, secondary, v4_source},
    {"tpu_v4", "macs_per_clk", 131072, secondary, v4_source},
    {"tpu_v4", "sram_built_mib", 160, assumption, v4_sram_source},
    {"tpu_v4", "dram_gbs", 1200, secondary, v4_source},
    {"tpu_v4", "hbm_stacks", 4, derived, v4_source},
    {"tpu_v4", "power_idle_w", 90, secondary, v4_source},
    {"tpu_v4", "power_mean_w", 170, secondary, v4_source},
    {"tpu_v4", "power_has_dram", 1, secondary, v4_source},
    {"tpu_v4", "read_bits", 81920, assumption, place_source},
    {"tpu_v4", "bank_kib", 64, assumption, place_source},
    {"mtia_1", "die_mm2", 368.6, derived, mtia_source},
    {"mtia_1", "clock_mhz", 800, secondary, mtia_source},
    {"mtia_1", "vdd_v", 0.67, secondary, mtia_source},
    {"mtia_1", "vdd_sram_v", 0.75, secondary, mtia_source},
    {"mtia_1", "macs_per_clk", 32000, derived, mtia_half_source},
    {"mtia_1", "sram_built_mib", 136, derived, mtia_source},
    {"mtia_1", "dram_gbs", 176, secondary, mtia_source},
    {"mtia_1", "lpddr_bits", 256, derived, mtia_source},
    {"mtia_1", "pcie_lanes", 8, secondary, mtia_source},
    {"mtia_1", "pcie_gbps", 16, secondary, mtia_source},
    {"mtia_1", "tdp_w", 35, secondary, mtia_source},
    {"mtia_1", "power_typical_w", 25, secondary, mtia_source},
    {"mtia_2i", "die_mm2", 419.8, derived, mtia_source},
    {"mtia_2i", "clock_mhz", 1350, secondary, mtia_source},
    {"mtia_2i", "vdd_v", 0.85, secondary, mtia_source},
    {"mtia_2i", "macs_per_clk", 65536, derived, mtia_half_source},
    {"mtia_2i", "sram_built_mib", 280, derived, mtia_source},
    {"mtia_2i", "dram_gbs", 204.8, secondary, mtia_source},
    {"mtia_2i", "lpddr_bits", 256, derived, mtia_source},
    {"mtia_2i", "pcie_lanes", 8, secondary, mtia_source},
    {"mtia_2i", "pcie_gbps", 32, secondary, mtia_source},
    {"mtia_2i", "tdp_w", 85, secondary, mtia_source},
    {"mtia_2i", "power_typical_w", 65, secondary, mtia_source},
    {"nnp_t", "die_mm2", 688, secondary, hanlon_source},
    {"nnp_t", "clock_mhz_max", 1100, secondary, hanlon_source},
    {"nnp_t", "macs_per_clk", 49152, derived, hanlon_source},
    {"nnp_t", "sram_built_mib", 57.2, derived, hanlon_source},
    {"nnp_t", "dram_gbs", 1220, secondary, hanlon_source},
    {"nnp_t", "hbm_stacks", 4, secondary, hanlon_source},
    {"nnp_t", "serdes_lanes", 64, secondary, hanlon_source},
    {"nnp_t", "serdes_gbps", 28, secondary, hanlon_source},
    {"nnp_t", "pcie_lanes", 16, secondary, hanlon_source},
    {"nnp_t", "pcie_gbps", 16, secondary, hanlon_source},
    {"nnp_t", "tdp_w", 250, secondary, hanlon_source},
    {"eyeriss_v1", "core_mm2", 12.25, secondary, eyeriss_source},
    {"eyeriss_v1", "clock_mhz", 200, secondary, eyeriss_source},
    {"eyeriss_v1", "macs_per_clk", 168, secondary, eyeriss_source},
    {"eyeriss_v1", "sram_built_mib", 0.1885, assumption, eyeriss_sram_source},
    {"eyeriss_v1", "sram_port_bits", 13696, assumption, eyeriss_sram_source},
    {"eyeriss_v1", "read_bits", 13440, assumption, eyeriss_sram_source},
    {"eyeriss_v1", "bank_kib", 1, assumption, eyeriss_sram_source},
    {"eyeriss_v1", "activity", 0.69, derived, eyeriss_busy_source},
    {"eyeriss_v1", "power_w", 0.278, secondary, eyeriss_source},
    {"simba_chip", "die_mm2", 6, secondary, rc18_source},
    {"simba_chip", "clock_mhz_max", 1960, derived, rc18_source},
    {"simba_chip", "macs_per_clk", 1024, unverified, common_source},
    {"simba_chip", "sram_built_mib", 0.75, unverified, common_source},
    {"nvdla_2048", "macs_per_clk", 2048, read, nvdla_source},
    {"nvdla_2048", "sram_built_mib", 0.5, read, nvdla_source},
    {"nvdla_2048", "clock_mhz", 1000, read, nvdla_source},
    {"nvdla_2048", "activity", 1, assumption, peak_source},
    {"nvdla_2048", "read_bits", 512, assumption, place_source},
    {"nvdla_2048", "bank_kib", 32, assumption, place_source},
    {"nvdla_2048_28", "cell_mm2", 5.5, read, nvdla_source},
    {"nvdla_2048_16", "cell_mm2", 3.3, read, nvdla_source},
    {"nvdla_2048_16", "power_peak_w", 0.766, read, nvdla_source},
    {"nvdla_1024", "macs_per_clk", 1024, read, nvdla_source},
    {"nvdla_1024", "sram_built_mib", 0.25, read, nvdla_source},
    {"nvdla_1024", "clock_mhz", 1000, read, nvdla_source},
    {"nvdla_1024", "activity", 1, assumption, peak_source},
    {"nvdla_1024", "read_bits", 512, assumption, place_source},
    {"nvdla_1024", "bank_kib", 16, assumption, place_source},
    {"nvdla_1024_28", "cell_mm2", 3.0, read, nvdla_source},
    {"nvdla_1024_16", "cell_mm2", 1.8, read, nvdla_source},
    {"nvdla_1024_16", "power_peak_w", 0.375, read, nvdla_source},
    {"nvdla_512", "macs_per_clk", 512, read, nvdla_source},
    {"nvdla_512", "sram_built_mib", 0.25, read, nvdla_source},
    {"nvdla_512", "clock_mhz", 1000, read, nvdla_source},
    {"nvdla_512", "activity", 1, assumption, peak_source},
    {"nvdla_512", "read_bits", 256, assumption, place_source},
    {"nvdla_512", "bank_kib", 16, assumption, place_source},
    {"nvdla_512_28", "cell_mm2", 2.3, read, nvdla_source},
    {"nvdla_512_16", "cell_mm2", 1.4, read, nvdla_source},
    {"nvdla_512_16", "power_peak_w", 0.21, read, nvdla_source},
    {"nvdla_256", "macs_per_clk", 256, read, nvdla_source},
    {"nvdla_256", "sram_built_mib", 0.25, read, nvdla_source},
    {"nvdla_256", "clock_mhz", 1000, read, nvdla_source},
    {"nvdla_256", "activity", 1, assumption, peak_source},
    {"nvdla_256", "read_bits", 256, assumption, place_source},
    {"nvdla_256", "bank_kib", 16, assumption, place_source},
    {"nvdla_256_28", "cell_mm2", 1.7, read, nvdla_source},
    {"nvdla_256_16", "cell_mm2", 1.0, read, nvdla_source},
    {"nvdla_256_16", "power_peak_w", 0.135, read, nvdla_source},
    {"nvdla_128", "macs_per_clk", 128, read, nvdla_source},
    {"nvdla_128", "sram_built_mib", 0.25, read, nvdla_source},
    {"nvdla_128", "clock_mhz", 1000, read, nvdla_source},
    {"nvdla_128", "activity", 1, assumption, peak_source},
    {"nvdla_128", "read_bits", 128, assumption, place_source},
    {"nvdla_128", "bank_kib", 16, assumption, place_source},
    {"nvdla_128_28", "cell_mm2", 1.4, read, nvdla_source},
    {"nvdla_128_16", "cell_mm2", 0.84, read, nvdla_source},
    {"nvdla_128_16", "power_peak_w", 0.082, read, nvdla_source},
    {"nvdla_64", "macs_per_clk", 64, read, nvdla_source},
    {"nvdla_64", "sram_built_mib", 0.125, read, nvdla_source},
    {"nvdla_64", "clock_mhz", 1000, read, nvdla_source},
    {"nvdla_64", "activity", 1, assumption, peak_source},
    {"nvdla_64", "read_bits", 64, assumption, place_source},
    {"nvdla_64", "bank_kib", 8, assumption, place_source},
    {"nvdla_64_28", "cell_mm2", 0.91, read, nvdla_source},
    {"nvdla_64_16", "cell_mm2", 0.55, read, nvdla_source},
    {"nvdla_64_16", "power_peak_w", 0.055, read, nvdla_source},
    {"nvdla_32", "macs_per_clk", 32, read, nvdla_source},
    {"nvdla_32", "sram_built_mib", 0.125, read, nvdla_source},
    {"nvdla_32", "clock_mhz", 1000, read, nvdla_source},
    {"nvdla_32", "activity", 1, assumption, peak_source},
    {"nvdla_32", "read_bits", 64, assumption, place_source},
    {"nvdla_32", "bank_kib", 8, assumption, place_source},
    {"nvdla_32_28", "cell_mm2", 0.85, read, nvdla_source},
    {"nvdla_32_16", "cell_mm2", 0.51, read, nvdla_source},
    {"nvdla_32_16", "power_peak_w", 0.045, read, nvdla_source},
    {"ipu_gc200", "die_mm2", 823, secondary, gc200_source},
    {"ipu_gc200", "clock_mhz", 1350, secondary, gc200_source},
    {"ipu_gc200", "macs_per_clk", 92593, derived, gc200_macs_source},
    {"ipu_gc200", "sram_built_mib", 897, derived, gc200_source},
    {"ipu_gc200", "serdes_lanes", 80, assumption, gc200_links_source},
    {"ipu_gc200", "serdes_gbps", 32, assumption, gc200_links_source},
    {"ipu_gc200", "pcie_lanes", 16, unverified, common_source},
    {"ipu_gc200", "pcie_gbps", 16, unverified, common_source},
    {"ipu_gc2", "die_mm2", 800, secondary, hanlon_source},
    {"ipu_gc2", "macs_per_clk", 39062, derived, gc2_macs_source},
    {"ipu_gc2", "clock_assumed_mhz", 1600, unverified, common_source},
    {"ipu_gc2", "sram_built_mib", 286, derived, hanlon_source},
    {"ipu_gc2", "serdes_lanes", 80, assumption, gc200_links_source},
    {"ipu_gc2", "serdes_gbps", 32, assumption, gc200_links_source},
    {"ipu_gc2", "pcie_lanes", 16, unverified, common_source},
    {"ipu_gc2", "pcie_gbps", 16, unverified, common_source},
    {"ipu_gc2", "tdp_w", 150, secondary, hanlon_source},
    {"ascend_910", "die_mm2", 456, secondary, hanlon_source},
    {"ascend_910", "clock_mhz", 1000, derived, ascend_clock_source},
    {"ascend_910", "macs_per_clk", 131072, secondary, hanlon_source},
    {"ascend_910", "sram_built_mib", 83, assumption, ascend_sram_source},
    {"ascend_910", "dram_gbs", 1200, secondary, hanlon_source},
    {"ascend_910", "hbm_stacks", 4, secondary, hanlon_source},
    {"ascend_910", "tdp_w", 300, read, liao_source},
    {"ga100", "die_mm2", 826, secondary, ga100_source},
    {"ga100", "clock_mhz", 1410, secondary, kiln_source},
    {"ga100", "macs_per_clk", 110592, derived, ga100_macs_source},
    {"ga100", "macs_built", 131072, derived, ga100_macs_source},
    {"ga100", "sram_built_mib", 104, derived, ga100_sram_source},
    {"ga100", "dram_gbs", 2039, unverified, common_source},
    {"ga100", "hbm_stacks", 6, secondary, ga100_source},
    {"ga100", "serdes_lanes", 48, unverified, common_source},
    {"ga100", "serdes_gbps", 50, unverified, common_source},
    {"ga100", "pcie_lanes", 16, secondary, ga100_source},
    {"ga100", "pcie_gbps", 16, secondary, ga100_source},
    {"ga100", "tdp_w", 400, secondary, kiln_source},
    {"gh100", "die_mm2", 814, secondary, kiln_source},
    {"gh100", "clock_mhz", 1830, unverified, common_source},
    {"gh100", "macs_per_clk", 270336, derived, gh100_macs_source},
    {"gh100", "macs_built", 294912, derived, gh100_macs_source},
    {"gh100", "sram_built_mib", 133, derived, gh100_sram_source},
    {"gh100", "dram_gbs", 3350, unverified, common_source},
    {"gh100", "hbm_stacks", 6, unverified, common_source},
    {"gh100", "serdes_lanes", 36, unverified, common_source},
    {"gh100", "serdes_gbps", 100, unverified, common_source},
    {"gh100", "pcie_lanes", 16, unverified, common_source},
    {"gh100", "pcie_gbps", 32, unverified, common_source},
    {"gh100", "tdp_w", 700, secondary, kiln_source},
    {"gemmini_22ffl", "system_mm2", 1.029, secondary, gemmini_source},
    {"gemmini_22ffl", "macs_per_clk", 256, secondary, gemmini_source},
    {"gemmini_22ffl", "sram_built_mib", 0.3125, derived, gemmini_source},
    {"diannao", "die_mm2", 3.02, secondary, diannao_source},
    {"diannao", "clock_mhz", 980, unverified, common_source},
    {"diannao", "macs_per_clk", 256, unverified, common_source},
    {"diannao", "sram_built_mib", 0.043, unverified, common_source},
    {"diannao", "sram_port_bits", 4608, assumption, diannao_ports_source},
    {"diannao", "read_bits", 4608, assumption, diannao_ports_source},
    {"diannao", "bank_kib", 1, assumption, diannao_ports_source},
    {"diannao", "activity", 0.9, derived, diannao_busy_source},
    {"diannao", "power_w", 0.485, secondary, diannao_source},
    {"unpu", "die_mm2", 16, unverified, common_source},
    {"unpu", "clock_mhz", 200, secondary, unpu_source},
    {"unpu", "macs_per_clk", 864, derived, unpu_macs_source},
    {"unpu", "sram_built_mib", 0.25, unverified, common_source},
};

using enum ChipUse;
using enum ChipScope;
using enum NumberFormat;

constexpr Chip all[] = {
    {"tpu_v1", "Google TPU v1", fit, 28, int8, int8, int32, chip, "tpu_v1"},
    {"tpu_v4i", "Google TPU v4i", fit, 7, bf16, bf16, fp32, chip, "tpu_v4i"},
    {"mtia_2i", "Meta MTIA 2i", fit, 5, bf16, bf16, fp32, chip, "mtia_2i"},
    {"nnp_t", "Intel NNP-T", fit, 16, bf16, bf16, fp32, chip, "nnp_t"},
    {"eyeriss_v1", "Eyeriss v1", fit, 65, int16, int16, int16, core, "eyeriss_v1"},
    {"simba_chip", "NVIDIA RC18 (Simba)", fit, 16, int8, int8, int32, die, "simba_chip"},
    {"nvdla_2048_28", "NVDLA 2048, 28 nm", fit, 28, int8, int8, int32, core, "nvdla_2048"},
    {"nvdla_2048_16", "NVDLA 2048, 16 nm", fit, 16, int8, int8, int32, core, "nvdla_2048"},
    {"nvdla_1024_28", "NVDLA 1024, 28 nm", fit, 28, int8, int8, int32, core, "nvdla_1024"},
    {"nvdla_1024_16", "NVDLA 1024, 16 nm", fit, 16, int8, int8, int32, core, "nvdla_1024"},
    {"nvdla_512_28", "NVDLA 512, 28 nm", fit, 28, int8, int8, int32, core, "nvdla_512"},
    {"nvdla_512_16", "NVDLA 512, 16 nm", fit, 16, int8, int8, int32, core, "nvdla_512"},
    {"nvdla_256_28", "NVDLA 256, 28 nm", fit, 28, int8, int8, int32, core, "nvdla_256"},
    {"nvdla_256_16", "NVDLA 256, 16 nm", fit, 16, int8, int8, int32, core, "nvdla_256"},
    {"nvdla_128_28", "NVDLA 128, 28 nm", fit, 28, int8, int8, int32, core, "nvdla_128"},
    {"nvdla_128_16", "NVDLA 128, 16 nm", fit, 16, int8, int8, int32, core, "nvdla_128"},
    {"nvdla_64_28", "NVDLA 64, 28 nm", fit, 28, int8, int8, int32, core, "nvdla_64"},
    {"nvdla_64_16", "NVDLA 64, 16 nm", fit, 16, int8, int8, int32, core, "nvdla_64"},
    {"nvdla_32_28", "NVDLA 32, 28 nm", fit, 28, int8, int8, int32, core, "nvdla_32"},
    {"nvdla_32_16", "NVDLA 32, 16 nm", fit, 16, int8, int8, int32, core, "nvdla_32"},
    {"tpu_v4", "Google TPU v4", predict, 7, bf16, bf16, fp32, chip, "tpu_v4"},
    {"mtia_1", "Meta MTIA 1", predict, 7, fp16, fp16, fp32, chip, "mtia_1"},
    {"ipu_gc200", "Graphcore GC200", predict, 7, fp16, fp16, fp32, chip, "ipu_gc200"},
    {"ascend_910", "Huawei Ascend 910", predict, 7, fp16, fp16, fp32, chip, "ascend_910"},
    {"ga100", "NVIDIA GA100", predict, 7, fp16, fp16, fp32, chip, "ga100"},
    {"gemmini_22ffl", "Gemmini 16 x 16", predict, 22, int8, int8, int32, core, "gemmini_22ffl"},
    // A truncated product of 16 x 16 bits has half the cells: it is a product of 16 x 8.
    {"diannao", "DianNao (layout)", predict, 65, int16, int8, int16, core, "diannao"},
    {"unpu", "UNPU", predict, 65, int16, int16, int32, die, "unpu"},
    {"ipu_gc2", "Graphcore GC2", check, 16, fp16, fp16, fp32, chip, "ipu_gc2"},
    {"gh100", "NVIDIA GH100", check, 4, fp16, fp16, fp32, chip, "gh100"},
};

}  // namespace

std::span<const ChipFigure> chip_figures() { return figures; }
std::span<const Chip> chips() { return all; }

}  // namespace sdip
