// A published analysis of Stable Diffusion on a small NPU beside this program's own figures for the same networks.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// How a definition stands to the published figure. reproduced: within 1 %, a share when rounded as published.
/// not_proven: the number fits, but nothing says that the definition is the article's. approximate: of the
/// published size, but further off, or no one definition gives all figures of its kind. not_published: ours alone.
enum class Standing { reproduced, not_proven, approximate, not_reproduced, not_published };
std::string_view standing_text(Standing standing);

/// The networks of the analysis: SD 1.5's text encoder and autoencoder and SD 2.1's U-Net on a batch of two (both
/// halves of guidance), at 512 x 512. What the article gives excludes SD 1's U-Net and SD 2's text encoder.
struct AnalysedModel {
  Graph as_written, rewritten;
};
struct AnalysedModels {
  AnalysedModel text_encoder, vae_encoder, vae_decoder, unet;
};
/// Written, imported and rewritten.
AnalysedModels analysed_models();

enum class FigureUnit { count, bytes, share, ratio };
std::string_view unit_text(FigureUnit unit);

/// One published figure under one definition of it. Several rows may try definitions of one figure.
struct PublishedFigure {
  std::string_view part, figure;
  FigureUnit unit = FigureUnit::count;
  std::string_view said;  // as the article says it; empty where it does not
  double published = 0;   // the same as a number; 0 where it says nothing
  bool at_least = false;  // "over ..."
  Standing standing = Standing::not_published;
  double (*measure)(const AnalysedModels&) = nullptr;
  std::string_view definition;
};
std::span<const PublishedFigure> published_figures();

/// Where the published figures stand.
inline constexpr std::string_view npu_analysis_source =
    "Considerations For Accelerating On-Device Stable Diffusion Models, Semiconductor Engineering, "
    "https://semiengineering.com/considerations-for-accelerating-on-device-stable-diffusion-models/";

/// A row with our figure, and ours over the published one.
struct AnalysisRow {
  const PublishedFigure* figure = nullptr;
  double ours = 0;  // counts are exact: below 2^53
  std::optional<double> ratio;
};
/// Every published figure measured, in the order of the table.
std::vector<AnalysisRow> npu_analysis(const AnalysedModels& models);

}  // namespace sdip
