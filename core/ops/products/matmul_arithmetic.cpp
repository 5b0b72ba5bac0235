// Matrix products of broadcast batches, in plain loops.
#include "core/ops/fold.h"
#include "core/ops/products/matmul.h"

namespace sdip {
namespace {

/// Number of the operand's matrix that meets matrix `index` of the result.
std::int64_t matrix_at(const Shape& batch, const std::vector<std::int64_t>& strides,
                       const std::vector<std::int64_t>& index) {
  std::int64_t number = 0;
  const std::size_t skip = index.size() - batch.size();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i] != 1) number += index[skip + i] * strides[i];
  }
  return number;
}

}  // namespace

template <class T>
std::vector<T> multiplied(const Product& p, const std::vector<T>& a, const std::vector<T>& b, const Stop* stop) {
  Shape all = p.batch;
  all.push_back(p.m);
  all.push_back(p.n);
  std::vector<T> y(as_size(element_count(all)), T{});
  if (y.empty()) return y;
  const auto strides_a = strides_of(p.batch_a), strides_b = strides_of(p.batch_b);
  const std::int64_t row_a = p.trans_a ? 1 : p.k, column_a = p.trans_a ? p.m : 1;
  const std::int64_t row_b = p.trans_b ? 1 : p.n, column_b = p.trans_b ? p.k : 1;
  std::vector<std::int64_t> index(p.batch.size(), 0);
  T* row = y.data();
  do {
    const T* left = a.data() + matrix_at(p.batch_a, strides_a, index) * p.m * p.k;
    const T* right = b.data() + matrix_at(p.batch_b, strides_b, index) * p.k * p.n;
    for (std::int64_t i = 0; i < p.m; ++i, row += p.n) {
      end_if(stop, "");
      for (std::int64_t k = 0; k < p.k; ++k) {
        const T factor = left[i * row_a + k * column_a];
        for (std::int64_t j = 0; j < p.n; ++j) row[j] += factor * right[k * row_b + j * column_b];
      }
    }
  } while (next_index(index, p.batch));
  return y;
}

template std::vector<double> multiplied(const Product&, const std::vector<double>&, const std::vector<double>&,
                                        const Stop*);
template std::vector<std::uint64_t> multiplied(const Product&, const std::vector<std::uint64_t>&,
                                               const std::vector<std::uint64_t>&, const Stop*);

}  // namespace sdip
