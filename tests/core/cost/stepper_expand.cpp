// The stepper's tile operations: plain loops over tiles, folds and beats.
#include <algorithm>

#include "tests/core/cost/stepper.h"

namespace sdip::stepper {
namespace {

using Count = std::int64_t;

Count up(Count a, Count b) { return (a + b - 1) / b; }

std::vector<Count> pieces(Count size, Count piece) {
  std::vector<Count> sizes;
  while (size > 0) {
    sizes.push_back(std::min(size, piece));
    size -= sizes.back();
  }
  return sizes;
}

struct Ports {
  explicit Ports(const Machine& m)
      : unified(m.activation_memory == ActivationMemory::unified),
        wired(m.weight_storage == WeightStorage::hard_coded),
        dsram(m.dsram_port_bits),
        stackram(m.stackram_port_bits),
        psram(m.psram_port_bits) {}
  bool unified, wired;
  Count dsram, stackram, psram;

  void read(Place place, Count elements, Count bits, Needs& needs) const {
    if (place == Place::psram) {
      if (!wired) needs.psram_read += up(elements * bits, psram);
    } else if (place == Place::stackram && !unified) {
      needs.stackram_read += up(elements * bits, stackram);
    } else if (place == Place::dsram || place == Place::dram || place == Place::stackram) {
      needs.dsram_read += up(elements * bits, dsram);
    }
  }
  void write(bool to_stack, Count elements, Count bits, Needs& needs) const {
    if (to_stack && !unified)
      needs.stackram_write += up(elements * bits, stackram);
    else
      needs.dsram_write += up(elements * bits, dsram);
  }
};

/// A result fold goes to DSRAM, also when it leaves for DRAM, and to STACKRAM when pushed.
void write_result(const InstructionClass& c, const Ports& ports, Count elements, Count bits, Needs& needs) {
  if (c.to_dsram || c.to_dram) ports.write(false, elements, bits, needs);
  if (c.push) ports.write(true, elements, bits, needs);
}

bool is_product(Family family) {
  return family == Family::conv2d || family == Family::linear || family == Family::matmul;
}

struct Lanes {
  Count rows, channels, sum;
};
Lanes lanes_of(Family family, const Machine& m) {
  if (m.mac_sharing == MacSharing::shared || family == Family::conv2d)
    return {m.conv_lanes_pixel, m.conv_lanes_out, m.conv_lanes_in};
  if (family == Family::linear) return {m.linear_lanes_m, m.linear_lanes_n, m.linear_lanes_k};
  return {m.matmul_lanes_m, m.matmul_lanes_n, m.matmul_lanes_k};
}

/// Everything of one product that its folds need.
struct Product {
  const InstructionClass& c;
  const Machine& m;
  const Ports& ports;
  Count activation_bits, b_bits, partial_bits;
  Count kernels, sum;
  bool only_pushed;
};

void step_product(const Product& p, Count rows, Count channels, Needs& needs) {
  const Lanes lanes = lanes_of(p.c.work.family, p.m);
  bool first_row = true;
  for (const Count r : pieces(rows, lanes.rows)) {
    bool first_channel = true;
    for (const Count o : pieces(channels, lanes.channels)) {
      bool first_sum = true;
      for (Count kernel = 0; kernel < p.kernels; ++kernel) {
        for (const Count k : pieces(p.sum, lanes.sum)) {
          for (Count cycle = 0; cycle < p.c.work.element_cycles; ++cycle) ++needs.compute;
          if (p.m.dataflow != Dataflow::input_stationary || first_channel)
            p.ports.read(p.c.operand_a, r * k, p.activation_bits, needs);
          if (p.m.dataflow != Dataflow::weight_stationary || first_row)
            p.ports.read(p.c.operand_b, o * k, p.b_bits, needs);
          if (p.m.dataflow != Dataflow::output_stationary && !first_sum) {
            p.ports.write(p.only_pushed, r * o, p.partial_bits, needs);  // after the fold before
            p.ports.read(p.only_pushed ? Place::stackram : Place::dsram, r * o, p.partial_bits, needs);
          }
          first_sum = false;
        }
      }
      write_result(p.c, p.ports, r * o, p.activation_bits, needs);
      first_channel = false;
    }
    first_row = false;
  }
}

/// What the loops over tiles found: the place of an operation in the instruction.
struct NestTile {
  Count rows, channels, row_tile, channel_tile, repeat;
};

class NestExpansion {
 public:
  NestExpansion(const InstructionClass& c, const Machine& m) : c_(c), m_(m), ports_(m), n_(c.work.nest) {
    weighted_ = c.operand_b == Place::psram;
    channels_ = weighted_ ? n_.groups * n_.out_channels : n_.out_channels;
    copies_ = weighted_ ? n_.batch : n_.batch * n_.groups;
    const bool together = c.mapping.tile_rows >= n_.out_h && (weighted_ || c.mapping.tile_channels >= channels_);
    multiplicity_ = together ? copies_ : 1;
    repeats_ = together ? 1 : copies_;
  }

