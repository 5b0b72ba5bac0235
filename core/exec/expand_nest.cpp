// A nest's tile operations: plain loops over tiles, folds and beats.
#include <array>
#include <set>

#include "core/exec/port_beats.h"

namespace sdip::exec {
namespace {

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
  bool partials_to_stack;
  bool first, last;  // of the sums tiles of these results
};

void step_product(const Product& p, Count rows, Count channels, std::vector<Count>& results, Needs& needs) {
  const Lanes lanes = lanes_of(p.c.work.family, p.m);
  const bool registers = p.m.dataflow == Dataflow::output_stationary;
  const Place partials = p.partials_to_stack ? Place::stackram : Place::dsram;
  const auto sums = pieces(p.sum, lanes.sum);
  const Count folds = p.kernels * static_cast<Count>(sums.size());
  bool first_row = true;
  for (const Count r : pieces(rows, lanes.rows)) {
    bool first_channel = true;
    for (const Count o : pieces(channels, lanes.channels)) {
      Count done = 0;
      for (Count kernel = 0; kernel < p.kernels; ++kernel) {
        for (const Count k : sums) {
          const bool begins = done == 0, ends = ++done == folds;
          if (begins ? !p.first : !registers) p.ports.read(partials, {}, r * o, p.partial_bits, needs);
          for (Count cycle = 0; cycle < p.c.work.element_cycles; ++cycle) ++needs.compute;
          if (p.m.dataflow != Dataflow::input_stationary || first_channel)
            p.ports.read(p.c.operand_a, p.c.pair_a, r * k, p.activation_bits, needs);
          if (p.m.dataflow != Dataflow::weight_stationary || first_row)
            p.ports.read(p.c.operand_b, p.c.pair_b, o * k, p.b_bits, needs);
          if (ends ? !p.last : !registers) p.ports.write(p.partials_to_stack, r * o, p.partial_bits, needs);
        }
      }
      if (p.last) results.push_back(r * o);
      first_channel = false;
    }
    first_row = false;
  }
}

/// Which input positions along one dimension a run of results reads: those within the run from the first to the
/// last of them, inside the input; each result's own run where results leave gaps.
std::set<Count> positions(Count first, Count count, Count stride, Count kernel, Count dilation, Count pad,
                          Count in) {
  std::set<Count> read;
  const Count reach = (kernel - 1) * dilation + 1;
  Count end = first * stride - pad;
  for (Count i = first; i < first + count; ++i) {
    const Count begin = i * stride - pad;
    for (Count at = stride > reach ? begin : std::min(begin, end); at < begin + reach; ++at)
      if (at >= 0 && at < in) read.insert(at);
    end = begin + reach;
  }
  return read;
}

enum Of { repeats, groups, rows, columns, channels, sums, loops };

/// Where an operation stands: its tile along each loop.
using At = std::array<Count, loops>;

class NestExpansion {
 public:
  NestExpansion(const InstructionClass& c, const Machine& m, Role role, Family owner)
      : c_(c), m_(m), role_(role), ports_(m, role, owner), n_(c.work.nest) {
    weighted_ = c.operand_b == Place::psram;
    const Mapping& map = c.mapping;
    sizes_[rows] = pieces(n_.out_h, map.tile_rows);
    sizes_[columns] = pieces(n_.out_w, map.tile_columns);
    sizes_[sums] = pieces(n_.in_channels, map.tile_sums);
    sizes_[channels] = pieces(n_.out_channels, std::min(n_.out_channels, map.tile_channels));
    sizes_[groups] = pieces(weighted_ ? n_.groups : 1, std::max<Count>(1, map.tile_channels / n_.out_channels));
    const Count copies = weighted_ ? n_.batch : n_.batch * n_.groups;
    const bool together =
        sizes_[rows].size() == 1 && sizes_[columns].size() == 1 && (weighted_ || sizes_[channels].size() == 1);
    multiplicity_ = together ? copies : 1;
    sizes_[repeats].assign(static_cast<std::size_t>(together ? 1 : copies), 1);
    for (const auto& sizes : sizes_) operations_ *= static_cast<Count>(sizes.size());
    for (std::size_t i = 0; i < sizes_[rows].size(); ++i)
      rows_in_.push_back(positions(static_cast<Count>(i) * map.tile_rows, sizes_[rows][i], n_.stride_h, n_.kernel_h,
                                   n_.dilation_h, n_.pad_top, n_.in_h));
    for (std::size_t i = 0; i < sizes_[columns].size(); ++i)
      columns_in_.push_back(positions(static_cast<Count>(i) * map.tile_columns, sizes_[columns][i], n_.stride_w,
                                      n_.kernel_w, n_.dilation_w, n_.pad_left, n_.in_w));
  }

