// A source with every mutation in it at once.
#include "tests/mutants/rewrite.h"

#include <algorithm>
#include <tuple>

#include "tests/mutants/sites.h"

namespace sdip::mutants {

int Sites::add(std::size_t at, std::string change, bool typed) {
  mutants_.push_back({next_, file_, std::string(reading_.line_of(at)), std::move(change), typed});
  return next_++;
}

void Sites::wrap(Range range, std::string open, std::string close) {
  edits_.push_back(
      {reading_[range.first].begin, reading_[range.last - 1].end(), std::move(open), std::move(close), false});
}

void Sites::replace(Range range, std::string text) {
  edits_.push_back({reading_[range.first].begin, reading_[range.last - 1].end(), std::move(text), {}, true});
}

std::string Sites::text() const {
  struct Piece {
    std::size_t at;
    int rank;  // closings, the innermost first; openings, the outermost first; what replaces a token
    std::size_t size, order;
    std::string_view text;
    std::size_t skips;
  };
  std::vector<Piece> pieces;
  const std::size_t most = reading_.source().size(), count = edits_.size();
  for (std::size_t e = 0; e < count; ++e) {
    const Edit& edit = edits_[e];
    const std::size_t size = edit.end - edit.begin;
    if (edit.replaces) {
      pieces.push_back({edit.begin, 2, 0, e, edit.open, size});
      continue;
    }
    pieces.push_back({edit.begin, 1, most - size, e, edit.open, 0});
    pieces.push_back({edit.end, 0, size, count - e, edit.close, 0});
  }
  std::ranges::sort(pieces, {}, [](const Piece& p) { return std::tuple(p.at, p.rank, p.size, p.order); });
  std::string text;
  std::size_t at = 0;
  for (const Piece& piece : pieces) {
    if (piece.at > at) text += reading_.source().substr(at, piece.at - at);
    text += piece.text;
    at = std::max(at, piece.at + piece.skips);
  }
  return text += reading_.source().substr(at);
}

Rewritten rewrite(std::string_view source, const std::string& file, int first) {
  const Reading reading(source);
  Sites sites(reading, file, first);
  add_operators(reading, sites);
  add_values(reading, sites);
  add_statements(reading, sites);
  // Changes that read alike in one line are told apart by their order.
  std::vector<Mutant> mutants = sites.mutants();
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    int before = 0;
    for (std::size_t j = 0; j < i; ++j)
      before += mutants[j].line == mutants[i].line && sites.mutants()[j].change == sites.mutants()[i].change;
    if (before > 0) mutants[i].change += " (" + std::to_string(before + 1) + ")";
  }
  return {sites.text(), std::move(mutants), reading.all_left_alone()};
}

}  // namespace sdip::mutants
