// sdip model list, show, write.
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "core/workload/workload.h"
#include "server/commands.h"
#include "server/text.h"

namespace sdip {
namespace {

struct ModelArguments {
  std::string name, file;
  std::vector<std::string> dims;
  ModelOptions sizes;
  std::uint64_t seed = 0;
  bool weights = false, json = false;
};

int list_models(const ModelArguments& arguments) {
  const auto entries = Catalog().entries();
  if (arguments.json) {
    OrderedJson models = OrderedJson::array();
    for (const auto& entry : entries) models.push_back(entry_json(entry));
    std::cout << json_text(OrderedJson{{"models", models}}, 2) << "\n";
    return exit_ok;
  }
  std::vector<TextRow> rows;
  for (const auto& entry : entries) {
    std::string stages;
    if (entry.pipeline)
      for (const auto& stage : entry.stages) stages += (stages.empty() ? "" : " ") + stage;
    rows.push_back({entry.name, count_text(*entry.parameters), entry.title, stages});
  }
  print_table(std::cout, {{"model"}, {"parameters", Align::right}, {""}, {"stages"}}, rows, colour_out());
  return exit_ok;
}

std::string shape_of(const OrderedJson& tensor) { return shape_text(tensor["shape"].get<Shape>()); }

void print_stage(const OrderedJson& stage, bool colour) {
  const auto number = [&](const OrderedJson& value) { return value.get<std::int64_t>(); };
  print_heading(std::cout,
                printable(stage["name"].get<std::string>()) + " (" + stage["role"].get<std::string>() + ")",
                colour);
  std::vector<TextRow> rows = {{"opset", stage["opset"].dump()},
                               {"producer", printable(stage["producer"].get<std::string>())},
                               {"parameters", count_text(number(stage["parameters"]))}};
  const auto& macs = stage["macs"];
  rows.push_back({"MACs", "conv2d " + count_text(number(macs["conv"])) + ", linear " +
                              count_text(number(macs["linear"])) + ", matmul " +
                              count_text(number(macs["matmul"]))});
  for (const char* side : {"inputs", "outputs"})
    for (const auto& tensor : stage[side])
      rows.push_back({std::string(side).substr(0, std::string(side).size() - 1),
                      printable(tensor["name"].get<std::string>()) + " " + tensor["type"].get<std::string>() + " " +
                          shape_of(tensor)});
  std::string operators, rewrites;
  for (const auto& row : stage["operators"])
    operators += (operators.empty() ? "" : ", ") + row["type"].get<std::string>() + " " + row["count"].dump();
  for (const auto& row : stage["rewrites"])
    if (number(row["count"]) > 0)
      rewrites += (rewrites.empty() ? "" : ", ") + row["pattern"].get<std::string>() + " " + row["count"].dump();
  rows.push_back({"operators", operators});
  rows.push_back({"recognised", rewrites.empty() ? "nothing" : rewrites});
  print_table(std::cout, {{""}, {""}}, rows, colour);
}

int show_model(const ModelArguments& arguments) {
  const OrderedJson facts = Catalog(FileModels{dims_of(arguments.dims)}).facts(arguments.name);
  if (arguments.json) return std::cout << json_text(facts, 2) << "\n", exit_ok;
  for (const auto& stage : facts["stages"]) {
    print_stage(stage, colour_out());
    std::cout << "\n";
  }
  return exit_ok;
}

int write_model_file(const ModelArguments& arguments) {
  const std::string bytes = write_model(arguments.name, arguments.sizes);
  const std::filesystem::path path(arguments.file);
  if (arguments.weights) {
    // Readers look for the external data beside the model, under the name that it gives.
    const auto weights_name = path.parent_path() / (arguments.name + ".weights");
    NewFile weights(weights_name);
    write_weights(bytes, arguments.seed, [&](std::span<const std::byte> piece) {
      weights.write({reinterpret_cast<const char*>(piece.data()), piece.size()});
    });
    weights.keep();
    std::cerr << "wrote " << weights_name.string() << "\n";
  }
  NewFile file(path);
  file.write(bytes);
  file.keep();
  std::cerr << "wrote " << path.string() << " (" << quantity_text(static_cast<double>(bytes.size()), "B") << ")\n";
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
  add_dim_option(*show, arguments->dims);
  write->add_option("NAME", arguments->name, "A built-in model")->required();
  write->add_option("FILE", arguments->file, "Where to write it")->required();
  write->add_option("--batch", arguments->sizes.batch, "Batch size")->capture_default_str();
  write->add_option("--height", arguments->sizes.image_height_px, "Image height in pixels; 0: the model's own");
  write->add_option("--width", arguments->sizes.image_width_px, "Image width in pixels; 0: the model's own");
  auto* seed = write->add_option("--seed", arguments->seed,
                                 "Write random weights of this seed into NAME.weights beside FILE");
  for (auto* command : {list, show}) command->add_flag("--json", arguments->json, "JSON instead of a table");
  list->callback([&action, arguments] { action = [=] { return list_models(*arguments); }; });
  show->callback([&action, arguments] { action = [=] { return show_model(*arguments); }; });
  write->callback([&action, arguments, seed] {
    arguments->weights = seed->count() > 0;
    action = [=] { return write_model_file(*arguments); };
  });
}

}  // namespace sdip
