// Do the built-in models give the figures that an NPU maker published of them?
#include "core/baseline/npu_analysis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace sdip {
namespace {

const std::vector<AnalysisRow>& measured() {
  static const std::vector<AnalysisRow> rows = npu_analysis(analysed_models());
  return rows;
}

std::string name_of(const AnalysisRow& row) {
  return std::string(row.figure->part) + ", " + std::string(row.figure->figure) + ", by " +
         std::string(row.figure->definition);
}

/// Our figure of that name, by its first definition.
double ours(std::string_view part, std::string_view figure) {
  for (const AnalysisRow& row : measured())
    if (row.figure->part == part && row.figure->figure == figure) return row.ours;
  ADD_FAILURE() << part << ", " << figure << ": no such row";
  return 0;
}

TEST(npu_analysis, what_is_reproduced_is_within_a_hundredth) {
  for (const AnalysisRow& row : measured()) {
    const PublishedFigure& figure = *row.figure;
    if (figure.standing != Standing::reproduced && figure.standing != Standing::not_proven) continue;
    ASSERT_TRUE(row.ratio.has_value()) << name_of(row);
    if (figure.at_least) {
      EXPECT_GT(row.ours, figure.published) << name_of(row);
    }
    if (figure.unit == FigureUnit::share && !figure.at_least) {
      EXPECT_EQ(std::round(100 * row.ours), std::round(100 * figure.published)) << name_of(row);
    } else {
      EXPECT_NEAR(*row.ratio, 1, 0.01) << name_of(row);
    }
  }
}

TEST(npu_analysis, what_is_approximate_is_of_the_published_size) {
  for (const AnalysisRow& row : measured()) {
    if (row.figure->standing != Standing::approximate) continue;
    EXPECT_NEAR(*row.ratio, 1, 0.13) << name_of(row);
  }
}

/// A definition that fits must not be called one that does not.
TEST(npu_analysis, what_is_not_reproduced_is_off) {
  for (const AnalysisRow& row : measured()) {
    if (row.figure->standing != Standing::not_reproduced) continue;
    const bool short_of = row.figure->at_least && row.ours < row.figure->published;
    EXPECT_TRUE(short_of || std::abs(*row.ratio - 1) > 0.1) << name_of(row);
  }
}

/// Working buffers and activation moves have no definition that gives them all; everything else must be reproduced
/// by one of its rows (operations of the decoder over the encoder's are said as "twice").
TEST(npu_analysis, only_buffers_moves_and_a_rough_figure_may_stay_open) {
  std::map<std::pair<std::string_view, std::string_view>, bool> reproduced;
  for (const AnalysisRow& row : measured()) {
    if (row.figure->said.empty()) continue;
    bool& one = reproduced[{row.figure->part, row.figure->figure}];
    one = one || row.figure->standing == Standing::reproduced;
  }
  const std::set<std::pair<std::string_view, std::string_view>> open = {
      {"text encoder", "weight moves"},
      {"text encoder", "working buffer"},
      {"VAE encoder", "activation moves"},
      {"VAE encoder", "working buffer"},
      {"VAE decoder", "activation moves"},
      {"VAE decoder", "working buffer"},
      {"VAE decoder", "operations, encoder's = 1"},
      {"U-Net", "convolutions and products"}};
  for (const auto& [name, is] : reproduced)
    EXPECT_EQ(is, !open.contains(name)) << name.first << ", " << name.second;
}

/// Counted on graphs that PyTorch exported (the built-in ones are written by this program).
TEST(npu_analysis, exact_figures_are_those_of_exported_graphs) {
  EXPECT_EQ(ours("text encoder", "parameters"), 84'934'656);
  EXPECT_EQ(ours("text encoder", "operations"), 2.0 * 6'649'251'840);
  EXPECT_EQ(ours("text encoder", "weight moves"), 85'909'776);
  EXPECT_EQ(ours("VAE encoder", "parameters"), 34'135'488);
  EXPECT_EQ(ours("VAE decoder", "parameters"), 49'452'432);
  EXPECT_EQ(ours("VAE decoder", "working buffer"), 134'217'728);
  EXPECT_EQ(ours("VAE encoder", "working buffer"), 67'108'864);
  EXPECT_EQ(ours("U-Net", "parameters"), 865'466'880);
  EXPECT_EQ(ours("U-Net", "largest batch product"), 160.0 * 1024 * 1024);
  EXPECT_NEAR(ours("U-Net", "convolutions"), 0.8433, 5e-5);
  EXPECT_NEAR(ours("U-Net", "dense products"), 0.1567, 5e-5);
  EXPECT_NEAR(ours("text encoder", "convolutions"), 0.9836, 5e-5);
  EXPECT_NEAR(ours("VAE", "convolutions"), 0.9811, 5e-5);
  EXPECT_NEAR(ours("all four", "convolutions and products"), 0.9992, 5e-5);
}

TEST(npu_analysis, a_row_says_what_is_published_or_that_nothing_is) {
  for (const PublishedFigure& figure : published_figures()) {
    EXPECT_EQ(figure.said.empty(), figure.standing == Standing::not_published) << figure.part << figure.figure;
    EXPECT_EQ(figure.said.empty(), figure.published == 0) << figure.part << figure.figure;
    EXPECT_FALSE(figure.definition.empty()) << figure.part << figure.figure;
  }
}

}  // namespace
}  // namespace sdip
