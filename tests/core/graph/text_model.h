// Small models written as text, and what they compute before and after rewriting.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/core/onnx/build.h"

namespace sdip {

/// A model of one output, y. `values` lists inputs and weights, "x 2,3; m 3 bool; #w 3,4" (a # is a weight with
/// random numbers; float32, or the type that stands behind: float16, bool, int64). `body` lists nodes:
///   "s = Sigmoid(x); y = Mul(x, s)"       a name for each result, or
///   "y = Mul(x, Sigmoid(x))"              nested
///   "ReduceMean{axes=[-1], keepdims=1}(x)"  attributes; 'text', 1, 1.5, [1,2], [0.5,1.0] of floats
///   0.5  0.5h  [0,-1]  -                  constants: float32, float16, a list of int64; an absent input
///   "com.microsoft.Gelu(x)"               another domain
///   "a, b = Split{axis=1}(x)"             several outputs
onnx::ModelProto model_of(const std::string& values, const std::string& body, std::int64_t opset = 17);

/// Random tensors for the inputs, the same on every run: floats in -2..2, booleans, integers 0..3.
std::vector<Tensor> random_inputs(const Graph& graph);

/// What the graph's outputs are for these inputs.
std::vector<Tensor> values_of(const Graph& graph, const std::vector<Tensor>& inputs);

/// A test failure when they differ by more than `share` of the largest element, or in type or shape.
void expect_equal(const std::vector<Tensor>& got, const std::vector<Tensor>& want, double share,
                  const std::string& what);

struct Rewritten {
  Graph graph;
  std::map<std::string, std::int64_t> counts;

  /// "MatMul Add": types in the graph's order; those that only make weights are left out.
  std::string types() const;
};

/// Imports and rewrites; the outputs on random inputs must be what they were before.
Rewritten rewritten_equal(const std::string& values, const std::string& body, std::int64_t opset = 17);

}  // namespace sdip