  std::vector<Operation> run() {
    const auto rows = pieces(n_.out_h, c_.mapping.tile_rows),
               channels = pieces(channels_, c_.mapping.tile_channels);
    const auto size = [](const auto& v) { return static_cast<Count>(v.size()); };
    operations_ = repeats_ * size(rows) * size(channels);
    const auto at = [](const auto& v, Count i) { return v[static_cast<std::size_t>(i)]; };
    const auto operate = [&](Count n, Count r, Count k) { add({at(rows, r), at(channels, k), r, k, n}); };
    if (weighted_ && c_.mapping.outside(Loop::channels, Loop::rows)) {
      for (Count k = 0; k < size(channels); ++k)
        for (Count n = 0; n < repeats_; ++n)
          for (Count r = 0; r < size(rows); ++r) operate(n, r, k);
    } else if (c_.mapping.outside(Loop::channels, Loop::rows)) {
      for (Count n = 0; n < repeats_; ++n)
        for (Count k = 0; k < size(channels); ++k)
          for (Count r = 0; r < size(rows); ++r) operate(n, r, k);
    } else {
      for (Count n = 0; n < repeats_; ++n)
        for (Count r = 0; r < size(rows); ++r)
          for (Count k = 0; k < size(channels); ++k) operate(n, r, k);
    }
    return std::move(done_);
  }

 private:
  void add(const NestTile& t) {
    const Count bits = bits_of(m_.activation_format);
    const Count groups = weighted_ && n_.groups > 1 ? t.channels / n_.out_channels : 1;
    const bool skipping = weighted_ && m_.sparsity == Sparsity::skipping;
    const Count positions = n_.kernel_h * n_.kernel_w;
    const Product product{
        c_,
        m_,
        ports_,
        bits,
        weighted_ ? bits_of(m_.weight_format) : bits,
        bits_of(m_.accumulator_format),
        skipping ? 1 : positions,
        skipping ? up(n_.in_channels * positions * m_.weight_density.hundredths, 100) : n_.in_channels,
        c_.push && !c_.to_dsram && !c_.to_dram};
    Operation o;
    const Count products = weighted_ ? groups : multiplicity_;
    for (Count i = 0; i < products; ++i)
      step_product(product, t.rows * n_.out_w * (weighted_ ? multiplicity_ : 1), t.channels / groups, o.needs);
    const Count results = t.rows * n_.out_w * t.channels * multiplicity_;
    for (const Fetch& f : c_.fetches) {
      ports_.read(f.place, f.per_fold ? results : up(f.elements, operations_),
                  f.place == Place::psram ? bits_of(m_.weight_format) : bits, o.needs);
      if (f.place == Place::dram) o.other_bytes += up(up(f.elements, operations_) * bits, 8);
    }
    o.needs.compute = std::max(o.needs.compute, c_.fused_passes * up(results, m_.vector_lanes));
    const Count rows_in = std::min(n_.in_h, (t.rows - 1) * n_.stride_h + (n_.kernel_h - 1) * n_.dilation_h + 1);
    // Norms before and behind: element by element on the norm lanes, once for each pass.
    Count before = 0, behind = 0;
    for (Count pass = 0; pass < c_.prologue_passes; ++pass)
      for (const Count fold : pieces(rows_in * n_.in_w * n_.in_channels * groups * multiplicity_, m_.norm_lanes)) {
        ++before;
        o.lane_operations += fold;
      }
    for (Count pass = 0; pass < c_.statistics_passes; ++pass)
      for (const Count fold : pieces(results, m_.norm_lanes)) {
        ++behind;
        o.lane_operations += fold;
      }
    o.lane_operations += c_.fused_operators * results;
    o.needs.compute = std::max({o.needs.compute, before, behind});
    if (c_.operand_a == Place::dram) {
      o.a_tile = (t.repeat << 40) + (t.row_tile << 20) + (weighted_ && n_.groups > 1 ? t.channel_tile : 0);
      o.a_bytes = up(rows_in * n_.in_w * n_.in_channels * groups * multiplicity_ * bits, 8);
    }
    if (c_.operand_b == Place::dram) {
      o.b_tile = (t.repeat << 40) + t.channel_tile;
      o.b_bytes = up(n_.in_channels * positions * t.channels * multiplicity_ * bits, 8);
    }
    if (weighted_) add_weights(t, o);
    if (c_.to_dram) o.out_bytes = up(results * bits, 8);
    done_.push_back(o);
  }

  void add_weights(const NestTile& t, Operation& o) const {
    const Count bits = bits_of(m_.weight_format);
    const bool integer = !number_formats[static_cast<std::size_t>(m_.weight_format)].floating;
    const bool skipping = m_.sparsity == Sparsity::skipping;
    const Count elements = t.channels * c_.weight_elements_per_channel;
    const Count kept = skipping ? up(elements * m_.weight_density.hundredths, 100) : elements;
    const Count scale = integer && m_.scale_granularity == ScaleGranularity::channel ? 32 : 0;
    o.weight_tile = t.channel_tile;
    o.weight_psram_bytes =
        up(kept * bits + (skipping ? elements : 0) + t.channels * (c_.bias_elements_per_channel * bits + scale), 8);
    o.weight_dram_bytes = packed_bytes(o.weight_psram_bytes, m_);
  }

