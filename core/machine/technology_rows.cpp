// The table of energy, area, clock and FPGA constants, each with its source and range.
#include "core/machine/technology.h"

namespace sdip {
namespace {

constexpr std::string_view horowitz = "Horowitz, ISSCC 2014, energy table, 45 nm 0.9 V";
constexpr std::string_view jouppi = "Jouppi et al., ISCA 2021, Table 2, 7 nm";
constexpr std::string_view scaled = "assumption: int8 figures scaled by the square of the operand width";
constexpr std::string_view fp8_int8 =
    "van Baalen et al., 2023 (arXiv 2303.17951): FP8 is 50 to 180 % less efficient than INT8 in hardware; here 100 "
    "%";
constexpr std::string_view model_7nm = "public model of a 7 nm lane, assumption-grade";
constexpr std::string_view mantissa =
    "assumption: adder 23 um2 + multiplier 0.35 um2 x mantissa bits squared, fitted to bf16";

constexpr std::string_view stillmaker =
    "Stillmaker and Baas, Integration 58 (2017): energy polynomials of HP devices at nominal voltage over 45 nm at "
    "0.9 "
    "V; coefficients as two public tools transcribe them";
constexpr std::string_view stillmaker_area =
    "Stillmaker and Baas, Integration 58 (2017), table of area factors, as two public tools transcribe it";
constexpr std::string_view stillmaker_delay =
    "Stillmaker and Baas, Integration 58 (2017): delay polynomials of HP devices at nominal voltage, read as ps of "
    "an "
    "inverter that drives four";
constexpr std::string_view tsmc_n5 =
    "TSMC of N5 over N7 (WikiChip, March 2020): 1.84x logic density, 15 % faster, 30 % less power";
constexpr std::string_view floor_v1 =
    "Jouppi et al., ISCA 2017, Fig. 2: of the die 37 % buffers, 30 % compute, 10 % I/O, 2 % control, 21 % the rest";
constexpr std::string_view floor_power_law =
    "assumption: between TPU v1 (28 nm) and TPU v4i (7 nm) by a power law of the node, and on";
constexpr std::string_view logic_depth = "assumption: gate delays of product, alignment, sum and rounding together";
constexpr std::string_view crossbar_pitch =
    "assumption: as at 45 nm, by the least metal pitch: 140 nm there, 90, 70, 40 and 28 nm at 28, 16, 7 and 5";
constexpr std::string_view fpga_product = "AMD product selection guide; not re-read";
constexpr std::string_view dsp58 =
    "AMD UG1273, AM004: DSP58 is a 27x24 multiplier, a three-element int8 dot product or one fp32 operation";
constexpr std::string_view dsp48 =
    "assumption: DSP48E1 is one 25x18 multiplier and adder (UG479); wider and floating ones take several";
constexpr std::string_view soft_logic =
    "assumption: LUTs beside the DSP blocks, from published designs of this kind";

using enum Confidence;

// Energies in pJ, areas in um2 a lane, SRAM in pJ per 64 bits and mm2 per MiB.
constexpr TechnologyRow table[] = {
    {"n45.multiply.int8", 0.2, 0.2, 0.2, "pJ", cited, horowitz},
    {"n45.multiply.int16", 0.8, 0.4, 1.6, "pJ", assumption, scaled},
    {"n45.multiply.int32", 3.1, 3.1, 3.1, "pJ", cited, horowitz},
    {"n45.multiply.int4", 0.05, 0.03, 0.1, "pJ", assumption, scaled},
    {"n45.multiply.fp8", 0.4, 0.3, 0.56, "pJ", cited, fp8_int8},
    {"n45.multiply.fp16", 1.1, 1.1, 1.1, "pJ", cited, horowitz},
    {"n45.multiply.bf16", 0.7, 0.5, 1.1, "pJ", assumption, "assumption: fp16 x the 7 nm ratio of bf16 to fp16"},
    {"n45.multiply.fp32", 3.7, 3.7, 3.7, "pJ", cited, horowitz},
    {"n45.add.int32", 0.1, 0.1, 0.1, "pJ", cited, horowitz},
    {"n45.add.int16", 0.05, 0.03, 0.1, "pJ", assumption, "assumption: half of int32"},
    {"n45.add.int8", 0.03, 0.03, 0.03, "pJ", cited, horowitz},
    {"n45.add.fp16", 0.4, 0.4, 0.4, "pJ", cited, horowitz},
    {"n45.add.fp32", 0.9, 0.9, 0.9, "pJ", cited, horowitz},
    {"n45.sram.8KB", 10, 6.05, 10, "pJ/64b", cited, horowitz},
    {"n45.sram.32KB", 20, 17, 20, "pJ/64b", cited, horowitz},
    {"n45.sram.1MB", 100, 60, 121, "pJ/64b", cited, horowitz},
    {"n45.sram.area", 3.56, 3.3, 3.8, "mm2/MiB", cited, "CACTI 7, itrs-hp, 1RW, 45 nm: 2.1 to 2.4 Mib/mm2"},
    {"n45.area.int8", 419, 419, 419, "um2", cited, "Horowitz, ISSCC 2014: int8 multiplier 282 + int32 adder 137"},
    {"n45.area.int16", 1265, 800, 1700, "um2", assumption, scaled},
    {"n45.area.int32", 3632, 2400, 4700, "um2", assumption, scaled},
    {"n45.area.int4", 208, 100, 300, "um2", assumption, scaled},
    {"n45.area.fp8", 838, 628, 1173, "um2", cited, fp8_int8},
    {"n45.area.fp16", 5824, 5824, 5824, "um2", cited,
     "Horowitz, ISSCC 2014: fp16 multiplier 1640 + fp32 adder 4184"},
    {"n45.area.bf16", 5100, 4700, 5824, "um2", assumption,
     "assumption: fp16 with the multiplier by mantissa squared"},
    {"n45.area.fp32", 11884, 11884, 11884, "um2", cited, "Horowitz, ISSCC 2014: fp32 multiplier 7700 + adder 4184"},

    {"n7.multiply.int8", 0.07, 0.07, 0.07, "pJ", cited, jouppi},
    {"n7.multiply.int16", 0.28, 0.14, 0.56, "pJ", assumption, scaled},
    {"n7.multiply.int32", 1.48, 0.93, 2.36, "pJ", unverified, jouppi},
    {"n7.multiply.int4", 0.0175, 0.01, 0.035, "pJ", assumption, scaled},
    {"n7.multiply.fp8", 0.14, 0.105, 0.196, "pJ", cited, fp8_int8},
    {"n7.multiply.fp16", 0.34, 0.34, 0.34, "pJ", cited, jouppi},
    {"n7.multiply.bf16", 0.21, 0.18, 0.245, "pJ", unverified, jouppi},
    {"n7.multiply.fp32", 1.31, 1.31, 1.31, "pJ", cited, jouppi},
    {"n7.add.int32", 0.03, 0.03, 0.03, "pJ", cited, jouppi},
    {"n7.add.int16", 0.015, 0.01, 0.03, "pJ", assumption, "assumption: half of int32"},
    {"n7.add.int8", 0.007, 0.0046, 0.0106, "pJ", unverified, jouppi},
    {"n7.add.fp16", 0.16, 0.12, 0.213, "pJ", unverified, jouppi},
    {"n7.add.fp32", 0.38, 0.27, 0.535, "pJ", unverified, jouppi},
    {"n7.sram.8KB", 7.5, 7.5, 7.5, "pJ/64b", cited, jouppi},
    {"n7.sram.32KB", 8.5, 8.5, 8.5, "pJ/64b", cited, jouppi},
    {"n7.sram.1MB", 14, 14, 14, "pJ/64b", cited, jouppi},
    {"n7.sram.area", 0.32, 0.32, 0.32, "mm2/MiB", cited,
     "bitcell 0.027 um2 (Wu, IEDM 2016) at 70 % macro efficiency"},
    {"n7.area.int8", 27, 13, 54, "um2", assumption, model_7nm},
    {"n7.area.int16", 100, 50, 200, "um2", assumption, scaled},
    {"n7.area.int32", 380, 190, 760, "um2", assumption, scaled},
    {"n7.area.int4", 11, 5, 22, "um2", assumption, scaled},
    {"n7.area.fp8", 54, 40, 76, "um2", cited, fp8_int8},
    {"n7.area.fp16", 65, 33, 130, "um2", assumption, mantissa},
    {"n7.area.bf16", 45, 23, 90, "um2", assumption, model_7nm},
    {"n7.area.fp32", 225, 110, 450, "um2", assumption, mantissa},

    {"composable.integer.area", 1.96, 1.1, 3.33, "ratio", unverified,
     "Ryu et al., BitBlade, DAC 2019: 41 % less than Bit Fusion (Sharma et al., ISCA 2018), whose unit of 1394 um2 "
     "is the most, over n45.area.int8; least: an assumption, a multiplier that splits in two"},
    {"composable.integer.energy", 1.5, 1.1, 3.33, "ratio", assumption,
     "assumption: half of what the area grows by; most as the area"},
    {"composable.float.area", 1.18, 1.1, 1.5, "ratio", unverified,
     "Huang et al., ARITH 2007: a double multiply-add that makes two singles is 18 % larger; ends: an assumption"},
    {"composable.float.energy", 1.18, 1, 1.5, "ratio", assumption, "assumption: as the area"},

    {"rom.over_sram", 0.25, 0.15, 0.5, "", assumption, "assumption: area of a ROM bit over that of an SRAM bit"},

    {"fefet.cell.over_sram", 0.2, 0.15, 1, "ratio", assumption,
     "assumption: a FeFET cell of 0.025 um2 (Dunkel et al., IEDM 2017) over the 28 nm SRAM cell of 0.127 um2, at "
     "every node; most: with selectors and drivers"},
    {"fefet.array", 128, 128, 128, "cells", unverified,
     "Shafiee et al., ISAAC, ISCA 2016: arrays of 128 rows by 128 columns; here of one bit a cell"},
    {"fefet.product", 0.00226, 0.001, 0.018, "pJ", assumption,
     "assumption: two operations of a bit at the 885.4 TOPS/W of Soliman et al., Nat. Commun. 14 (2023), 28 nm; "
     "most at the 111.6 TOPS/W of the 1F1C macro, IEEE JXCDC 2024"},
    {"fefet.conversion", 1.56, 0.3, 3.1, "pJ", unverified,
     "Shafiee et al., ISAAC, ISCA 2016: eight 8-bit converters of 1.28 GS/s take 16 mW at 32 nm; other nodes "
     "within the range"},
    {"fefet.converter", 1200, 300, 2400, "um2", unverified,
     "Shafiee et al., ISAAC, ISCA 2016: eight 8-bit converters take 0.0096 mm2 at 32 nm; other nodes within the "
     "range"},
    {"fefet.leaks", 0.01, 0.001, 0.1, "ratio", assumption,
     "assumption: of the area what leaks as logic does; cells hold without power, idle converters are switched "
     "off"},

    {"dram.lpddr4", 8, 4, 20, "pJ/bit", cited,
     "Accelergy table (public data); Dally CACM 2020 says about 4, Horowitz 20"},
    {"dram.ddr4", 20, 20, 20, "pJ/bit", cited, "Jouppi et al., ISCA 2021, Table 2: 1300 pJ per 64 b, I/O only"},
    {"dram.gddr6", 6.5, 5.5, 7.5, "pJ/bit", cited,
     "Jouppi et al., ISCA 2021, Table 2: 350 to 480 pJ per 64 b, I/O only"},
    {"dram.ddr3", 70, 20, 70, "pJ/bit", cited, "Accelergy table (system view); I/O alone as ddr4"},
    {"dram.gddr5", 14, 14, 14, "pJ/bit", cited, "Accelergy table"},
    {"dram.hbm2e", 4.3, 3.9, 13.1, "pJ/bit", cited,
     "SK hynix, IEDM 2023: the device; most as HBM2 measured with controllers (Antepara, SC 2025)"},
    {"dram.hbm2", 5.5, 3.9, 13.1, "pJ/bit", cited,
     "Jouppi et al., ISCA 2021, Table 2: 250 to 450 pJ per 64 b; A100 measured 13.1 with controllers (Antepara, SC "
     "2025)"},

    {"n65.logic_energy.over_n45", 1.91, 1.9, 2.4, "ratio", unverified, stillmaker},
    {"n28.logic_energy.over_n45", 0.518, 0.287, 0.654, "ratio", assumption,
     "assumption: between the 32 and 20 nm of Stillmaker and Baas, Integration 58 (2017), by the logarithm of the "
     "node"},
    {"n16.logic_energy.over_n45", 0.198, 0.158, 0.238, "ratio", unverified, stillmaker},
    {"n7.logic_energy.over_n45", 0.0684, 0.0547, 0.0821, "ratio", unverified, stillmaker},
    {"n65.logic_area.over_n45", 1.5, 1.2, 1.8, "ratio", unverified, stillmaker_area},
    {"n28.logic_area.over_n45", 0.368, 0.21, 0.46, "ratio", assumption,
     "assumption: between the 32 and 20 nm of Stillmaker and Baas, Integration 58 (2017), by the logarithm of the "
     "node"},
    {"n16.logic_area.over_n45", 0.19, 0.152, 0.228, "ratio", unverified, stillmaker_area},
    {"n7.logic_area.over_n45", 0.059, 0.0472, 0.0708, "ratio", unverified, stillmaker_area},
    {"n5.logic_energy.over_n7", 0.7, 0.7, 0.85, "ratio", cited, tsmc_n5},
    {"n5.sram_energy.over_n7", 0.85, 0.7, 1, "ratio", assumption,
     "assumption: between no gain and that of logic; SRAM gains less than logic (Jouppi et al., ISCA 2021)"},
    {"n5.logic_area.over_n7", 0.543, 0.543, 0.588, "ratio", cited, tsmc_n5},
    {"n65.sram.area", 6.29, 5, 8, "mm2/MiB", assumption,
     "assumption: bitcell 0.525 um2 (commonly quoted of TSMC 65 nm) at 70 % macro efficiency"},
    {"n28.sram.area", 1.52, 1.52, 1.52, "mm2/MiB", cited,
     "bitcell 0.127 um2 (TSMC 28 nm, WikiChip) at 70 % macro efficiency"},
    {"n16.sram.area", 0.84, 0.84, 0.84, "mm2/MiB", cited,
     "bitcell 0.070 um2 (Chen et al., JSSC 2015) at 70 % macro efficiency"},
    {"n5.sram.area", 0.25, 0.25, 0.25, "mm2/MiB", cited, "bitcell 0.021 um2 (TSMC N5) at 70 % macro efficiency"},
    {"sram.port_cells", 100, 50, 300, "bit", assumption,
     "assumption: bitcells' worth of sense amplifiers, write drivers and multiplexers for each port bit of each "
     "bank"},

    {"n65.leakage", 1, 0.1, 10, "mW/mm2", assumption, "assumption: a low-power process, as of 65 nm accelerators"},
    {"n45.leakage", 30, 5, 184, "mW/mm2", assumption,
     "assumption: the geometric middle; most is that of HP devices (McPAT gives 138 to 202 for cores)"},
    {"n28.leakage", 20, 5, 85, "mW/mm2", assumption,
     "assumption: the geometric middle; most is all of TPU v1's idle power, 28 W of 331 mm2 (Jouppi et al., ISCA "
     "2017)"},
    {"n16.leakage", 26, 6, 110, "mW/mm2", assumption, "assumption: between 28 and 7 nm"},
    {"n7.leakage", 33, 8, 137, "mW/mm2", assumption,
     "assumption: the geometric middle; most is all of TPU v4i's idle power, 55 W of 400 mm2 (Jouppi et al., ISCA "
     "2021)"},
    {"n5.leakage", 38, 9, 160, "mW/mm2", assumption, "assumption: as 7 nm, a little denser"},

    {"wire.energy", 0.08, 0.06, 0.1, "pJ/bit/mm", cited,
     "Dally et al., CACM 2020; Keckler et al., IEEE Micro 2011"},
    {"n65.crossbar.pitch", 0.289, 0.289, 0.627, "um", cited,
     "Satpathy et al., SWIFT (University of Michigan): 32 x 32 of 64 bit in 0.35 mm2 at 65 nm; most is that of a "
     "standard-cell one at 90 nm, 128 x 128 of 32 bit in 6.6 mm2 (Passas et al., NOCS 2010)"},
    {"n45.crossbar.pitch", 0.246, 0.246, 0.947, "um", cited,
     "Satpathy et al., DAC 2012: 64 x 64 of 128 bit in 4.06 mm2 at 45 nm; most is 16 x 16 of 64 bit in 0.94 mm2 at "
     "40 nm (Cakir et al., ISLPED 2015)"},
    {"n28.crossbar.pitch", 0.158, 0.15, 0.61, "um", assumption, crossbar_pitch},
    {"n16.crossbar.pitch", 0.123, 0.11, 0.47, "um", assumption, crossbar_pitch},
    {"n7.crossbar.pitch", 0.07, 0.067, 0.27, "um", assumption, crossbar_pitch},
    {"n5.crossbar.pitch", 0.049, 0.047, 0.19, "um", assumption, crossbar_pitch},
    {"clock.over_dynamic", 0.5, 0.25, 0.8, "ratio", unverified,
     "Chen et al., Eyeriss, JSSC 2017: the clock network is about a third of the chip's power"},
    {"control.over_datapath", 0.03, 0.015, 0.1, "ratio", cited, floor_v1},
    {"control.distributed.over_central", 2, 1, 7, "ratio", assumption,
     "assumption: up to a state machine as large as the central one for each of seven operator families"},
    {"n65.other.over_datapath", 0.245, 0.1, 1.3, "ratio", assumption, floor_power_law},
    {"n45.other.over_datapath", 0.323, 0.1, 1.3, "ratio", assumption, floor_power_law},
    {"n28.other.over_datapath", 0.463, 0.2, 1.3, "ratio", cited, floor_v1},
    {"n16.other.over_datapath", 0.707, 0.3, 1.5, "ratio", assumption, floor_power_law},
    {"n7.other.over_datapath", 1.32, 0.46, 1.5, "ratio", unverified,
     "Jouppi et al., ISCA 2021, die photograph of TPU v4i: CMEM 28 % and MXUs 11 % of it, VMEM in proportion"},
    {"n5.other.over_datapath", 1.7, 0.46, 2, "ratio", assumption, floor_power_law},

    {"n65.fo4", 21.8, 19.2, 21.8, "ps", unverified, stillmaker_delay},
    {"n45.fo4", 12.6, 10.1, 15.1, "ps", unverified, stillmaker_delay},
    {"n28.fo4", 8.7, 8.3, 9.5, "ps", assumption,
     "assumption: between the 32 and 20 nm of Stillmaker and Baas, Integration 58 (2017)"},
    {"n16.fo4", 6.4, 5.1, 7.7, "ps", unverified, stillmaker_delay},
    {"n7.fo4", 3.24, 2.6, 3.9, "ps", unverified, stillmaker_delay},
    {"n5.fo4", 2.82, 2.82, 2.82, "ps", cited, tsmc_n5},
    {"clock.margin", 2.5, 1.5, 4, "ratio", assumption,
     "assumption: slow corner, wires and synthesis over gates alone at the typical corner"},
    {"clock.overhead", 1.8, 1.8, 3, "fo4", unverified,
     "Hrishikesh et al., ISCA 2002: latch, skew and jitter of a stage"},
    {"clock.least_stage", 20, 11, 40, "fo4", assumption,
     "assumption: logic of a synthesised stage; the shortest custom one known is POWER6's, 13 with its latch"},
    {"depth.int4", 25, 18, 35, "fo4", assumption, logic_depth},
    {"depth.int8", 35, 25, 50, "fo4", assumption, logic_depth},
    {"depth.int16", 45, 32, 65, "fo4", assumption, logic_depth},
    {"depth.int32", 55, 40, 80, "fo4", assumption, logic_depth},
    {"depth.fp8", 55, 40, 75, "fo4", assumption, logic_depth},
    {"depth.bf16", 65, 48, 85, "fo4", assumption, logic_depth},
    {"depth.fp16", 70, 50, 90, "fo4", assumption, logic_depth},
    {"depth.fp32", 90, 65, 110, "fo4", assumption,
     "assumption: as the 7 stages of 13 of POWER6's fused multiply-add (ARITH 2007)"},

    {"fpga_zynq7020.dsp", 220, 220, 220, "blocks", cited, "AMD XC7Z020, DS190: 220 DSP48E1"},
    {"fpga_zynq7020.bram", 140, 140, 140, "blocks", cited, "AMD XC7Z020, DS190: 140 block RAMs of 36 Kb"},
    {"fpga_zynq7020.lut", 53200, 53200, 53200, "LUTs", cited, "AMD XC7Z020, DS190: 53,200 LUTs of six inputs"},
    {"fpga_zynq7020.clock", 388, 388, 464, "MHz", unverified,
     "AMD DS187, speed grade -1: block RAM 388 MHz, DSP48E1 with all registers 464 MHz"},
    {"fpga_zynq7020.static", 0.2, 0.1, 0.5, "W", assumption, "assumption: static power of the configured part"},
    {"fpga_zynq7020.bitstream", 4045564, 4045564, 4045564, "B", cited,
     "U-Boot, include/zynqpl.h: a whole XC7Z020 is 32,364,512 bits, as Vivado writes it without compression"},
    {"fpga_zynq7020.configuration", 145, 100, 400, "MB/s", unverified,
     "AMD UG585: PCAP about 145 MB/s not encrypted, a byte of 100 MHz encrypted; most is the port's own, 32 bits "
     "of 100 MHz (AMD UG909, read)"},
    {"fpga_vc1902.dsp", 1968, 1968, 1968, "blocks", cited, "AMD AM004, device resources: VC1902 has 1,968 DSP58"},
    {"fpga_vc1902.bram", 967, 967, 967, "blocks", unverified, fpga_product},
    {"fpga_vc1902.uram", 463, 463, 463, "blocks", unverified, fpga_product},
    {"fpga_vc1902.lut", 899840, 899840, 899840, "LUTs", unverified, fpga_product},
    {"fpga_vc1902.clock", 600, 400, 800, "MHz", assumption,
     "assumption: below the limits of its DSP and RAM blocks"},
    {"fpga_vc1902.static", 12, 5, 30, "W", assumption, "assumption: static power of the configured part"},
    {"fpga_vc1902.bitstream", 91225000, 89362500, 111224000, "B", cited,
     "AMD AM011, PDI size estimation, at most: 714.9 Mbit of CFI frames (least) and 14.9 of NPI; most with 153.6 "
     "of AI engines, which are not used here, and 0.80 MB of firmware"},
    {"fpga_vc1902.configuration", 3200, 2560, 6400, "MB/s", cited,
     "AMD UG909: frames are taken at 3.2 GB/s, 2.56 in the slowest speed grade; most is that of the unit behind, "
     "uncompressed"},
    {"fpga.energy.over_node", 7.1, 3, 14, "ratio", assumption,
     "assumption: Kuon and Rose, TCAD 2007, found 14 for logic alone and less with hard blocks"},
    {"fpga.logic_area.over_node", 18, 5, 35, "ratio", cited,
     "Kuon and Rose, TCAD 2007: 35 for logic alone, 18 with hard blocks, below 5 for heavy use of them"},
    {"fpga.bram_bits", 36864, 36864, 36864, "bit", cited, "AMD UG473, UG1273: block RAM of 36 Kb, 72 bits wide"},
    {"fpga.uram_bits", 294912, 294912, 294912, "bit", cited, "AMD UG1273: UltraRAM of 288 Kb, 72 bits wide"},
    {"fpga.ram_port", 72, 72, 72, "bit", cited, "AMD UG473, UG1273: 512 x 72, or 4K x 72"},
    {"fpga_zynq7020.dsp.int4", 1, 0.5, 1, "blocks", assumption, dsp48},
    {"fpga_zynq7020.dsp.int8", 1, 0.5, 1, "blocks", assumption, dsp48},
    {"fpga_zynq7020.dsp.int16", 1, 1, 1, "blocks", cited, "AMD UG479: DSP48E1 is one 25x18 multiplier and adder"},
    {"fpga_zynq7020.dsp.int32", 4, 3, 4, "blocks", assumption, dsp48},
    {"fpga_zynq7020.dsp.fp8", 1, 0.5, 2, "blocks", assumption, dsp48},
    {"fpga_zynq7020.dsp.bf16", 2, 1, 3, "blocks", assumption, dsp48},
    {"fpga_zynq7020.dsp.fp16", 2, 1, 4, "blocks", assumption, dsp48},
    {"fpga_zynq7020.dsp.fp32", 5, 3, 5, "blocks", assumption, dsp48},
    {"fpga_vc1902.dsp.int4", 0.3333333333333333, 0.25, 1, "blocks", assumption, "assumption: as int8"},
    {"fpga_vc1902.dsp.int8", 0.3333333333333333, 0.3333333333333333, 1, "blocks", cited, dsp58},
    {"fpga_vc1902.dsp.int16", 1, 1, 1, "blocks", cited, dsp58},
    {"fpga_vc1902.dsp.int32", 2, 2, 4, "blocks", assumption,
     "assumption: two 27x24 multipliers, corrected in logic"},
    {"fpga_vc1902.dsp.fp8", 1, 0.5, 1, "blocks", assumption, "assumption: as fp32"},
    {"fpga_vc1902.dsp.bf16", 1, 0.5, 1, "blocks", assumption, "assumption: as fp32"},
    {"fpga_vc1902.dsp.fp16", 1, 0.5, 1, "blocks", assumption, "assumption: as fp32"},
    {"fpga_vc1902.dsp.fp32", 2, 1, 2, "blocks", assumption,
     "assumption: one DSP58 for the product and one for the sum (UG1273: one fp32 operation each)"},
    {"fpga.lut.inputs_switched", 4, 4, 4, "inputs", cited,
     "AMD UG474: a LUT of six inputs is a 4-to-1 multiplexer"},
    {"fpga.lut.integer_lane", 50, 20, 200, "LUTs", assumption, soft_logic},
    {"fpga.lut.float_lane", 400, 100, 800, "LUTs", assumption, soft_logic},
    {"fpga.lut.control", 3000, 1000, 10000, "LUTs", assumption, soft_logic},
};

static_assert(std::size(table) == technology_row_count);

}  // namespace

std::string_view confidence_text(Confidence confidence) {
  constexpr std::string_view names[] = {"cited", "unverified", "assumption"};
  return names[static_cast<std::size_t>(confidence)];
}

std::span<const TechnologyRow> technology_rows() { return table; }

}  // namespace sdip
