// Models checked in processes of their own.
#include "tests/generate/apart.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "tests/generate/machines.h"
#include "tests/generate/model.h"

namespace sdip::generate {
namespace {

/// Where a child is, seen by its parent.
struct Place {
  std::uint64_t seed = 0;
  char phase[32] = {};
};

struct Child {
  pid_t process = -1;
  int pipe = -1;
  Place* place = nullptr;
  std::uint64_t next = 0, end = 0;  // seeds that are not told yet
  std::string text;                 // read, up to a line that has no end yet
};

constexpr char field_end = '\t', drawn_end = ';';

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == field_end) c = ' ';
  return text;
}

std::string line_of(const Checked& checked) {
  const Outcome& o = checked.outcome;
  std::ostringstream line;
  line << checked.seed << field_end << static_cast<int>(o.verdict) << field_end << o.nodes << field_end
       << o.instructions << field_end << o.values << o.executed << o.tensors << field_end << one_line(o.code)
       << field_end << one_line(o.detail.substr(0, 400)) << field_end;
  for (const std::string& drawn : checked.drawn) line << drawn << drawn_end;
  line << '\n';
  return line.str();
}

Checked checked_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == field_end)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  Checked checked;
  checked.seed = std::stoull(fields.at(0));
  Outcome& o = checked.outcome;
  o.verdict = static_cast<Verdict>(std::stoi(fields.at(1)));
  o.nodes = std::stoll(fields.at(2));
  o.instructions = std::stoll(fields.at(3));
  o.values = fields.at(4).at(0) == '1', o.executed = fields.at(4).at(1) == '1',
  o.tensors = fields.at(4).at(2) == '1';
  o.code = fields.at(5);
  o.detail = fields.at(6);
  std::istringstream drawn(fields.at(7));
  for (std::string one; std::getline(drawn, one, drawn_end);) checked.drawn.push_back(one);
  return checked;
}

[[noreturn]] void run_child(const Child& child, int out, const Checker& checker) {
  for (std::uint64_t seed = child.next; seed < child.end; ++seed) {
    child.place->seed = seed;
    std::strncpy(child.place->phase, "draw", sizeof(child.place->phase) - 1);
    ::alarm(longest_model_s);
    const Checked checked = checker(
        seed, [&](const char* phase) { std::strncpy(child.place->phase, phase, sizeof(child.place->phase) - 1); });
    ::alarm(0);
    const std::string line = line_of(checked);
    for (std::size_t at = 0; at < line.size();) {
      const ssize_t written = ::write(out, line.data() + at, line.size() - at);
      if (written <= 0) ::_exit(3);
      at += static_cast<std::size_t>(written);
    }
  }
  ::_exit(0);
}

void begin(Child& child, const Checker& checker) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  child.process = ::fork();
  if (child.process < 0) throw std::runtime_error("no process");
  if (child.process == 0) {
    ::close(ends[0]);
    run_child(child, ends[1], checker);
  }
  ::close(ends[1]);
  child.pipe = ends[0];
  child.text.clear();
}

/// Reads what is there; false at its end.
bool take(Child& child, const std::function<void(const Checked&)>& each) {
  char buffer[65536];
  const ssize_t count = ::read(child.pipe, buffer, sizeof(buffer));
  if (count <= 0) return false;
  child.text.append(buffer, static_cast<std::size_t>(count));
  for (std::size_t end; (end = child.text.find('\n')) != std::string::npos; child.text.erase(0, end + 1)) {
    const Checked checked = checked_of(child.text.substr(0, end));
    child.next = checked.seed + 1;
    each(checked);
  }
  return true;
}

/// The child is gone: a model that it did not tell of ended it.
void finish(Child& child, const std::function<void(const Checked&)>& each) {
  int status = 0;
  ::waitpid(child.process, &status, 0);
  ::close(child.pipe);
  child.process = -1;
  if (child.next >= child.end) return;
  Checked checked;
  checked.seed = child.next;
  checked.outcome.verdict = Verdict::finding;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const std::string phase = child.place->phase;
  checked.outcome.code = signal == SIGALRM ? "hang " + phase
                         : signal != 0     ? "crash " + std::to_string(signal) + " " + phase
                                           : "exit " + std::to_string(WEXITSTATUS(status)) + " " + phase;
  each(checked);
  ++child.next;
}

}  // namespace

Checked check_seed(std::uint64_t seed, const PhaseObserver& phase) {
  const Generated given = drawn_model(seed);
  Machine machine = drawn_machine(seed);
  return {seed, check_model(given, machine, seed, phase), given.drawn};
}

Checked import_seed(std::uint64_t seed, const PhaseObserver& phase) {
  const Generated given = drawn_model(seed);
  return {seed, check_import(given, phase), given.drawn};
}

void check_apart(std::uint64_t first, std::uint64_t count, std::uint64_t jobs, const Checker& checker,
                 const std::function<void(const Checked&)>& each) {
  std::vector<Child> children(std::max<std::uint64_t>(1, jobs));
  for (Child& child : children) {
    void* shared = ::mmap(nullptr, sizeof(Place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
    child.place = new (shared) Place;
  }
  const std::uint64_t end = first + count;
  for (std::uint64_t next = first;;) {
    std::vector<pollfd> ready;
    for (Child& child : children) {
      if (child.process < 0 && child.next >= child.end && next < end) {
        child.next = next;
        child.end = next = std::min(end, next + batch_size);
      }
      if (child.process < 0 && child.next < child.end) begin(child, checker);
      if (child.process >= 0) ready.push_back({child.pipe, POLLIN, 0});
    }
    if (ready.empty()) break;
    ::poll(ready.data(), ready.size(), -1);
    for (const pollfd& one : ready) {
      if (one.revents == 0) continue;
      for (Child& child : children)
        if (child.process >= 0 && child.pipe == one.fd && !take(child, each)) finish(child, each);
    }
  }
  for (const Child& child : children) ::munmap(child.place, sizeof(Place));
}

}  // namespace sdip::generate