  std::vector<Operation> run() {
    std::vector<Of> nesting;  // outermost first
    const auto add_once = [&](Of loop) {
      if (std::ranges::count(nesting, loop) == 0) nesting.push_back(loop);
    };
    if (!weighted_) nesting.push_back(repeats);
    for (const Loop loop : c_.mapping.order) {
      if (loop == Loop::rows || loop == Loop::columns) add_once(repeats);
      if (loop == Loop::channels) nesting.push_back(groups);
      nesting.push_back(loop == Loop::rows       ? rows
                        : loop == Loop::columns  ? columns
                        : loop == Loop::channels ? channels
                                                 : sums);
    }
    At at{};
    nest(nesting, 0, at);
    for (std::size_t i = 0; i < order_.size(); ++i) add(i);
    return std::move(done_);
  }

 private:
  void nest(const std::vector<Of>& nesting, std::size_t level, At& at) {
    if (level == nesting.size()) {
      order_.push_back(at);
      return;
    }
    const Of loop = nesting[level];
    for (std::size_t i = 0; i < sizes_[loop].size(); ++i) {
      at[loop] = static_cast<Count>(i);
      nest(nesting, level + 1, at);
    }
  }

  Count size(Of loop, const At& at) const { return sizes_[loop][static_cast<std::size_t>(at[loop])]; }
  static At without(At at, std::initializer_list<Of> loops_left_out) {
    for (const Of loop : loops_left_out) at[loop] = 0;
    return at;
  }
  static Count number(const At& at) {
    Count n = 0;
    for (const Count i : at) n = n * 1000 + i;
    return n;
  }

  void add(std::size_t i) {
    const At& at = order_[i];
    const Count bits = bits_of(m_.activation_format);
    const Count groups_in = size(groups, at), wide = size(channels, at) * groups_in, deep = size(sums, at);
    const bool skipping = weighted_ && m_.sparsity == Sparsity::skipping;
    const Count kernel = n_.kernel_h * n_.kernel_w;
    const Product product{c_,
                          m_,
                          ports_,
                          bits,
                          weighted_ ? bits_of(m_.weight_format) : bits,
                          bits_of(m_.accumulator_format),
                          skipping ? 1 : kernel,
                          skipping ? up(deep * kernel * m_.weight_density.hundredths, 100) : deep,
                          c_.push && !c_.to_dsram && !c_.to_dram && sizes_[sums].size() == 1,
                          at[sums] == 0,
                          at[sums] + 1 == static_cast<Count>(sizes_[sums].size())};
    Operation o;
    const Count space = size(rows, at) * size(columns, at);
    std::vector<Count> made;
    turns_ = 0;
    for (Count p = 0; p < (weighted_ ? groups_in : multiplicity_); ++p)
      step_product(product, space * (weighted_ ? multiplicity_ : 1), size(channels, at), made, o.needs);
    write_results(c_, ports_, made, bits, o.needs);
    const Count results = space * wide * multiplicity_;
    if (product.last) add_fused(results, o);
    add_norms(at, groups_in * deep * multiplicity_, product.last ? results : 0, o);
    if (micro_) {
      o.needs.compute = std::max(o.needs.compute, turns_);
      o.commands = std::ssize(micro_operations_of_nest(c_, m_, role_, product.first, product.last));
    }
    if (c_.operand_a == Place::dram) add_a(i, groups_in * deep * multiplicity_ * bits, o);
    if (c_.operand_b == Place::dram) {
      o.b_tile = number(without(at, {rows, columns}));
      o.b_bytes = up(deep * kernel * wide * multiplicity_ * bits, 8);
    }
    if (weighted_) add_weights(at, wide, o);
    if (c_.to_dram && product.last) o.out_bytes = up(results * bits, 8);
    const auto result = [&](std::size_t j) { return without(order_[j], {sums}); };
    const Count partials = up(results * bits_of(m_.accumulator_format), 8);
    if (!product.first && result(i - 1) != result(i)) o.partial_bytes = partials;
    if (!product.last && result(i + 1) != result(i)) o.out_bytes = partials;
    done_.push_back(o);
  }

