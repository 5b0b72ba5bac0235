// The article's figures, a row for each definition of them, and what the built-in models give by it.
#include "core/baseline/npu_analysis.h"

#include <string>

#include "core/baseline/network_measures.h"
#include "core/graph/live.h"
#include "core/onnx/import.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

using Models = AnalysedModels;
using Part = AnalysedModel Models::*;
using enum FigureUnit;
using enum Standing;

constexpr Part text = &Models::text_encoder, encoder = &Models::vae_encoder, decoder = &Models::vae_decoder,
               unet = &Models::unet;

constexpr std::int64_t sram_bytes = std::int64_t{8} << 20;  // the article's 8 MB; an element is a byte
constexpr std::int64_t decimal_sram_bytes = 7'999'999;      // what has 8,000,000 bytes no longer fits

/// A total of one part, rewritten.
template <Part part, std::int64_t (*total)(const Graph&)>
double of(const Models& models) {
  return static_cast<double>(total((models.*part).rewritten));
}

template <Part part>
double parameters(const Models& models) {
  return of<part, mac_weight_elements>(models);
}

/// Multiply-accumulates of some parts, of all kinds or without the products of two activations.
template <Part... parts>
double macs(const Models& models) {
  double sum = 0;
  for (const Part part : {parts...}) {
    const GraphFacts facts = facts_of((models.*part).as_written);
    sum += static_cast<double>(facts.macs_conv) + static_cast<double>(facts.macs_linear) +
           static_cast<double>(facts.macs_matmul);
  }
  return sum;
}

template <Part... parts>
double product_macs(const Models& models) {
  double sum = 0;
  for (const Part part : {parts...}) sum += static_cast<double>(facts_of((models.*part).as_written).macs_matmul);
  return sum;
}

template <Part... parts>
double operations(const Models& models) {
  return 2 * macs<parts...>(models);
}

template <Part... parts>
double product_share(const Models& models) {
  return product_macs<parts...>(models) / macs<parts...>(models);
}

template <Part... parts>
double convolution_share(const Models& models) {
  return 1 - product_share<parts...>(models);
}

/// Operations of multiply-accumulates over these and one for each element of vector operators.
template <Part... parts>
double mac_share(const Models& models) {
  double vector = 0;
  for (const Part part : {parts...}) vector += static_cast<double>(vector_elements((models.*part).rewritten));
  const double all = operations<parts...>(models);
  return all / (all + vector);
}

template <Part part>
double weight_moves(const Models& models) {
  const AnalysedModel& model = models.*part;
  return static_cast<double>(mac_and_norm_elements(model.rewritten) + expanded_constant_elements(model.as_written));
}

template <Part part, std::int64_t kept_elements>
double activation_moves(const Models& models) {
  return static_cast<double>(moved_elements((models.*part).rewritten, kept_elements));
}

template <Part part, LiveRule rule>
double most_live(const Models& models) {
  return static_cast<double>(live_figures((models.*part).rewritten, rule).peak_elements);
}

double decoder_over_encoder_operations(const Models& models) {
  return operations<decoder>(models) / operations<encoder>(models);
}
double decoder_over_encoder_parameters(const Models& models) {
  return parameters<decoder>(models) / parameters<encoder>(models);
}

constexpr std::string_view by_weights = "weights of multiply-accumulates: no biases, norms, embeddings";
constexpr std::string_view by_macs = "two a multiply-accumulate, every score counted";
constexpr std::string_view by_moves =
    "weights, biases, norms; a mask or other constant as large as its sum or product";
constexpr std::string_view by_sram =
    "operands and results above 8 MiB of each operator; norms, SiLUs, scales one each";
constexpr std::string_view by_decimal = "operands and results of 8,000,000 B or more, likewise";
constexpr std::string_view by_layer = "operand and result of the largest layer of multiply-accumulates";
constexpr std::string_view by_live = "most bytes alive at once, norms and activations fused";
constexpr std::string_view by_linear = "MACs of convolutions and linear layers over all MACs";
constexpr std::string_view by_vector = "two operations a MAC, one an element of each vector operator";

