// Mutants that nothing catches: which are known.
#include "tests/mutants/known.h"

#include <sstream>
#include <stdexcept>

namespace sdip::mutants {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

}  // namespace

std::vector<Mutant> read_mutants(std::istream& in) {
  std::vector<Mutant> mutants;
  for (std::string line; std::getline(in, line);) {
    const auto f = fields_of(line);
    if (f.size() != 5) throw std::runtime_error("no mutant: " + line);
    mutants.push_back({std::stoi(f[0]), f[2], f[3], f[4], f[1] == "1"});
  }
  return mutants;
}

std::string key_of(const Mutant& m) { return m.file + '\t' + m.line + '\t' + m.change; }

std::map<std::string, std::string> read_known(std::istream& in) {
  std::map<std::string, std::string> known;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto f = fields_of(line);
    if (f.size() != 4) throw std::runtime_error("no known mutant: " + line);
    known[f[0] + '\t' + f[1] + '\t' + f[2]] = f[3];
  }
  return known;
}

Verdict judge(std::size_t mutants, bool whole, const std::vector<Mutant>& alive,
              const std::map<std::string, std::string>& known) {
  std::ostringstream out;
  std::size_t unknown = 0;
  for (const Mutant& m : alive) {
    if (known.contains(key_of(m))) continue;
    ++unknown;
    out << "survives: " << m.file << ": " << m.line << "\n          " << m.change << '\n';
  }
  const std::size_t dead = mutants - alive.size();
  out << dead << " of " << mutants << " mutants caught, "
      << static_cast<double>(dead * 1000 / std::max<std::size_t>(1, mutants)) / 10 << "%; "
      << alive.size() - unknown << " proved equivalent, " << unknown << " not\n";
  return {unknown == 0 && (!whole || dead * 100 >= mutants * 95), out.str()};
}

}  // namespace sdip::mutants
