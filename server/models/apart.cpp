// Both sides of an evaluation in a child; docs/formats.md has what they say to each other.
#include "server/models/apart.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "core/base/error.h"
#include "core/ops/custom.h"

namespace sdip {
namespace {

constexpr std::size_t most_request_bytes = 64 << 20;
constexpr std::size_t most_message_bytes = 1 << 20;

/// As bytes stand in JSON: what is no UTF-8 is replaced.
std::string plain_json(const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace); }

std::string request_text(const ApartModel& model, const Evaluation& evaluation, const Json& request) {
  return plain_json({{"evaluation", evaluation.name},
                     {"request", request},
                     {"name", model.member.name},
                     {"role", role_text(model.member.role)},
                     {"dims", model.member.dims},
                     {"given", model.member.given},
                     {"operators", model.operators ? model.operators->json : ""},
                     {"memory_bytes", evaluation.limits.memory_bytes},
                     {"cpu_s", evaluation.limits.cpu_s},
                     {"threads", evaluation.limits.threads}});
}

[[noreturn]] void throw_error(const std::string& text, const ChildTask& task) {
  Json parts;
  if (text.size() <= 2 * most_message_bytes) try {
      parts = parse_json(text);
    } catch (const Error&) {
    }
  const bool three = parts.is_array() && parts.size() == 3 &&
                     std::ranges::all_of(parts, [](const Json& part) { return part.is_string(); });
  const std::string code = three ? parts[0].get<std::string>() : "";
  const bool plain = !code.empty() && code.size() <= 64 &&
                     std::ranges::all_of(code, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  if (!plain) throw Error(task.failure, task.label, task.label + ": gave no valid answer");
  throw Error(code, parts[1].get<std::string>(), parts[2].get<std::string>());
}

}  // namespace

std::string evaluate_apart(const ApartModel& model, const Evaluation& evaluation, const Json& request,
                           const EvaluationTurn& turn) {
  ChildTask task{model.program, model.member.file, request_text(model, evaluation, request), model.member.name};
  if (evaluation.name == "facts") task.failure = "import_failed";
  task.limits = evaluation.limits;
  task.show = turn.show;
  task.stop = turn.stop;
  auto [kind, text] = answer_of_child(task);
  if (kind == Saying::answer) return std::move(text);
  if (kind == Saying::error) throw_error(text, task);
  const std::string why = kind == Saying::no_memory ? fmt::format("took more memory than the limit of {} MiB",
                                                                  task.limits.memory_bytes >> 20)
                                                    : "met a bug of ours: " + text.substr(0, most_message_bytes);
  throw Error(task.failure, task.label, task.label + ": " + why);
}

namespace {

/// Everything or nothing: one after the other where several threads say something.
void say(Saying kind, std::string_view bytes) {
  static std::mutex saying;
  const std::lock_guard lock(saying);
  const std::string text = said_text(kind, bytes);
  for (std::string_view left = text; !left.empty();) {
    const ssize_t written = ::write(1, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);
    left.remove_prefix(as_size(written));
  }
}

struct Asked {
  const Evaluation* evaluation = nullptr;
  Json request;
  Member member;
  OwnOperatorList operators;
  ChildLimits limits;
};

Asked read_request(std::span<const Evaluation> known, std::string_view text) {
  Json said = Json::parse(text);
  Asked asked;
  const auto found = std::ranges::find(known, said.at("evaluation").get<std::string>(), &Evaluation::name);
  check(found != known.end(), "an evaluation of this version");
  asked.evaluation = &*found;
  asked.request = std::move(said.at("request"));
  asked.member.name = said.at("name").get<std::string>();
  asked.member.role = role_named(said.at("role").get<std::string>(), "role");
  asked.member.dims = said.at("dims").get<Dims>();
  asked.member.given = said.at("given").get<Given>();
  if (const auto own = said.at("operators").get<std::string>(); !own.empty())
    asked.operators = own_operators({Json{{"operators", Json::parse(own)}}}, {"operators"});
  asked.limits.memory_bytes = said.at("memory_bytes").get<std::int64_t>();
  asked.limits.cpu_s = said.at("cpu_s").get<std::int64_t>();
  asked.limits.threads = said.at("threads").get<std::int64_t>();
  return asked;
}

/// The file in descriptor 3, which is then closed.
std::shared_ptr<const MappedFile> given_file() {
  const int copy = ::dup(child_file);
  ::close(child_file);
  return std::make_shared<const MappedFile>(copy, "the model");
}

std::string standard_input() {
  std::string text;
  char piece[1 << 16];
  for (ssize_t size = 0; (size = ::read(0, piece, sizeof piece)) > 0 && text.size() < most_request_bytes;)
    text.append(piece, as_size(size));
  return text;
}

}  // namespace

int run_evaluation(std::span<const Evaluation> known) {
  try {
    Asked asked = read_request(known, standard_input());
    asked.member.bytes = given_file();
    confine(asked.limits, std::ssize(asked.member.bytes->bytes()));
    const Catalog catalog(GivenModel{asked.member, asked.operators});
    const EvaluationTurn turn{[](std::string_view bytes) { say(Saying::shown, bytes); }, {}};
    say(Saying::answer, asked.evaluation->run(catalog, asked.request, turn));
  } catch (const Error& error) {
    say(Saying::error, plain_json({error.code, error.where, error.what()}));
  } catch (const std::bad_alloc&) {
    say(Saying::no_memory, "");
  } catch (const std::exception& bug) {
    say(Saying::bug, bug.what());
  }
  ::_exit(0);  // nothing is left to tidy up, and nothing may be asked of the system
}

}  // namespace sdip