// clang-format off
// part, figure, unit, as published, as a number, at least, standing, measure, definition
constexpr PublishedFigure figures[] = {
    {"text encoder", "parameters", count, "84.9 million", 84.9e6, false, reproduced, parameters<text>, by_weights},
    {"text encoder", "operations", count, "13.3 billion", 13.3e9, false, reproduced, operations<text>, by_macs},
    {"text encoder", "weight moves", count, "85.9 million", 85.9e6, false, not_proven, weight_moves<text>, by_moves},
    {"text encoder", "activation moves", count, "", 0, false, not_published, (activation_moves<text, sram_bytes>), by_sram},
    {"text encoder", "working buffer", bytes, "11.0 million bytes", 11.0e6, false, not_reproduced, (most_live<text, LiveRule::fused>), by_live},
    {"text encoder", "working buffer", bytes, "11.0 million bytes", 11.0e6, false, not_reproduced, (of<text, mac_result_elements>), "results of all multiply-accumulates, summed"},
    {"text encoder", "convolutions", share, "98%", 0.98, false, reproduced, convolution_share<text>, by_linear},
    {"VAE encoder", "parameters", count, "34.1 million", 34.1e6, false, reproduced, parameters<encoder>, by_weights},
    {"VAE encoder", "operations", count, "", 0, false, not_published, operations<encoder>, by_macs},
    {"VAE encoder", "weight moves", count, "", 0, false, not_published, weight_moves<encoder>, by_moves},
    {"VAE encoder", "activation moves", count, "1.7 billion", 1.7e9, false, approximate, (activation_moves<encoder, sram_bytes>), by_sram},
    {"VAE encoder", "activation moves", count, "1.7 billion", 1.7e9, false, not_reproduced, (activation_moves<encoder, decimal_sram_bytes>), by_decimal},
    {"VAE encoder", "working buffer", bytes, "78 million bytes", 78e6, false, not_reproduced, (of<encoder, largest_mac_operands>), by_layer},
    {"VAE encoder", "working buffer", bytes, "78 million bytes", 78e6, false, not_reproduced, (most_live<encoder, LiveRule::fused>), by_live},
    {"VAE encoder", "largest early tensor", bytes, "32 MB", 33'554'432, false, reproduced, (of<encoder, largest_convolved>), "128 channels of 512 x 512; MB is 2^20 B"},
    {"VAE decoder", "parameters", count, "49.5 million", 49.5e6, false, reproduced, parameters<decoder>, by_weights},
    {"VAE decoder", "parameters, encoder's = 1", ratio, "45% more", 1.45, false, reproduced, decoder_over_encoder_parameters, by_weights},
    {"VAE decoder", "operations", count, "", 0, false, not_published, operations<decoder>, by_macs},
    {"VAE decoder", "operations, encoder's = 1", ratio, "twice", 2, false, approximate, decoder_over_encoder_operations, by_macs},
    {"VAE decoder", "weight moves", count, "", 0, false, not_published, weight_moves<decoder>, by_moves},
    {"VAE decoder", "activation moves", count, "3.6 billion", 3.6e9, false, approximate, (activation_moves<decoder, sram_bytes>), by_sram},
    {"VAE decoder", "activation moves", count, "3.6 billion", 3.6e9, false, approximate, (activation_moves<decoder, decimal_sram_bytes>), by_decimal},
    {"VAE decoder", "working buffer", bytes, "133 million bytes", 133e6, false, approximate, (of<decoder, largest_mac_operands>), by_layer},
    {"VAE decoder", "working buffer", bytes, "133 million bytes", 133e6, false, not_reproduced, (most_live<decoder, LiveRule::fused>), by_live},
    {"VAE", "convolutions", share, "98%", 0.98, false, reproduced, (convolution_share<encoder, decoder>), by_linear},
    {"U-Net", "parameters", count, "865 million", 865e6, false, reproduced, parameters<unet>, by_weights},
    {"U-Net", "operations", count, "over 1.6 trillion", 1.6e12, true, reproduced, operations<unet>, by_macs},
    {"U-Net", "weight moves", count, "", 0, false, not_published, weight_moves<unet>, by_moves},
    {"U-Net", "activation moves", count, "", 0, false, not_published, (activation_moves<unet, sram_bytes>), by_sram},
    {"U-Net", "working buffer", bytes, "", 0, false, not_published, (most_live<unet, LiveRule::fused>), by_live},
    {"U-Net", "working buffer", bytes, "", 0, false, not_published, (most_live<unet, LiveRule::flash>), "most bytes alive at once, scores never stored"},
    {"U-Net", "largest batch product", bytes, "160 MB", 167'772'160, false, reproduced, (of<unet, largest_product>), "scores [10, 4096, 4096] of 5 heads, two prompts; MB is 2^20 B"},
    {"U-Net", "convolutions", share, "84%", 0.84, false, reproduced, convolution_share<unet>, by_linear},
    {"U-Net", "dense products", share, "16%", 0.16, false, reproduced, product_share<unet>, "MACs of products of two activations over all MACs"},
    {"all four", "convolutions and products", share, "over 99.9%", 0.999, true, reproduced, (mac_share<text, encoder, decoder, unet>), by_vector},
    {"VAE", "convolutions and products", share, "over 99.9%", 0.999, true, reproduced, (mac_share<encoder, decoder>), by_vector},
    {"U-Net", "convolutions and products", share, "over 99.9%", 0.999, true, not_reproduced, mac_share<unet>, by_vector},
};
// clang-format on

AnalysedModel analysed(std::string_view name, std::int64_t batch) {
  const std::string bytes = write_model(name, {.batch = batch});
  AnalysedModel model;
  model.as_written = import_onnx({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  model.rewritten = model.as_written;
  rewrite(model.rewritten);
  return model;
}

}  // namespace

std::string_view standing_text(Standing standing) {
  constexpr std::string_view names[] = {"reproduced", "not proven", "approximate", "not reproduced",
                                        "not published"};
  return names[at(standing)];
}

std::string_view unit_text(FigureUnit unit) {
  constexpr std::string_view names[] = {"", "B", "share", "ratio"};
  return names[at(unit)];
}

AnalysedModels analysed_models() {
  return {analysed("sd15-text", 1), analysed("sd15-vae-encoder", 1), analysed("sd15-vae-decoder", 1),
          analysed("sd21-unet", 2)};
}

std::span<const PublishedFigure> published_figures() { return figures; }

std::vector<AnalysisRow> npu_analysis(const AnalysedModels& models) {
  std::vector<AnalysisRow> rows;
  for (const PublishedFigure& figure : figures) {
    AnalysisRow& row = rows.emplace_back();
    row.figure = &figure;
    row.ours = figure.measure(models);
    if (figure.published > 0) row.ratio = row.ours / figure.published;
  }
  return rows;
}

}  // namespace sdip
