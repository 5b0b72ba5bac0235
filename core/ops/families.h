// The rows of each operator family, one file each; operators.cpp puts them in one list.
#pragma once

#include <span>

#include "core/ops/operator.h"

namespace sdip {

std::span<const Operator> activation_rows();
std::span<const Operator> batchnorm_rows();
std::span<const Operator> cast_rows();
std::span<const Operator> compare_rows();
std::span<const Operator> composite_activation_rows();
std::span<const Operator> composite_attention_rows();
std::span<const Operator> composite_causal_conv_rows();
std::span<const Operator> composite_contrib_attention_rows();
std::span<const Operator> composite_group_query_rows();
std::span<const Operator> composite_image_rows();
std::span<const Operator> composite_norm_rows();
std::span<const Operator> composite_product_rows();
std::span<const Operator> composite_quantised_rows();
std::span<const Operator> composite_rotary_rows();
std::span<const Operator> constant_rows();
std::span<const Operator> conv_rows();
std::span<const Operator> conv_transpose_rows();
std::span<const Operator> deform_rows();
std::span<const Operator> detect_rows();
std::span<const Operator> determinant_rows();
std::span<const Operator> einsum_rows();
std::span<const Operator> elementwise_rows();
std::span<const Operator> find_rows();
std::span<const Operator> gather_rows();
std::span<const Operator> linear_attention_rows();
std::span<const Operator> loss_rows();
std::span<const Operator> low_rank_rows();
std::span<const Operator> matmul_rows();
std::span<const Operator> norm_rows();
std::span<const Operator> pad_rows();
std::span<const Operator> pool_rows();
std::span<const Operator> quantize_rows();
std::span<const Operator> quantized_rows();
std::span<const Operator> random_rows();
std::span<const Operator> rank_rows();
std::span<const Operator> recurrent_rows();
std::span<const Operator> reduce_rows();
std::span<const Operator> repeat_rows();
std::span<const Operator> resize_rows();
std::span<const Operator> rmsnorm_rows();
std::span<const Operator> roi_rows();
std::span<const Operator> sample_rows();
std::span<const Operator> scatter_rows();
std::span<const Operator> scores_rows();
std::span<const Operator> shift_quantize_rows();
std::span<const Operator> signal_window_rows();
std::span<const Operator> slice_rows();
std::span<const Operator> softmax_rows();
std::span<const Operator> spectrum_rows();
std::span<const Operator> transpose_rows();
std::span<const Operator> unary_rows();
std::span<const Operator> unpool_rows();
std::span<const Operator> view_rows();

}  // namespace sdip
