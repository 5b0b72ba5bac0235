// sdip model list, show, write.
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "core/base/list_text.h"
#include "core/workload/workload.h"
#include "server/cli/commands.h"
#include "server/cli/text/model_text.h"
#include "server/io/text.h"
#include "server/models/model_facts.h"

namespace sdip {
namespace {

struct ModelArguments {
  std::string name, file;
  FileOptions files;
  std::int64_t tree_depth = 0;
  ModelOptions sizes;
  std::uint64_t seed = 0;
  bool weights = false, guidance = false, json = false;
};

int list_models(const ModelArguments& arguments) {
  const auto entries = Catalog().entries();
  if (arguments.json) return print_json({{"models", json_list(entries, entry_json)}});
  std::vector<TextRow> rows;
  for (const auto& entry : entries) {
    rows.push_back({entry.name, count_text(*entry.parameters), entry.title,
                    entry.pipeline ? list_text(entry.stages, std::identity(), " ") : ""});
  }
  print_table(std::cout, {{"model"}, {"parameters", Align::right}, {""}, {"stages"}}, rows, colour_out());
  return exit_ok;
}

/// A file that cannot be imported: what is known of it, and all that is in the way.
int show_refused(const ModelArguments& arguments, const Catalog& catalog, const Member& member,
                 const Error& error) {
  const OrderedJson refused = refused_model(catalog, member, error);
  if (arguments.json)
    print_json(refused);
  else
    print_refused(std::cout, refused, colour_out());
  return exit_input;
}

int show_model(const ModelArguments& arguments) {
  const Catalog catalog(file_models(arguments.files));
  TreeLimits limits = api_tree;
  if (!arguments.json) limits = {.depth = arguments.tree_depth, .children = 1000, .total = 100'000};
  const auto members = catalog.members(arguments.name, "NAME");
  if (!members.front().file.empty()) MappedFile{members.front().file};
  OrderedJson facts;
  try {
    facts = catalog.facts(arguments.name, limits);
  } catch (const Error& error) {
    if (members.front().file.empty()) throw;
    return show_refused(arguments, catalog, members.front(), error);
  }
  if (arguments.json) return print_json(facts);
  print_facts(std::cout, facts, arguments.tree_depth > 0, colour_out());
  return exit_ok;
}

/// Guidance runs text encoder and U-Net on a batch of two prompts.
ModelOptions sizes_of(const ModelArguments& arguments, std::string_view name) {
  ModelOptions sizes = arguments.sizes;
  const ModelRow* row = find_model(name);
  const bool doubled = row && (row->kind == ModelKind::text_encoder || row->kind == ModelKind::unet);
  if (arguments.guidance && doubled) sizes.batch *= 2;
  return sizes;
}

/// One ONNX file, and beside it its weights when asked for. Returns a row of what was written.
OrderedJson write_one(const ModelArguments& arguments, const std::string& name, const std::filesystem::path& path) {
  const std::string bytes = write_model(name, sizes_of(arguments, name));
  OrderedJson written{{"model", name}, {"file", path.string()}, {"bytes", bytes.size()}, {"weights", nullptr}};
  if (arguments.weights) {
    // Readers look for the external data beside the model, under the name that it gives.
    const auto weights_name = path.parent_path() / (name + ".weights");
    NewFile weights(weights_name);
    write_weights(bytes, arguments.seed, [&](std::span<const std::byte> piece) { weights.write(text_of(piece)); });
    weights.keep();
    written["weights"] = weights_name.string();
  }
  write_file(path, bytes);
  return written;
}

/// A pipeline is a folder of its models' files.
int write_models(const ModelArguments& arguments) {
  OrderedJson all = OrderedJson::array();
  if (const PipelineRow* pipeline = find_pipeline(arguments.name)) {
    require_folder(arguments.file);
    for (const std::string_view name : {pipeline->text_encoder, pipeline->text_encoder_2, pipeline->vae_encoder,
                                        pipeline->unet, pipeline->vae_decoder})
      if (!name.empty())
        all.push_back(write_one(arguments, std::string(name),
                                std::filesystem::path(arguments.file) / (std::string(name) + ".onnx")));
  } else {
    all.push_back(write_one(arguments, arguments.name, arguments.file));
  }
  if (arguments.json) return print_json({{"written", all}});
  for (const auto& one : all) {
    if (one["weights"].is_string()) std::cerr << "wrote " << printable(one["weights"].get<std::string>()) << "\n";
    std::cerr << "wrote " << printable(one["file"].get<std::string>()) << " ("
              << quantity_text(one["bytes"].get<double>(), "B") << ")\n";
  }
  return exit_ok;
}

}  // namespace

void add_model_commands(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<ModelArguments>();
  auto* model = app.add_subcommand("model", "The models that can be named, and ONNX files");
  model->require_subcommand(1);
  auto* list = model->add_subcommand("list", "Built-in models");
  auto* show = model->add_subcommand("show", "What a model consists of");
  auto* write = model->add_subcommand("write", "A built-in model as an ONNX file");
  show->add_option("NAME", arguments->name, "A built-in model or an ONNX file")->required();
  add_file_options(*show, arguments->files);
  show->add_flag("--tree{3}", arguments->tree_depth,
                 "Modules too, as the nodes' names tell them; --tree=DEPTH for as many levels");
  write->add_option("NAME", arguments->name, "A built-in model, or a pipeline of several")->required();
  write->add_option("FILE", arguments->file, "Where to write it; of a pipeline, the folder")->required();
  write->add_option("--batch", arguments->sizes.batch, "Batch size")->capture_default_str();
  write->add_option("--height", arguments->sizes.image_height_px, "Image height in pixels; 0: the model's own");
  write->add_option("--width", arguments->sizes.image_width_px, "Image width in pixels; 0: the model's own");
  write->add_flag("--guidance", arguments->guidance, "A batch of two prompts for text encoder and U-Net");
  auto* seed =
      add_seed_option(*write, arguments->seed, "Write random weights of this seed into NAME.weights beside FILE");
  for (auto* command : {list, show, write}) command->add_flag("--json", arguments->json, "JSON instead of a table");
  list->callback([&action, arguments] { action = [=] { return list_models(*arguments); }; });
  show->callback([&action, arguments] { action = [=] { return show_model(*arguments); }; });
  write->callback([&action, arguments, seed] {
    arguments->weights = seed->count() > 0;
    action = [=] { return write_models(*arguments); };
  });
}

}  // namespace sdip
