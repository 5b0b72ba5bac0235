// Fields and bounds that reading operator files and the rules of their operators share. Internal to its room.
#pragma once

#include "core/ops/custom.h"

namespace sdip {

/// Kinds of attributes by the names that files use, in the order of Attribute's alternatives.
inline constexpr std::string_view custom_kinds[] = {"int", "float", "string", "ints", "floats", "strings"};

struct NestField {
  std::string_view name;
  std::int64_t LoopNest::*member;
  bool pad = false;
};
inline constexpr NestField nest_fields[] = {
    {"groups", &LoopNest::groups},
    {"batch", &LoopNest::batch},
    {"out_channels", &LoopNest::out_channels},
    {"in_channels", &LoopNest::in_channels},
    {"out_h", &LoopNest::out_h},
    {"out_w", &LoopNest::out_w},
    {"in_h", &LoopNest::in_h},
    {"in_w", &LoopNest::in_w},
    {"kernel_h", &LoopNest::kernel_h},
    {"kernel_w", &LoopNest::kernel_w},
    {"stride_h", &LoopNest::stride_h},
    {"stride_w", &LoopNest::stride_w},
    {"dilation_h", &LoopNest::dilation_h},
    {"dilation_w", &LoopNest::dilation_w},
    {"pad_top", &LoopNest::pad_top, true},
    {"pad_left", &LoopNest::pad_left, true},
    {"pad_bottom", &LoopNest::pad_bottom, true},
    {"pad_right", &LoopNest::pad_right, true},
};

inline constexpr std::int64_t most_custom_passes = 1000, most_element_cycles = 4096;

/// Whether the family's work is a loop nest.
bool is_product(Family family);

std::vector<Operand> infer_custom(const OperatorUse& use);
Work custom_work(const OperatorUse& use, std::span<const Operand> outputs);

}  // namespace sdip