  void add_fused(Count results, Operation& o) {
    const Count bits = bits_of(m_.activation_format);
    const Count writing = operations_ / static_cast<Count>(sizes_[sums].size());
    for (const Fetch& f : c_.fetches) {
      ports_.read(f.place, f.pair, f.per_fold ? results : up(f.elements, writing),
                  f.place == Place::psram ? bits_of(m_.weight_format) : bits, o.needs);
      if (f.place == Place::dram) o.other_bytes += up(up(f.elements, writing) * bits, 8);
    }
    const Count pass = up(results, m_.vector_lanes);
    turns_ += c_.fused_operators * pass;
    if (!micro_) o.needs.compute = std::max(o.needs.compute, c_.fused_passes * pass);
  }

  /// Input positions that a tile of `count` results holds: of an input without edges, at most all that are read.
  static Count held(Count count, Count all, Count stride, Count kernel, Count dilation, Count pad, Count in) {
    const Count far = count * (stride + kernel * dilation) + 1;
    return std::min(std::ssize(positions(0, count, stride, kernel, dilation, 0, far)),
                    std::ssize(positions(0, all, stride, kernel, dilation, pad, in)));
  }

  /// Norms before and behind: element by element on the norm lanes, once for each pass.
  void add_norms(const At& at, Count of_a_position, Count results, Operation& o) {
    Count before = 0, behind = 0;
    const Count read =
        c_.prologue_passes == 0
            ? 0
            : held(size(rows, at), n_.out_h, n_.stride_h, n_.kernel_h, n_.dilation_h, n_.pad_top, n_.in_h) *
                  held(size(columns, at), n_.out_w, n_.stride_w, n_.kernel_w, n_.dilation_w, n_.pad_left, n_.in_w);
    for (Count pass = 0; pass < c_.prologue_passes; ++pass)
      for (const Count fold : pieces(read * of_a_position, m_.norm_lanes)) {
        ++before;
        o.lane_operations += fold;
      }
    for (Count pass = 0; pass < c_.statistics_passes; ++pass)
      for (const Count fold : pieces(results, m_.norm_lanes)) {
        ++behind;
        o.lane_operations += fold;
      }
    o.lane_operations += c_.fused_operators * results;
    turns_ += before + behind;
    if (!micro_) o.needs.compute = std::max({o.needs.compute, before, behind});
  }

  /// The tile of A; when it is one step of rows or columns from the tile before, what that one had not.
  void add_a(std::size_t i, Count bits_a_position, Operation& o) const {
    const At at = without(order_[i], {channels});
    o.a_tile = number(at);
    std::size_t before = i;
    while (before > 0 && without(order_[before], {channels}) == at) --before;
    const At last = without(order_[before], {channels});
    const auto count_new = [](const std::set<Count>& now, const std::set<Count>* had) {
      return std::ranges::count_if(now, [&](Count p) { return !had || !had->contains(p); });
    };
    const auto stepped = [&](Of loop) {
      At next = last;
      ++next[loop];
      return next == at;
    };
    const auto r = static_cast<std::size_t>(at[rows]), k = static_cast<std::size_t>(at[columns]);
    const Count rows_new = count_new(rows_in_[r], stepped(rows) ? &rows_in_[r - 1] : nullptr);
    const Count columns_new = count_new(columns_in_[k], stepped(columns) ? &columns_in_[k - 1] : nullptr);
    o.a_bytes = up(rows_new * columns_new * bits_a_position, 8);
  }

