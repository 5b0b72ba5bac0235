// The report of `sdip tiling`.
#include "server/studies/tiling_report.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/list_text.h"
#include "core/program/tiling/mapping_text.h"
#include "server/io/text.h"

namespace sdip {
namespace {

std::string millions(std::int64_t words) { return fixed_text(static_cast<double>(words) / 1e6, 3); }

std::string ratio_text(double ratio) { return fixed_text(ratio, 3); }

std::string words_text(std::int64_t words) {
  if (words >= 1 << 20 && words % (1 << 20) == 0) return std::to_string(words >> 20) + " Mi";
  if (words >= 1 << 10 && words % (1 << 10) == 0) return std::to_string(words >> 10) + " Ki";
  return count_text(words);
}

constexpr std::size_t name_width = 17, model_width = 16, shape_width = 34;

/// The sizes and order of a mapping, as cells.
void add_mapping(TextRow& row, const Mapping& m) {
  for (const std::int64_t size : {m.tile_rows, m.tile_columns, m.tile_channels, m.tile_sums})
    row.push_back(std::to_string(size));
  row.push_back(list_text(m.order, loop_text, ","));
}

const std::vector<Column> mapping_columns{{"rows", Align::right},
                                          {"columns", Align::right},
                                          {"channels", Align::right},
                                          {"sums", Align::right},
                                          {"order, outermost first"}};

/// Prints each layer, with the number that the other tables call it by.
void print_layers(std::ostream& out, const std::vector<LayerTiling>& layers, bool colour) {
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerTiling& l = layers[i];
    rows.push_back({std::to_string(i + 1), middle_cut(l.model, model_width), middle_cut(l.layer.name, name_width),
                    std::to_string(l.layer.count), middle_cut(nest_text(l.layer.nest), shape_width),
                    count_text(l.compulsory_capacity)});
  }
  print_table(
      out,
      {{"#", Align::right}, {"model"}, {"layer"}, {"times", Align::right}, {"shape"}, {"once from", Align::right}},
      rows, colour);
}

/// The mapping as in the language of mappings, without its pattern.
std::string tiling_text(const Nest& nest, const Mapping& mapping) {
  const std::string line = mapping_text(rule_of("x", nest, mapping));
  return line.substr(line.find(' ') + 1);
}

OrderedJson mapping_json(const Mapping& m) {
  return {{"rows", m.tile_rows},
          {"columns", m.tile_columns},
          {"channels", m.tile_channels},
          {"sums", m.tile_sums},
          {"order", json_list(m.order, loop_text)}};
}

void print_totals(std::ostream& out, const std::vector<LayerTiling>& layers, bool colour) {
  std::vector<TextRow> rows;
  for (const TilingTotal& t : totals_of(layers))
    rows.push_back({words_text(t.words), millions(t.moved), millions(t.least),
                    ratio_text(ratio_of(t.moved, t.least)), ratio_text(t.worst), std::to_string(t.infeasible)});
  out << "\n";
  print_table(out,
              {{"all layers, words", Align::right},
               {"moved, M", Align::right},
               {"bound, M", Align::right},
               {"ratio", Align::right},
               {"worst", Align::right},
               {"do not fit", Align::right}},
              rows, colour);
}

void print_on_machine(std::ostream& out, const std::vector<LayerTiling>& layers, bool colour) {
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerTiling& l = layers[i];
    TextRow row{std::to_string(i + 1)};
    if (l.on_machine) {
      row.insert(row.end(), {millions(l.on_machine->bytes), millions(l.on_machine->least_bytes),
                             ratio_text(ratio_of(l.on_machine->bytes, l.on_machine->least_bytes))});
      add_mapping(row, l.on_machine->mapping);
    } else {
      row.insert(row.end(), {"-", "-", "-", "", "", "", "", "does not fit"});
    }
    rows.push_back(std::move(row));
  }
  const TilingTotal total = machine_total_of(layers);
  rows.push_back({"all", millions(total.moved), millions(total.least),
                  ratio_text(ratio_of(total.moved, total.least)), "", "", "", "", ""});
  out << "\n";
  std::vector<Column> columns{
      {"#", Align::right}, {"MB moved", Align::right}, {"bound, MB", Align::right}, {"ratio", Align::right}};
  columns.insert(columns.end(), mapping_columns.begin(), mapping_columns.end());
  print_table(out, columns, rows, colour);
}

}  // namespace

std::vector<LayerTiling> tile_models(const Catalog& catalog, const std::vector<std::string>& models,
                                     const std::vector<std::int64_t>& words, const Machine* machine) {
  std::vector<LayerTiling> layers;
  for (const std::string& name : models)
    for (const Member& member : catalog.members(name, "MODEL"))
      std::ranges::move(
          tile_network({member.role, member.name}, catalog.read(member, PassSizes()).rewritten, words, machine),
          std::back_inserter(layers));
  return layers;
}

