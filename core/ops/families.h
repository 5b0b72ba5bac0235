// The rows of each operator family, one file each; operators.cpp puts them in one list.
#pragma once

#include <span>

#include "core/ops/operator.h"

namespace sdip {

std::span<const Operator> activation_rows();
std::span<const Operator> constant_rows();
std::span<const Operator> conv_rows();
std::span<const Operator> einsum_rows();
std::span<const Operator> elementwise_rows();
std::span<const Operator> gather_rows();
std::span<const Operator> matmul_rows();
std::span<const Operator> norm_rows();
std::span<const Operator> pool_rows();
std::span<const Operator> quantize_rows();
std::span<const Operator> reduce_rows();
std::span<const Operator> resize_rows();
std::span<const Operator> rmsnorm_rows();
std::span<const Operator> scores_rows();
std::span<const Operator> slice_rows();
std::span<const Operator> softmax_rows();
std::span<const Operator> transpose_rows();
std::span<const Operator> view_rows();

}  // namespace sdip
