// A run of drafts through which strips of rows may be carried, and how it is cut into instructions. Internal to
// its room.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "core/program/compile/passes.h"
#include "core/program/tiling/strips.h"

namespace sdip {

inline constexpr std::size_t most_strip_parts = 16;

/// Drafts, each of which reads what the one before makes, row for row; or, in a branch, what that one reads, and
/// takes its results beside, element by element. Example: a feed-forward with a gate is v = x W_v, h = (x W_g) v,
/// h W: the second is a branch. Results of drafts farther before, and what the first one reads, may come beside,
/// too: a residual.
struct StripChain {
  List<Draft> drafts;
  std::vector<LoopNest> rows;           // how rows of each draft's results follow from rows of its operand
  std::vector<bool> may_begin;          // strips of one: its first operand comes row by row
  std::vector<bool> begins_in_order{};  // its first operand is read in the order in which it lies
  bool line_buffers = false;
  Family family = Family::conv2d;
  std::map<std::size_t, Draft> attentions{};  // the one that three of the drafts are, by the first of them
  List<Draft> passed{};                       // drafts among them that read nothing of theirs
  std::size_t draft_count() const;            // drafts of the program, an attention being one
  std::vector<std::size_t> singles() const;   // the first of each draft, an attention being one

  /// Drafts first to last as one.
  Draft join(std::size_t first, std::size_t last) const;
  /// The one draft that first to last are, were they not joined; nullptr where they are several.
  const Draft* one(std::size_t first, std::size_t last) const;
  bool has_heads(std::size_t first, std::size_t last) const;
  /// Whether first to last have part of an attention.
  bool splits_attention(std::size_t first, std::size_t last) const;
  /// The instructions that drafts first to last become: what runs before for the sums of the norms inside, with no
  /// result but these, and the whole.
  List<Draft> instructions(std::size_t first, std::size_t last) const;
  /// Whether what those before `last` make is read row by row by those behind, and by nobody else.
  bool is_closed(std::size_t first, std::size_t last, const List<std::int32_t>& uses) const;

 private:
  bool is_branch(std::size_t i, std::size_t first) const;
  bool comes_beside(std::size_t i, const DraftOperand& operand, ValueId value, std::int64_t elements) const;
  bool comes_beside(std::size_t i, const DraftOperand& operand, std::size_t j) const;
  bool is_a_beside(std::size_t i, const DraftOperand& operand, std::size_t first) const;
  Part part_of(std::size_t i, std::size_t first, Draft& joined) const;
};

/// Cuts each chain that begins at a draft (`chain_at`; one of fewer than two drafts is none) by dynamic programming
/// over its cut points, such that its instructions move the fewest DRAM bytes, of equals with fewest
/// multiplications, and puts these in the place of its drafts. `uses`: use_counts of them.
void carry_chains(Compilation& c, const List<std::int32_t>& uses,
                  const std::function<StripChain(std::size_t)>& chain_at);

}  // namespace sdip
