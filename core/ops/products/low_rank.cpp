// The two factors of a weight of lower rank: W [K, N] is nearly A [K, r] times B [r, N], by the singular value
// decomposition cut after r values (Eckart and Young 1936: no product of that rank is nearer). A = U sqrt(S),
// B = sqrt(S) V^T, so that both have elements of like size. Worked example: W = [[2, 4], [1, 2]] has rank 1; with
// r = 1 A * B is W.
#include <Eigen/Dense>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

using Matrix = Eigen::MatrixXd;

struct Sizes {
  std::int64_t k, n, rank;
};
Sizes factor_sizes(const OperatorUse& use) {
  const Shape& shape = input(use, 0).shape;
  if (shape.size() != 2) refuse(use, "shape_mismatch", "a weight of shape " + shape_text(shape) + ", not a matrix");
  const bool turned = int_attribute(use, "trans_b", 0) != 0;
  const Sizes sizes{shape[turned ? 1 : 0], shape[turned ? 0 : 1], int_attribute(use, "rank", 0)};
  if (sizes.rank < 1 || sizes.rank > std::min(sizes.k, sizes.n))
    refuse(use, "shape_mismatch",
           fmt::format("rank {}, expected 1 to the smaller size of {}", sizes.rank, shape_text(shape)));
  return sizes;
}

bool is_left(const OperatorUse& use) { return use.type == "LowRankLeft"; }

std::vector<Operand> infer_low_rank(const OperatorUse& use) {
  require_type(use, 0, is_floating, "a float");
  const Sizes s = factor_sizes(use);
  return {typed(input(use, 0).type, is_left(use) ? Shape{s.k, s.rank} : Shape{s.rank, s.n})};
}

/// Eigenvectors of the smaller of W W^T and W^T W, largest eigenvalue first, each with its largest element positive
/// so that the factors do not depend on the solver's choice of sign.
Matrix leading_vectors(const Matrix& square, std::int64_t rank, Eigen::VectorXd& singular) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(square);
  Matrix vectors = solver.eigenvectors().rowwise().reverse().leftCols(rank);
  singular = solver.eigenvalues().reverse().head(rank).cwiseMax(0.0).cwiseSqrt();
  for (Eigen::Index c = 0; c < vectors.cols(); ++c) {
    Eigen::Index largest = 0;
    vectors.col(c).cwiseAbs().maxCoeff(&largest);
    if (vectors(largest, c) < 0) vectors.col(c) *= -1;
  }
  return vectors;
}

/// A and B of W, of which only the one wanted is returned, by rows.
std::vector<double> factor(const Matrix& w, std::int64_t rank, bool left) {
  const bool by_rows = w.rows() <= w.cols();
  Eigen::VectorXd singular;
  const Matrix vectors =
      leading_vectors(by_rows ? Matrix(w * w.transpose()) : Matrix(w.transpose() * w), rank, singular);
  const Eigen::VectorXd root = singular.cwiseSqrt();
  const Eigen::VectorXd inverse = (root.array() > 0).select(root.array().max(1e-300).inverse(), 0);
  Matrix wanted;
  if (left)
    wanted = by_rows ? Matrix(vectors * root.asDiagonal()) : Matrix(w * vectors * inverse.asDiagonal());
  else
    wanted = by_rows ? Matrix(inverse.asDiagonal() * (vectors.transpose() * w))
                     : Matrix(root.asDiagonal() * vectors.transpose());
  List<double> elements;
  elements.reserve(as_size(wanted.size()));
  for (Eigen::Index r = 0; r < wanted.rows(); ++r)
    for (Eigen::Index c = 0; c < wanted.cols(); ++c) elements.push_back(wanted(r, c));
  return elements;
}

void compute_low_rank(const OperatorUse& use, std::span<Operand> outputs) {
  const Sizes s = factor_sizes(use);
  const List<double> elements = doubles_of(use, 0);
  const bool turned = int_attribute(use, "trans_b", 0) != 0;
  Matrix w(s.k, s.n);
  for (std::int64_t k = 0; k < s.k; ++k)
    for (std::int64_t n = 0; n < s.n; ++n) w(k, n) = elements[turned ? n * s.k + k : k * s.n + n];
  set_doubles(outputs[0], factor(w, s.rank, is_left(use)));
}

constexpr Operator low_rank_operators[] = {
    {"sdip", "LowRankLeft", "constant", 1, 1, "rank trans_b", infer_low_rank, constant_work, compute_low_rank},
    {"sdip", "LowRankRight", "constant", 1, 1, "rank trans_b", infer_low_rank, constant_work, compute_low_rank},
};

}  // namespace

std::span<const Operator> low_rank_rows() { return low_rank_operators; }

}  // namespace sdip
