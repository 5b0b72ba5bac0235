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
constexpr std::string_view mantissa = "assumption: fp16's by the square of the mantissa bits";

constexpr std::string_view log_log =
    "assumption: Horowitz, ISSCC 2014 at 45 nm and Jouppi et al., ISCA 2021 at 7 nm joined by a power law, "
    "node^0.60; ends: "
    "node^0.5 and node^0.7";
constexpr std::string_view densities =
    "between Stillmaker and Baas, Integration 58 (2017), table of area factors, and transistors a mm2 of Khan and "
    "Mann, CSET 2020, which are the ends";
constexpr std::string_view fo4_wired =
    "assumption: wires and slow corner included; 10 ps at 7 nm, others by steps of published speed (TSMC: 28 to 16 "
    "nm "
    "65 %, 7 to 5 nm 15 %) and the shipped clocks of sdip chips";
constexpr std::string_view fitted =
    "assumption: fitted on the chips that `sdip chips` marks so; ends: what each alone would take";
constexpr std::string_view low_power =
    "assumption: a low-power process, as of accelerators at 65 nm, nine tenths of it transistors' own";
constexpr std::string_view by_trend =
    "assumption: 8 mW at 7 nm by the trend of a public simulator's figures (22, 12, 7, 5 nm: 12, 15, 17, 20 "
    "mW/MiB); the ends are as far apart as sources are";
constexpr std::string_view nominal =
    "nominal supply, as Horowitz (45 nm), Stillmaker and Baas, and Khan and Mann use";
constexpr std::string_view threshold = "assumption: 0.30 V at 7 nm (a public model's prior), 0.40 V at 65 nm";
constexpr std::string_view least_supply = "assumption: four fifths of the nominal supply, 0.60 V at 7 nm";
constexpr std::string_view most_supply =
    "assumption: 0.95 V at 7 nm (a public model's prior), others in proportion";
constexpr std::string_view sram_supply =
    "assumption: the nominal supply; MTIA 1 (7 nm) gives its memories 0.75 V beside 0.67 V of logic (ISCA 2025)";
constexpr std::string_view tsmc_n5 =
    "TSMC of N5 over N7 (WikiChip, March 2020): 1.84x logic density, 15 % faster, 30 % less power";
constexpr std::string_view floor_v1 =
    "Jouppi et al., ISCA 2017, Fig. 2: of the die 37 % buffers, 30 % compute, 10 % I/O, 2 % control, 21 % the rest";
constexpr std::string_view logic_depth = "assumption: gate delays of product, alignment, sum and rounding together";
constexpr std::string_view crossbar_pitch =
    "assumption: as at 45 nm, by the root of the area of logic; least by the metal pitch: 140, 90, 70, 40, 28 nm";
constexpr std::string_view fpga_product = "AMD product selection guide; not re-read";
constexpr std::string_view dsp58 =
    "AMD UG1273, AM004: DSP58 is a 27x24 multiplier, a three-element int8 dot product or one fp32 operation";
constexpr std::string_view dsp48 =
    "assumption: DSP48E1 is one 25x18 multiplier and adder (UG479); wider and floating ones take several";
constexpr std::string_view soft_logic =
    "assumption: LUTs beside the DSP blocks, from published designs of this kind";

constexpr std::string_view dot_product_units =
    "sky130 synthesis of 32-lane dot products with one rounding, over int8: fp8 12.6 % larger, MXINT8 11.0 %; not "
    "re-read";
