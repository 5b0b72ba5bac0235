// The rule of a convolution, for floats and for quantised integers. Internal to its room.
#pragma once

#include "core/ops/products/conv_arithmetic.h"

namespace sdip {

/// Reads a convolution from inputs 0 [N,C,...] and 1 [M,C/groups,...] and the attributes. Throws shape_mismatch
/// where they do not fit.
Convolution convolution_of(const OperatorUse& use);

/// [N,M,...]
Shape shape_of(const Convolution& conv);

/// The nest of a convolution over any number of axes. One axis is two of which the first has size 1. The leading
/// ones of three and more become a batch of planes: positions of the output times batch, positions of the kernel
/// times in_channels. MACs and weights are exact; the input's footprint is an overestimate, since planes that
/// neighbouring outputs share are counted for each: a kernel 3 deep over 16 planes counts 48.
Work convolution_work(const Convolution& conv);

}  // namespace sdip
