// A product as a layer, for tests of device models.
#pragma once

#include "core/baseline/archetypes/layers.h"

namespace sdip {

/// A product with weights, which all frames share, or of two activations.
inline Layer made_product(const MatrixProduct& p, bool weighted) {
  Layer layer;
  layer.work.family = weighted ? Family::linear : Family::matmul;
  layer.work.nest.groups = p.count;
  layer.work.nest.out_h = p.rows;
  layer.work.nest.out_channels = p.columns;
  layer.work.nest.in_channels = p.terms;
  layer.a_elements = p.count * p.rows * p.terms;
  (weighted ? layer.weight_elements : layer.b_elements) = p.count * p.terms * p.columns;
  layer.output_elements = p.count * p.rows * p.columns;
  layer.weighted = weighted;
  return layer;
}

}  // namespace sdip
