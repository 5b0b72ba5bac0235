// sdip assemble and disassemble: a program from text to words and back.
#include <iostream>
#include <memory>

#include "core/program/form/parse.h"
#include "server/cli/commands.h"
#include "server/io/files.h"
#include "server/io/text.h"
#include "server/json/program_files.h"

namespace sdip {
namespace {

struct ProgramArguments {
  std::string file, out;
  std::vector<std::string> operators;
};

int run_assemble(const ProgramArguments& arguments) {
  const CompiledStage stage = program_of_file(arguments.file, operators_of(arguments.operators));
  write_file(arguments.out, write_graph_binary(stage));
  std::cout << printable(arguments.out) << ": " << count_text(std::ssize(stage.program.instructions))
            << " instructions, " << quantity_text(static_cast<double>(imem_bytes(stage.program).value), "B")
            << " of IMEM\n";
  return exit_ok;
}

int run_disassemble(const ProgramArguments& arguments) {
  const std::string text = graph_text(program_of_file(arguments.file, operators_of(arguments.operators)));
  if (arguments.out.empty())
    std::cout << text;
  else
    write_file(arguments.out, text);
  return exit_ok;
}

}  // namespace

void add_program_commands(CLI::App& app, Action& action) {
  const auto add = [&](const char* name, const char* what, int (*run)(const ProgramArguments&)) {
    const auto [command, a] = add_command<ProgramArguments>(app, action, name, what, run);
    command.add_option("FILE", a.file, "A program: .graph text or its binary form")->required();
    auto* out = command.add_option("--out,-o", a.out, "File to write");
    if (run == run_assemble) out->required();
    add_operators_option(command, a.operators);
  };
  add("assemble", "A program as the words that IMEM is loaded with", run_assemble);
  add("disassemble", "A program as .graph text", run_disassemble);
}

}  // namespace sdip
