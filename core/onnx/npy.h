// Tensors as numpy keeps them: .npy files, versions 1.0 to 3.0.
// Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>
#include <string_view>

#include "core/base/tensor.h"

namespace sdip {

/// The tensor of a file for a place of type `type`. Either byte order, C or Fortran order. The file must hold that
/// type; of a type that numpy lacks, the one that npy_of_tensor writes for it, and floats are rounded to the type.
/// Throws Error with an empty `where`: tensor_file_invalid for what is no such file, or one of Python objects,
/// strings, complex numbers or records; shape_mismatch for another type; value_out_of_range for an integer that the
/// type does not hold.
Tensor tensor_of_npy(std::string_view bytes, ElementType type);

/// The bytes of a file of version 1.0, little-endian, in C order. Types that numpy lacks are written as one that
/// holds all their numbers: bfloat16 and floats of 8 bits and fewer as float32, integers of fewer than 8 bits as
/// int8 or uint8. Throws Error not_modelled for strings.
std::string npy_of_tensor(const Tensor& tensor);

}  // namespace sdip