  const InstructionClass& c_;
  const Machine& m_;
  Ports ports_;
  const LoopNest& n_;
  bool weighted_ = false;
  Count channels_ = 0, copies_ = 1, multiplicity_ = 1, repeats_ = 1, operations_ = 1;
  std::vector<Operation> done_;
};

Count row_lanes_of(Family family, const Machine& m) {
  if (family == Family::softmax) return m.softmax_lanes;
  if (family == Family::norm) return m.norm_lanes;
  if (family == Family::transpose) return m.transpose_lanes;
  return m.vector_lanes;
}

/// Elements of each fold of one pass over `rows` of `length`.
std::vector<Count> row_folds(Count rows, Count length, Count lanes) {
  std::vector<Count> folds;
  if (length >= lanes || rows == 1) {
    for (Count r = 0; r < rows; ++r)
      for (const Count f : pieces(length, lanes)) folds.push_back(f);
    return folds;
  }
  for (const Count together : pieces(rows, lanes / length)) folds.push_back(together * length);
  return folds;
}

class RowExpansion {
 public:
  RowExpansion(const InstructionClass& c, const Machine& m) : c_(c), m_(m), ports_(m) {}

  std::vector<Operation> run() {
    const Work& w = c_.work;
    if (c_.mapping.tile_channels < w.row_length) {
      const auto chunks = pieces(w.row_length, c_.mapping.tile_channels);
      writing_ = w.rows * static_cast<Count>(chunks.size());
      apart_ = w.passes;
      for (Count row = 0; row < w.rows; ++row)
        for (Count pass = 1; pass <= w.passes; ++pass)
          for (const Count chunk : chunks) add(1, chunk, pass == w.passes);
    } else {
      const auto tiles = pieces(w.rows, c_.mapping.tile_rows);
      writing_ = static_cast<Count>(tiles.size());
      for (const Count rows : tiles) add(rows, w.row_length, true);
    }
    return std::move(done_);
  }

 private:
  void add(Count rows, Count length, bool last) {
    Operation o;
    const Count bits = bits_of(m_.activation_format), lanes = row_lanes_of(c_.work.family, m_);
    const std::vector<Count> folds = row_folds(rows, length, lanes);
    for (Count pass = 0; pass < c_.work.passes / apart_; ++pass)
      for (std::size_t fold = 0; fold < folds.size(); ++fold)
        o.needs.compute += c_.work.element_cycles;  // every lane of a fold is busy that long
    for (const Fetch& f : c_.fetches) {
      const bool every_pass = f.passes >= apart_;
      if (!every_pass && !last) continue;
      const Count width = f.place == Place::psram ? bits_of(m_.weight_format) : bits;
      if (f.per_fold) {
        for (Count time = 0; time < (every_pass ? f.passes / apart_ : f.passes); ++time)
          for (const Count fold : folds) ports_.read(f.place, fold, width, o.needs);
      } else {
        ports_.read(f.place, up(f.elements, writing_), width, o.needs);
      }
      if (f.place == Place::dram) o.other_bytes += up(up(f.elements, writing_) * bits, 8);
    }
    if (last) {
      const Count results = up(c_.out_elements * rows * length, c_.work.rows * c_.work.row_length);
      o.needs.compute = std::max(o.needs.compute, c_.fused_passes * up(results, m_.vector_lanes));
      o.needs.compute = std::max(o.needs.compute, c_.statistics_passes * up(results, m_.norm_lanes));
      for (const Count fold : pieces(results, lanes)) write_result(c_, ports_, fold, bits, o.needs);
      if (c_.to_dram) o.out_bytes = up(up(c_.out_elements, writing_) * bits, 8);
    }
    done_.push_back(o);
  }

  const InstructionClass& c_;
  const Machine& m_;
  Ports ports_;
  Count writing_ = 1, apart_ = 1;
  std::vector<Operation> done_;
};

}  // namespace

Needs& Needs::operator+=(const Needs& o) {
  compute += o.compute;
  dsram_read += o.dsram_read;
  dsram_write += o.dsram_write;
  stackram_read += o.stackram_read;
  stackram_write += o.stackram_write;
  psram_read += o.psram_read;
  return *this;
}

std::int64_t Needs::longest() const {
  return std::max({compute, dsram_read, dsram_write, stackram_read, stackram_write, psram_read});
}

std::int64_t packed_bytes(std::int64_t bytes, const Machine& m) {
  return up(bytes * 100, m.weight_compression.hundredths);
}

std::int64_t held_psram_bytes(const InstructionClass& c, const Machine& m) {
  if (c.compound == Compound::strips) return strips_psram_bytes(c, m);
  return up(c.weight_elements * bits_of(m.weight_format), 8);
}

std::vector<Operation> expand(const InstructionClass& c, const Machine& m) {
  if (c.compound == Compound::strips) return expand_strips(c, m);
  return is_product(c.work.family) ? NestExpansion(c, m).run() : RowExpansion(c, m).run();
}

}  // namespace sdip::stepper