void print_tilings(std::ostream& out, const std::vector<LayerTiling>& layers, bool colour) {
  print_layers(out, layers, colour);
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerTiling& l = layers[i];
    std::string number = std::to_string(i + 1);
    for (const TilingAt& at : l.at) {
      TextRow row{std::exchange(number, ""), words_text(at.words)};
      if (at.found) {
        row.insert(row.end(), {millions(at.found->price), millions(at.least_words),
                               ratio_text(ratio_of(at.found->price, at.least_words))});
        add_mapping(row, at.found->mapping);
      } else {
        row.insert(row.end(), {"-", millions(at.least_words), "-", "", "", "", "", "does not fit"});
      }
      rows.push_back(std::move(row));
      if (at.found && at.found->price == l.compulsory_words) break;
    }
  }
  out << "\n";
  std::vector<Column> columns{{"#", Align::right},
                              {"words", Align::right},
                              {"moved, M", Align::right},
                              {"bound, M", Align::right},
                              {"ratio", Align::right}};
  columns.insert(columns.end(), mapping_columns.begin(), mapping_columns.end());
  print_table(out, columns, rows, colour);
  print_totals(out, layers, colour);
  if (std::ranges::any_of(layers, [](const LayerTiling& l) { return l.on_machine.has_value(); }))
    print_on_machine(out, layers, colour);
}

void print_tilings_csv(std::ostream& out, const std::vector<LayerTiling>& layers) {
  out << "model,layer,times,shape,compulsory_words,compulsory_from_words,words,moved_words,bound_words,ratio,"
         "mapping,"
         "machine_bytes,machine_bound_bytes\n";
  for (const LayerTiling& l : layers)
    for (const TilingAt& at : l.at) {
      out << csv_cell(l.model) << ',' << csv_cell(l.layer.name) << ',' << l.layer.count << ','
          << csv_cell(nest_text(l.layer.nest)) << ',' << l.compulsory_words << ',' << l.compulsory_capacity << ','
          << at.words << ',';
      if (at.found)
        out << at.found->price << ',' << at.least_words << ','
            << ratio_text(ratio_of(at.found->price, at.least_words)) << ','
            << csv_cell(tiling_text(l.layer.nest, at.found->mapping));
      else
        out << ',' << at.least_words << ",,";
      if (l.on_machine)
        out << ',' << l.on_machine->bytes << ',' << l.on_machine->least_bytes << '\n';
      else
        out << ",,\n";
    }
}

OrderedJson tilings_json(const std::vector<LayerTiling>& layers) {
  OrderedJson list = OrderedJson::array();
  for (const LayerTiling& l : layers) {
    OrderedJson row{{"model", l.model},
                    {"layer", l.layer.name},
                    {"times", l.layer.count},
                    {"shape", nest_text(l.layer.nest)},
                    {"compulsory_words", l.compulsory_words},
                    {"compulsory_from_words", l.compulsory_capacity},
                    {"at", OrderedJson::array()}};
    for (const TilingAt& at : l.at) {
      OrderedJson point{{"words", at.words}, {"bound_words", at.least_words}};
      point["moved_words"] = at.found ? OrderedJson(at.found->price) : OrderedJson();
      point["mapping"] = at.found ? mapping_json(at.found->mapping) : OrderedJson();
      row["at"].push_back(std::move(point));
    }
    if (l.on_machine)
      row["machine"] = {{"bytes", l.on_machine->bytes},
                        {"bound_bytes", l.on_machine->least_bytes},
                        {"mapping", mapping_json(l.on_machine->mapping)}};
    list.push_back(std::move(row));
  }
  return {{"layers", std::move(list)}};
}

void print_tilings_markdown(std::ostream& out, const Catalog& catalog) {
  constexpr const char* shapes[] = {"conv 3x3 320x64x64 -> 320x64x64",   "conv 3x3 640x32x32 -> 640x32x32",
                                    "conv 3x3 1280x16x16 -> 1280x16x16", "linear 4096x320 x 320x320",
                                    "linear 4096x320 x 320x2560",        "matmul 8 x 4096x40 x 40x4096"};
  std::vector<std::int64_t> words;
  for (std::int64_t size = 1 << 16; size <= 1 << 24; size *= 2) words.push_back(size);
  const std::vector<LayerTiling> layers = tile_models(catalog, tiled_models(), words, nullptr);
  out << "| layer of the U-Net | nothing twice from | 64 Ki words | 128 Ki | 256 Ki | 512 Ki | 1 Mi |\n"
         "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const char* shape : shapes) {
    const auto layer = std::ranges::find_if(
        layers, [&](const LayerTiling& l) { return l.model == "sd15-unet" && nest_text(l.layer.nest) == shape; });
    if (layer == layers.end()) continue;
    out << "| " << shape << " | " << count_text(layer->compulsory_capacity);
    for (std::size_t i = 0; i < 5; ++i)
      out << " | " << millions(layer->at[i].found->price) << " / " << millions(layer->at[i].least_words);
    out << " |\n";
  }
  out << "\n| all layers of SD 1.5 and ResNet-50 at | moved | bound | ratio | worst layer |\n"
         "| --- | --- | --- | --- | --- |\n";
  for (const TilingTotal& t : totals_of(layers))
    out << "| " << words_text(t.words) << " words | " << millions(t.moved) << " | " << millions(t.least) << " | "
        << ratio_text(ratio_of(t.moved, t.least)) << " | " << ratio_text(t.worst) << " |\n";
  out << "\n| the same, on the machine of | MB moved | bound | ratio | worst layer |\n| --- | --- | --- | --- | "
         "--- |\n";
  for (const Preset& preset : diffusion_presets()) {
    const TilingTotal t = machine_total_of(tile_models(catalog, tiled_models(), {}, &preset.machine));
    out << "| " << preset.name << " | " << millions(t.moved) << " | " << millions(t.least) << " | "
        << ratio_text(ratio_of(t.moved, t.least)) << " | " << ratio_text(t.worst) << " |\n";
  }
}

}  // namespace sdip
