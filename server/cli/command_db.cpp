// sdip db check.
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "server/cli/commands.h"
#include "server/io/json_in.h"
#include "server/io/text.h"
#include "server/jobs/data_folder.h"
#include "server/jobs/service.h"

namespace sdip {
namespace {

struct CheckArguments {
  std::string data;
  bool json = false;
};

void print_found(const StoreCheck& found, const std::string& file) {
  std::cout << printable(file) << ": version " << found.version << ", " << count_text(found.sweeps) << " sweeps, "
            << count_text(found.points) << " points\n";
  if (found.unchecked > 0)
    std::cout << count_text(found.unchecked)
              << " of them were stored before there were checksums: whether they are damaged cannot be known\n";
  for (const std::string& damage : found.damages) std::cout << "damaged: " << printable(damage) << "\n";
  if (found.damages.empty()) std::cout << "whole\n";
}

/// Their files lie beside the store.
void check_models(const std::filesystem::path& folder, StoreCheck& found) {
  for (const StoredModel& model : found.models) try {
      require_model_bytes(model, MappedFile(folder / model.file));
    } catch (const Error& error) {
      found.damages.push_back(model.file + ": " + error.what());
    }
}

int check_data(const CheckArguments& arguments) {
  const auto file = kept_store_file(arguments.data);
  StoreCheck found = check_store(file.string());
  check_models(arguments.data, found);
  if (arguments.json)
    print_json({{"file", file.string()},
                {"version", found.version},
                {"sweeps", found.sweeps},
                {"points", found.points},
                {"unchecked", found.unchecked},
                {"damages", found.damages}});
  else
    print_found(found, file.string());
  if (!found.damages.empty())
    throw Error("store_corrupt", file.string(),
                count_text(std::ssize(found.damages)) + " damaged places; what stands elsewhere can be read");
  return exit_ok;
}

}  // namespace

void add_db_commands(CLI::App& app, Action& action) {
  auto* db = app.add_subcommand("db", "The store of a data folder");
  db->require_subcommand(1);
  const auto [command, a] = add_command<CheckArguments>(
      *db, action, "check", "Read all of a store and its models' files, and say what is damaged (exit code 1)",
      check_data);
  command.add_option("--data", a.data, "Folder of the store; another sdip may use it meanwhile")->required();
  command.add_flag("--json", a.json, "JSON instead of text");
}

}  // namespace sdip