constexpr std::string_view mx_ratios =
    "assumption: MXFP8 by GOPS/W of arXiv 2511.06313, 1438 of MXFP8, 1675 of MXFP6, 4065 of MXFP4; VMXDOTP has 843 "
    "and 1632 GFLOPS/W of MXFP8 and MXFP4; between the two, ends beyond them";

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
    {"n45.area.multiply.int4", 70.5, 35, 105, "um2", assumption, scaled},
    {"n45.area.multiply.int8", 282, 282, 282, "um2", cited, horowitz},
    {"n45.area.multiply.int16", 1128, 564, 1650, "um2", assumption, scaled},
    {"n45.area.multiply.int32", 3495, 3495, 3495, "um2", cited, horowitz},
    {"n45.area.multiply.fp8", 564, 317, 790, "um2", cited, fp8_int8},
    {"n45.area.multiply.bf16", 867, 650, 1640, "um2", assumption, mantissa},
    {"n45.area.multiply.fp16", 1640, 1640, 1640, "um2", cited, horowitz},
    {"n45.area.multiply.fp32", 7700, 7700, 7700, "um2", cited, horowitz},
    {"n45.area.add.int8", 36, 36, 36, "um2", cited, horowitz},
    {"n45.area.add.int16", 67, 67, 67, "um2", cited, horowitz},
    {"n45.area.add.int32", 137, 137, 137, "um2", cited, horowitz},
    {"n45.area.add.fp16", 1360, 1360, 1360, "um2", cited, horowitz},
    {"n45.area.add.fp32", 4184, 4184, 4184, "um2", cited, horowitz},
    {"n45.register.area", 6, 4, 8, "um2/bit", unverified,
     "a flip-flop of a public model; 5.98 um2 in the 40 nm cells of Aladdin (Shao et al., ISCA 2014)"},
    {"n45.register.energy", 0.004, 0.002, 0.009, "pJ/bit", assumption,
     "assumption: half of the 8 fJ a bit and cycle of a public model (9 in the 40 nm cells of Aladdin): the other "
     "half is the "
     "clock's, and is in its tree"},

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
    {"n7.sram.area", 0.324, 0.324, 0.324, "mm2/MiB", cited,
     "bitcell 0.027 um2 (Wu, IEDM 2016) at 70 % macro efficiency"},

    {"block.mxint8.area", 1.11, 1, 1.3, "ratio", unverified, dot_product_units},
    {"block.mxint8.energy", 1.11, 1, 1.5, "ratio", assumption, "assumption: as the area"},
    {"block.mxfp8.area", 1.126, 1, 1.8, "ratio", unverified, dot_product_units},
    {"block.mxfp8.energy", 1.126, 0.45, 1.8, "ratio", assumption,
     "assumption: as the area; least: MXFP8 over MXINT8 by arXiv 2511.06313, most: fp8 beside int8 of a single MAC "
     "(arXiv 2303.17951)"},
    {"block.mxfp6.area", 0.967, 0.7, 1.5, "ratio", assumption, mx_ratios},
    {"block.mxfp6.energy", 0.967, 0.39, 1.5, "ratio", assumption, mx_ratios},
    {"block.mxfp4.area", 0.52, 0.25, 0.8, "ratio", assumption, mx_ratios},
    {"block.mxfp4.energy", 0.52, 0.16, 0.8, "ratio", assumption, mx_ratios},

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

    {"dram.ddr5", 11.1, 5, 12, "pJ/bit", cited,
     "gem5 DRAMInterface, DDR5-4800: bursts at datasheet currents, I/O apart; least: measured currents are half of "
     "those"},
    {"dram.lpddr4x", 7, 3.5, 12, "pJ/bit", assumption,
     "assumption: LPDDR4 with its I/O at 0.6 V in place of 1.1 V; most: M1's 9 pJ/bit and more, all in "
     "(AnandTech)"},
    {"dram.lpddr5", 5, 3, 8, "pJ/bit", assumption,
     "assumption: between LPDDR4X and the 3.1 pJ/bit of LPDDR5X's core rail (Micron Y52P currents), its I/O added"},
    {"dram.lpddr5x", 4.5, 3, 8, "pJ/bit", assumption,
     "assumption: 3.1 pJ/bit of the core rail (Micron Y52P currents), its I/O at 0.5 V added"},
    {"dram.gddr6x", 7.25, 6.5, 8, "pJ/bit", unverified, "Micron, GDDR6X brief"},
    {"dram.gddr7", 4.5, 4, 7, "pJ/bit", unverified, "Micron, GDDR7 brief"},
    {"dram.hbm3", 3.9, 3.4, 11.7, "pJ/bit", assumption,
     "assumption: between HBM2E's 4.3 and HBM3E's 3.4; most: GH200 with controllers (Antepara, SC 2025)"},
    {"dram.hbm3e", 3.4, 2.8, 11.7, "pJ/bit", unverified,
     "SK hynix: 20 % below HBM2E's 4.3; most as HBM3 with controllers (Antepara, SC 2025)"},

    {"dram.lpddr4.background", 20, 10, 40, "mW/channel", assumption,
     "assumption: half of the 33 mW of DRAMSys' 6 Gb set, whose currents may be of two channels"},
    {"dram.ddr4.background", 250, 150, 420, "mW/channel", unverified,
     "DRAMsim3 currents of DDR4-3200 x16, 67 mW a die active and 44 precharged, measured 0.35 to 0.6 of that; four "
     "or eight dies"},
    {"dram.gddr6.background", 260, 150, 310, "mW/channel", unverified,
     "Samsung K4Z GDDR6 currents: 621 mW active, 419 precharged of a device of two channels, at datasheet maxima"},
    {"dram.hbm2.background", 160, 110, 170, "mW/channel", cited,
     "HBM2 measured on 36 stacks (SAFARI HBM-Power): 1.28 W a stack, 0.94 W of it always"},
    {"dram.ddr3.background", 220, 130, 340, "mW/channel", unverified,
     "DRAMsim3 currents of DDR3L-1600 x16, 63 mW a die active and 43 precharged; four or eight dies"},
    {"dram.gddr5.background", 260, 150, 350, "mW/channel", assumption, "assumption: as GDDR6's channel"},
    {"dram.hbm2e.background", 160, 110, 200, "mW/channel", assumption, "assumption: as HBM2"},
    {"dram.ddr5.background", 370, 200, 620, "mW/channel", unverified,
     "gem5 currents of DDR5-4800 x8, 156 mW a die active and 101 precharged, four dies; measured about 0.6 of "
     "datasheets"},
    {"dram.lpddr4x.background", 18, 8, 35, "mW/channel", assumption, "assumption: as LPDDR4, its I/O apart"},
    {"dram.lpddr5.background", 30, 15, 42, "mW/channel", assumption,
     "assumption: between LPDDR4 and the 42 mW of LPDDR5X"},
    {"dram.lpddr5x.background", 36, 20, 42, "mW/channel", unverified,
     "Micron Y52P currents: 42 mW active, 34 precharged, of 16 bits"},
    {"dram.gddr6x.background", 280, 160, 340, "mW/channel", assumption, "assumption: as GDDR6, a little faster"},
    {"dram.gddr7.background", 160, 90, 200, "mW/channel", assumption,
     "assumption: half of GDDR6's channel, of 8 bits in place of 16 at twice the rate"},
    {"dram.hbm3.background", 54, 40, 80, "mW/channel", unverified,
     "0.86 W a stack of sixteen channels at least (PIMID source list)"},
    {"dram.hbm3e.background", 60, 40, 90, "mW/channel", assumption, "assumption: as HBM3, a little faster"},
    {"phy.hbm.area", 0.0094, 0.0094, 0.0145, "mm2/bit", cited,
     "GA100 die photo (LLMCompass, ISCA 2024): six HBM2E PHYs of 1024 bits are 58 mm2; PHYs keep their area from "
     "node to node"},
    {"phy.hbm.edge", 0.006, 0.0055, 0.0065, "mm/bit", unverified,
     "6.0 to 6.5 mm of edge for a stack of 1024 bits, in a public cost model"},
    {"phy.hbm.energy", 4, 1, 8.8, "pJ/bit", assumption,
     "assumption: half of what A100 takes beside its HBM2, 13.1 less 4.3 pJ/bit (Antepara, SC 2025), the rest "
     "standing"},
    {"phy.hbm.standing", 0.5, 0.2, 4.4, "mW/Gb/s", assumption,
     "assumption: TPU v4i idles at 55 W with 614 GB/s: at most a tenth of it"},
    {"phy.lpddr.area", 0.079, 0.04, 0.1, "mm2/bit", unverified,
     "bump map of 128 bits of LPDDR5 at 9.6 Gb/s, 5.8 x 1.75 mm (arXiv 2510.06513)"},
    {"phy.lpddr.edge", 0.045, 0.03, 0.06, "mm/bit", unverified, "the same: 5.8 mm of edge for 128 bits"},
    {"phy.lpddr.energy", 2.5, 1, 5, "pJ/bit", assumption,
     "assumption: unterminated I/O, as much on the die as LPDDR4's 1.6 pJ/bit in the device, controller added"},
    {"phy.lpddr.standing", 0.1, 0.03, 0.3, "mW/Gb/s", assumption, "assumption: unterminated: an eighth of HBM"},
    {"phy.ddr.area", 0.045, 0.011, 0.06, "mm2/bit", unverified,
     "1.45 mm2 a unit of 32 bits, or of 128 (LLMCompass, ISCA 2024, 7 nm)"},
    {"phy.ddr.edge", 0.045, 0.03, 0.06, "mm/bit", assumption, "assumption: as LPDDR5"},
    {"phy.ddr.energy", 6, 3, 10, "pJ/bit", assumption,
     "assumption: terminated I/O on the die, a third of the 20 pJ/bit of both ends (Jouppi, ISCA 2021)"},
    {"phy.ddr.standing", 0.5, 0.2, 1.5, "mW/Gb/s", assumption,
     "assumption: DLLs and termination: between LPDDR and HBM"},
    {"phy.gddr.area", 0.35, 0.2, 0.42, "mm2/bit", unverified,
     "Navi 31 MCD at 6 nm: 27 mm2 at most for 64 bits without its cache, fan-out link included; least half of it"},
    {"phy.gddr.edge", 0.08, 0.05, 0.1, "mm/bit", assumption, "assumption: the side of such a PHY"},
    {"phy.gddr.energy", 4, 2, 7, "pJ/bit", assumption,
     "assumption: terminated I/O on the die, as much as GDDR6's device"},
    {"phy.gddr.standing", 0.6, 0.2, 1.5, "mW/Gb/s", assumption,
     "assumption: PLLs and receivers, between DDR and HBM"},
    {"dram.controller", 0.013, 0.009, 0.036, "mm2/(GB/s)", cited,
     "GA100 die photo (LLMCompass, ISCA 2024): 31.8 mm2 at 7 nm for six stacks of 410 GB/s; other nodes as logic; "
     "most: DDR5 by "
     "its transistors"},
    {"dram.row", 909, 600, 1600, "pJ", cited, "O'Connor et al., MICRO 2017: a row of 1 KB opened in HBM2"},

    {"n65.logic_energy.over_n45", 1.25, 1.2, 1.58, "ratio", assumption, log_log},
    {"n28.logic_energy.over_n45", 0.75, 0.51, 0.79, "ratio", assumption, log_log},
    {"n16.logic_energy.over_n45", 0.54, 0.36, 0.6, "ratio", assumption, log_log},
    {"n7.logic_energy.over_n45", 0.33, 0.3, 0.35, "ratio", cited,
     "Jouppi et al., ISCA 2021, Table 2: products at 7 nm over those at 45 nm"},
    {"n65.logic_area.over_n45", 1.52, 1.5, 2.33, "ratio", unverified, densities},
    {"n28.logic_area.over_n45", 0.4, 0.368, 0.503, "ratio", unverified, densities},
    {"n16.logic_area.over_n45", 0.21, 0.19, 0.266, "ratio", unverified, densities},
    {"n7.logic_area.over_n45", 0.075, 0.059, 0.084, "ratio", unverified,
     "as built, 2.8 times denser than 16 nm: between the 2.6 of GP100 to GA100 and the 3.2 of Stillmaker and Baas"},
    {"n5.logic_energy.over_n7", 0.76, 0.7, 0.82, "ratio", cited,
     "between 0.70 (TSMC of N5 over N7, WikiChip, March 2020: 30 % less power) and 0.82, the power law of the "
     "node"},
    {"n5.sram_energy.over_n7", 0.85, 0.7, 1, "ratio", assumption,
     "assumption: between no gain and that of logic; SRAM gains less than logic (Jouppi et al., ISCA 2021)"},
    {"n5.logic_area.over_n7", 0.667, 0.556, 0.7, "ratio", unverified,
     "transistors a mm2 of GH100 over GA100, 1.5; ends: TSMC's 1.8 of logic and the 1.43 of Khan and Mann, CSET "
     "2020"},
    {"n65.sram.area", 6.29, 5, 8, "mm2/MiB", assumption,
     "assumption: bitcell 0.525 um2 (commonly quoted of TSMC 65 nm) at 70 % macro efficiency"},
    {"n28.sram.area", 1.522, 1.522, 1.522, "mm2/MiB", cited,
     "bitcell 0.127 um2 (TSMC 28 nm, WikiChip) at 70 % macro efficiency"},
    {"n16.sram.area", 0.845, 0.839, 0.887, "mm2/MiB", cited,
     "bitcell 0.070 (Chen et al., JSSC 2015) to 0.074 um2 at 70 % macro efficiency"},
    {"n5.sram.area", 0.25, 0.25, 0.25, "mm2/MiB", cited, "bitcell 0.021 um2 (TSMC N5) at 70 % macro efficiency"},
    {"sram.port_cells", 100, 50, 300, "bit", assumption,
     "assumption: bitcells' worth of sense amplifiers, write drivers and multiplexers for each port bit of each "
     "bank"},

    {"n65.leakage", 5, 0.5, 30, "mW/mm2", assumption, low_power},
    {"n45.leakage", 7, 0.7, 184, "mW/mm2", assumption,
     "assumption: as 65 nm, by the area of a function; most is that of HP devices (McPAT gives 138 to 202 for "
     "cores)"},
    {"n28.leakage", 30, 5, 85, "mW/mm2", assumption,
     "assumption: fitted on TPU v1's idle power; most is all of it, 28 W of 331 mm2 (Jouppi et al., ISCA 2017)"},
    {"n16.leakage", 25, 6, 110, "mW/mm2", assumption, "assumption: between 28 and 7 nm"},
    {"n7.leakage", 37, 10, 150, "mW/mm2", unverified,
     "a public model's fit on A100's telemetry, at 85 C; 38 from 2.6 uW/kGE of a public simulator"},
    {"n5.leakage", 45, 10, 150, "mW/mm2", assumption,
     "assumption: 3.4 over 2.6 uW/kGE of 7 nm in a public simulator, by MTIA 2i's typical power no denser"},
    {"n65.sram.leakage", 4.8, 0.5, 24, "mW/MiB", assumption, by_trend},
    {"n45.sram.leakage", 4.8, 0.5, 24, "mW/MiB", assumption, by_trend},
    {"n28.sram.leakage", 5.3, 0.6, 27, "mW/MiB", assumption, by_trend},
    {"n16.sram.leakage", 7, 1, 35, "mW/MiB", assumption, by_trend},
    {"n7.sram.leakage", 8, 1.6, 40, "mW/MiB", assumption,
     "assumption of a public model, at 0.75 V and 85 C; not measured"},
    {"n5.sram.leakage", 9.4, 1.9, 47, "mW/MiB", assumption, by_trend},
    {"leakage.of_volts", 3, 2, 5, "1/V", assumption,
     "assumption of a public model: e^(3 x volts above the nominal supply)"},
    {"leakage.of_degrees", 0.02, 0.02, 0.035, "1/K", assumption,
     "assumption of a public model: e^(0.02 x degrees above 85 C); others double every 22 to 35 K"},

    {"wire.energy", 0.08, 0.06, 0.1, "pJ/bit/mm", cited,
     "Dally et al., CACM 2020; Keckler et al., IEEE Micro 2011"},
    {"n65.crossbar.pitch", 0.3033, 0.289, 0.627, "um", assumption,
     "assumption: as at 45 nm, by the root of the area of logic; least: Satpathy et al., SWIFT (University of "
     "Michigan): 32 x "
     "32 of "
     "64 bit in 0.35 mm2 at 65 nm; most: standard cells at 90 nm, 128 x 128 of 32 bit in 6.6 mm2 (Passas et al., "
     "NOCS 2010)"},
    {"n45.crossbar.pitch", 0.246, 0.246, 0.947, "um", cited,
     "Satpathy et al., DAC 2012: 64 x 64 of 128 bit in 4.06 mm2 at 45 nm; most is 16 x 16 of 64 bit in 0.94 mm2 at "
     "40 nm (Cakir et al., ISLPED 2015)"},
    {"n28.crossbar.pitch", 0.1556, 0.15, 0.61, "um", assumption, crossbar_pitch},
    {"n16.crossbar.pitch", 0.1127, 0.11, 0.47, "um", assumption, crossbar_pitch},
    {"n7.crossbar.pitch", 0.0674, 0.06, 0.27, "um", assumption, crossbar_pitch},
    {"n5.crossbar.pitch", 0.055, 0.047, 0.19, "um", assumption, crossbar_pitch},
    {"clock.tree", 34, 15, 50, "pJ/mm2", assumption, fitted},
    {"control.over_datapath", 0.03, 0.015, 0.1, "ratio", cited, floor_v1},
    {"control.distributed.over_central", 2, 1, 7, "ratio", assumption,
     "assumption: up to a state machine as large as the central one for each of seven operator families"},
    {"other.over_lanes", 3, 2, 4, "ratio", assumption, fitted},
    {"other.fixed", 18, 9, 36, "mm2", unverified,
     "a public model's fit on GP100, GA100, TPU v4 and v4i at 7 nm: host interface, PLLs, pads; other nodes as "
     "logic"},

    {"n65.supply.nominal", 1, 1, 1.2, "V", unverified, nominal},
    {"n45.supply.nominal", 0.9, 0.9, 1, "V", unverified, nominal},
    {"n28.supply.nominal", 0.9, 0.9, 0.95, "V", unverified, nominal},
    {"n16.supply.nominal", 0.8, 0.75, 0.8, "V", unverified, nominal},
    {"n7.supply.nominal", 0.75, 0.7, 0.75, "V", unverified, nominal},
    {"n5.supply.nominal", 0.75, 0.7, 0.75, "V", unverified, nominal},
    {"n65.supply.threshold", 0.4, 0.35, 0.45, "V", assumption, threshold},
    {"n45.supply.threshold", 0.37, 0.32, 0.42, "V", assumption, threshold},
    {"n28.supply.threshold", 0.36, 0.3, 0.4, "V", assumption, threshold},
    {"n16.supply.threshold", 0.32, 0.26, 0.36, "V", assumption, threshold},
    {"n7.supply.threshold", 0.3, 0.2, 0.33, "V", assumption, threshold},
    {"n5.supply.threshold", 0.3, 0.16, 0.33, "V", assumption, threshold},
    {"n65.supply.least", 0.8, 0.63, 0.9, "V", assumption, least_supply},
    {"n45.supply.least", 0.72, 0.6, 0.81, "V", assumption, least_supply},
    {"n28.supply.least", 0.72, 0.6, 0.81, "V", assumption, least_supply},
    {"n16.supply.least", 0.64, 0.5, 0.72, "V", assumption, least_supply},
    {"n7.supply.least", 0.6, 0.46, 0.67, "V", assumption, least_supply},
    {"n5.supply.least", 0.6, 0.46, 0.67, "V", assumption, least_supply},
    {"n65.supply.most", 1.2, 1.1, 1.32, "V", assumption, most_supply},
    {"n45.supply.most", 1.1, 1, 1.15, "V", assumption, most_supply},
    {"n28.supply.most", 1.1, 1, 1.15, "V", assumption, most_supply},
    {"n16.supply.most", 1, 0.9, 1.1, "V", assumption, most_supply},
    {"n7.supply.most", 0.95, 0.85, 1.05, "V", assumption, most_supply},
    {"n5.supply.most", 0.95, 0.85, 1.05, "V", assumption, most_supply},
    {"n65.supply.sram_least", 1, 0.8, 1, "V", assumption, sram_supply},
    {"n45.supply.sram_least", 0.9, 0.72, 0.9, "V", assumption, sram_supply},
    {"n28.supply.sram_least", 0.9, 0.72, 0.9, "V", assumption, sram_supply},
    {"n16.supply.sram_least", 0.8, 0.64, 0.8, "V", assumption, sram_supply},
    {"n7.supply.sram_least", 0.75, 0.6, 0.75, "V", assumption, sram_supply},
    {"n5.supply.sram_least", 0.75, 0.6, 0.75, "V", assumption, sram_supply},
    {"supply.alpha", 1.3, 1.2, 1.4, "power", assumption,
     "assumption: the alpha-power law (Sakurai and Newton, JSSC 1990); 1.3 is a public model's prior"},

    {"die.power_density", 1, 0.5, 1.5, "W/mm2", unverified,
     "limits of public models: 1.0 with air, 1.1, 1.5 with liquid; A100 has 0.48, H100 0.86 at their TDP"},
    {"die.temperature", 85, 25, 105, "C", assumption, "assumption: that at which leakage is priced"},
    {"die.temperature.most", 105, 95, 125, "C", assumption,
     "assumption: of the junction, as of commercial processes"},
    {"die.ambient", 45, 25, 55, "C", assumption, "assumption: air at the heat sink of a server"},
    {"die.thermal_resistance", 50, 20, 80, "K mm2/W", assumption,
     "assumption: junction to air, of a square millimetre: A100's 0.48 W/mm2 is 24 K above the air"},

    {"n65.fo4", 24, 20, 27, "ps", assumption, fo4_wired},
    {"n45.fo4", 20.5, 15, 23, "ps", assumption, fo4_wired},
    {"n28.fo4", 17, 12, 20, "ps", assumption, fo4_wired},
    {"n16.fo4", 10.4, 8, 14, "ps", assumption, fo4_wired},
    {"n7.fo4", 10, 7, 12, "ps", unverified, "a public model's, about 10 ps at 7 nm"},
    {"n5.fo4", 8.7, 6, 10.5, "ps", assumption, fo4_wired},
    {"clock.margin", 1.7, 1.2, 2.2, "ratio", assumption,
     "assumption: fitted: the one constant by which no chip of `sdip chips` runs above the limit of two stages"},
    {"clock.sram.least", 20, 15, 30, "fo4", assumption,
     "assumption: decoder, word line and sense amplifier of a small bank"},
    {"clock.sram.root_kib", 0.8, 0.5, 2, "fo4", assumption,
     "assumption: wires across a bank, for the root of its KiB: 46 FO4, 0.93 ns at 45 nm, of 1 MiB"},
    {"clock.overhead", 1.8, 1.8, 3, "fo4", unverified,
     "Hrishikesh et al., ISCA 2002: latch, skew and jitter of a stage"},
    {"clock.least_stage", 20, 11, 40, "fo4", assumption,
     "assumption: logic of a synthesised stage; the shortest custom one known is POWER6's, 13 with its latch"},
    {"depth.int4", 25, 18, 35, "fo4", assumption, logic_depth},
    {"depth.int8", 35, 25, 50, "fo4", assumption, logic_depth},
    {"depth.int16", 45, 32, 65, "fo4", assumption, logic_depth},
    {"depth.int32", 55, 40, 80, "fo4", assumption, logic_depth},
    {"depth.fp8", 55, 40, 75, "fo4", assumption, logic_depth},
    {"depth.bf16", 68, 48, 85, "fo4", assumption, logic_depth},
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
    {"fpga.lut.ram_bits", 64, 64, 64, "bit", cited,
     "AMD UG474: a LUT of six inputs of a SLICEM is a RAM of 64 x 1"},
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
