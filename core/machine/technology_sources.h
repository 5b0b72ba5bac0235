// Sources that several rows of the technology table have. Internal to its room.
#pragma once

#include <string_view>

namespace sdip {

inline constexpr std::string_view horowitz = "Horowitz, ISSCC 2014, energy table, 45 nm 0.9 V";
inline constexpr std::string_view jouppi = "Jouppi et al., ISCA 2021, Table 2, 7 nm";
inline constexpr std::string_view scaled = "assumption: int8 figures scaled by the square of the operand width";
inline constexpr std::string_view fp8_int8 =
    "van Baalen et al., 2023 (arXiv 2303.17951): FP8 is 50 to 180 % less efficient than INT8 in hardware; here 100 "
    "%";
inline constexpr std::string_view mantissa = "assumption: fp16's by the square of the mantissa bits";

inline constexpr std::string_view log_log =
    "assumption: Horowitz, ISSCC 2014 at 45 nm and Jouppi et al., ISCA 2021 at 7 nm joined by a power law, "
    "node^0.60; ends: "
    "node^0.5 and node^0.7";
inline constexpr std::string_view densities =
    "between Stillmaker and Baas, Integration 58 (2017), table of area factors, and transistors a mm2 of Khan and "
    "Mann, CSET 2020, which are the ends";
inline constexpr std::string_view fo4_wired =
    "assumption: wires and slow corner included; 10 ps at 7 nm, others by steps of published speed (TSMC: 28 to 16 "
    "nm "
    "65 %, 7 to 5 nm 15 %) and the shipped clocks of sdip chips";
inline constexpr std::string_view fitted =
    "assumption: fitted on the chips that `sdip chips` marks so; ends: what each alone would take";
inline constexpr std::string_view low_power =
    "assumption: a low-power process, as of accelerators at 65 nm, nine tenths of it transistors' own";
inline constexpr std::string_view by_trend =
    "assumption: 8 mW at 7 nm by the trend of a public simulator's figures (22, 12, 7, 5 nm: 12, 15, 17, 20 "
    "mW/MiB); the ends are as far apart as sources are";
inline constexpr std::string_view nominal =
    "nominal supply, as Horowitz (45 nm), Stillmaker and Baas, and Khan and Mann use";
inline constexpr std::string_view threshold =
    "assumption: 0.30 V at 7 nm (a public model's prior), 0.40 V at 65 nm";
inline constexpr std::string_view least_supply = "assumption: four fifths of the nominal supply, 0.60 V at 7 nm";
inline constexpr std::string_view most_supply =
    "assumption: 0.95 V at 7 nm (a public model's prior), others in proportion";
inline constexpr std::string_view sram_supply =
    "assumption: the nominal supply; MTIA 1 (7 nm) gives its memories 0.75 V beside 0.67 V of logic (ISCA 2025)";
inline constexpr std::string_view tsmc_n5 =
    "TSMC of N5 over N7 (WikiChip, March 2020): 1.84x logic density, 15 % faster, 30 % less power";
inline constexpr std::string_view floor_v1 =
    "Jouppi et al., ISCA 2017, Fig. 2: of the die 37 % buffers, 30 % compute, 10 % I/O, 2 % control, 21 % the rest";
inline constexpr std::string_view logic_depth =
    "assumption: gate delays of product, alignment, sum and rounding together";
inline constexpr std::string_view crossbar_pitch =
    "assumption: as at 45 nm, by the root of the area of logic; least by the metal pitch: 140, 90, 70, 40, 28 nm";
inline constexpr std::string_view wafer_price =
    "Khan and Mann, CSET 2020: price of a wafer of 300 mm; ends: a quarter less, a third more";
inline constexpr std::string_view defects =
    "assumption: mature processes, as public cost models have them; TSMC of N7 0.09 and N5 0.10 to 0.11 in 2020";
inline constexpr std::string_view fpga_product = "AMD product selection guide; not re-read";
inline constexpr std::string_view dsp58 =
    "AMD UG1273, AM004: DSP58 is a 27x24 multiplier, a three-element int8 dot product or one fp32 operation";
inline constexpr std::string_view dsp48 =
    "assumption: DSP48E1 is one 25x18 multiplier and adder (UG479); wider and floating ones take several";
inline constexpr std::string_view soft_logic =
    "assumption: LUTs beside the DSP blocks, from published designs of this kind";

inline constexpr std::string_view dot_product_units =
    "sky130 synthesis of 32-lane dot products with one rounding, over int8: fp8 12.6 % larger, MXINT8 11.0 %; not "
    "re-read";
inline constexpr std::string_view mx_ratios =
    "assumption: MXFP8 by GOPS/W of arXiv 2511.06313, 1438 of MXFP8, 1675 of MXFP6, 4065 of MXFP4; VMXDOTP has 843 "
    "and 1632 GFLOPS/W of MXFP8 and MXFP4; between the two, ends beyond them";

}  // namespace sdip
