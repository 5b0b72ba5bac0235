// Writes a model that is compared with onnxruntime, its inputs and what the executor makes of it:
// write_agreed_models FOLDER NAME gives NAME.onnx, NAME.weights beside it where they stand there, and NAME.json
// with inputs and outputs as {type, shape, data}; write_agreed_models lists the names, " large" behind some.
#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tests/agree/models.h"

namespace {

nlohmann::json json_of(const std::vector<sdip::Tensor>& tensors) {
  nlohmann::json list = nlohmann::json::array();
  for (const sdip::Tensor& tensor : tensors) {
    nlohmann::json one = {{"type", sdip::element_type_text(tensor.type)}, {"shape", tensor.shape}};
    if (sdip::is_floating(tensor.type))
      one["data"] = tensor.floats;
    else
      one["data"] = tensor.ints;
    list.push_back(std::move(one));
  }
  return list;
}

constexpr std::int64_t threads = 2;  // the results are the same with any number

void write(const std::string& folder, const sdip::agree::Row& row) {
  const std::string name = sdip::agree::name_of(row);
  const sdip::agree::Made model = sdip::agree::made(row, folder);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<sdip::Tensor> outputs = sdip::agree::executed(row, model, threads);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::ofstream(folder + "/" + name + ".onnx", std::ios::binary) << sdip::agree::for_runtime(model.bytes);
  const nlohmann::json written = {{"name", name},
                                  {"form", sdip::agree::form_text(row.form)},
                                  {"tolerance", row.tolerance},
                                  {"stored", row.stored},
                                  {"seconds", took.count()},
                                  {"inputs", json_of(model.inputs)},
                                  {"outputs", json_of(outputs)}};
  std::ofstream(folder + "/" + name + ".json") << written.dump();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 3) {
    std::cerr << "Usage: write_agreed_models [FOLDER NAME]\n";
    return 2;
  }
  try {
    for (const sdip::agree::Row& row : sdip::agree::rows()) {
      if (argc == 1) std::cout << sdip::agree::name_of(row) << (row.large ? " large\n" : "\n");
      if (argc == 3 && sdip::agree::name_of(row) == argv[2]) write(argv[1], row);
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