  void add_weights(const At& at, Count wide, Operation& o) const {
    const Count bits = bits_of(m_.weight_format);
    const bool integer = !number_formats[static_cast<std::size_t>(m_.weight_format)].floating;
    const Count zero = is_unsigned(m_.weight_format) ? bits : 0;
    const bool skipping = m_.sparsity == Sparsity::skipping;
    const Count elements = wide * n_.kernel_h * n_.kernel_w * size(sums, at);
    const Count kept = skipping ? up(elements * m_.weight_density.hundredths, 100) : elements;
    const Count scale = integer && m_.scale_granularity == ScaleGranularity::channel ? 32 + zero : 0;
    const Count once = at[sums] == 0 ? wide * (c_.bias_elements_per_channel * bits + scale) : 0;
    o.weight_tile = number(without(at, {repeats, rows, columns}));
    o.weight_psram_bytes = up(kept * bits + (skipping ? elements : 0) + once, 8);
    o.weight_dram_bytes = packed_bytes(o.weight_psram_bytes, m_);
  }

  const InstructionClass& c_;
  const Machine& m_;
  const Role role_;
  Ports ports_;
  const LoopNest& n_;
  const bool micro_ = m_.granularity == Granularity::micro_operation;
  Count turns_ = 0;  // cycles that the vector unit is busy with one operation, one pass after the other
  bool weighted_ = false;
  std::array<std::vector<Count>, loops> sizes_;        // of the tiles along each loop
  std::vector<std::set<Count>> rows_in_, columns_in_;  // input positions of each tile
  Count multiplicity_ = 1, operations_ = 1;
  std::vector<At> order_;
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
  for (const auto& [pair, beats] : o.other_pairs) other_pairs[pair] += beats;
  return *this;
}

std::int64_t Needs::longest() const {
  Count most = std::max({compute, dsram_read, dsram_write, stackram_read, stackram_write, psram_read});
  for (const auto& [pair, beats] : other_pairs) most = std::max(most, beats);
  return most;
}

std::int64_t packed_bytes(std::int64_t bytes, const Machine& m) {
  return bytes < 1024 ? bytes : up(bytes * 100, m.weight_compression.hundredths);
}

std::int64_t held_psram_bytes(const InstructionClass& c, const Machine& m) {
  if (c.compound == Compound::strips) return strips_psram_bytes(c, m);
  return up(c.weight_elements * bits_of(m.weight_format), 8);
}

bool weights_wired(const Machine& m, Role role) {
  if (m.weight_storage != WeightStorage::hard_coded) return false;
  const bool vae = role == Role::encoder || role == Role::decoder;
  return m.hard_coded_part == HardCodedPart::all || (m.hard_coded_part == HardCodedPart::vae && vae) ||
         (m.hard_coded_part == HardCodedPart::core && role == Role::core) ||
         (m.hard_coded_part == HardCodedPart::text_encoder && role == Role::text_encoder);
}

std::vector<Operation> expand(const InstructionClass& c, const Machine& machine, Role role,
                              std::optional<Family> owner) {
  Machine m = machine;
  if (m.granularity == Granularity::micro_operation) {  // one array of MACs, one vector unit
    m.mac_sharing = MacSharing::shared;
    m.softmax_lanes = m.norm_lanes = m.transpose_lanes = m.vector_lanes;
  }
  if (c.compound == Compound::strips) return expand_strips(c, m, role);
  if (c.compound == Compound::attention) return expand_attention(c, m, role);
  const Family own = owner.value_or(c.work.family);
  return is_product(c.work.family) ? NestExpansion(c, m, role, own).run() : expand_rows(c, m, role, own);
}

}  // namespace sdip::exec
