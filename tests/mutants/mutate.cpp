// Rewrites sources: mutate ROOT OUT FILE... writes OUT/FILE with every mutation of ROOT/FILE, and OUT/mutants.txt
// and OUT/left_alone.txt. Usage: mutate . build/dev/mutants core/cost/*/*.cpp core/cost/*/*.h
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/mutants/choice.h"
#include "tests/mutants/rewrite.h"

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

int main(int count, char** words) try {
  const std::filesystem::path root = words[1], out = words[2];
  std::filesystem::create_directories(out);
  std::ofstream mutants(out / "mutants.txt"), alone(out / "left_alone.txt");
  int next = 0;
  for (int i = 3; i < count; ++i) {
    const std::string file = std::filesystem::relative(words[i], root).string();
    const sdip::mutants::Rewritten made = sdip::mutants::rewrite(text_of(words[i]), file, next);
    for (const auto& m : made.mutants)
      mutants << m.number << '\t' << m.typed << '\t' << m.file << '\t' << m.line << '\t' << m.change << '\n';
    for (const auto& l : made.left_alone) alone << file << '\t' << l.line << '\t' << l.reason << '\n';
    next += static_cast<int>(made.mutants.size());
    std::filesystem::create_directories((out / file).parent_path());
    std::ofstream(out / file) << "#include \"tests/mutants/choice.h\"\n" << made.text;
  }
  if (next > mutant::most_mutants) throw std::runtime_error("more mutants than numbers");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "mutate: " << error.what() << '\n';
  return 1;
}
