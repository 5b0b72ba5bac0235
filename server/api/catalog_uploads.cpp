// The uploaded models of a catalog: read and evaluated in children alone.
#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "server/http/http.h"
#include "server/io/text.h"
#include "server/models/apart.h"
#include "server/models/catalog.h"
#include "server/models/model_facts.h"

namespace sdip {
namespace {

void check_upload_name(const std::string& name) {
  const bool fits = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
  if (!fits) throw Error("value_invalid", "name", "expected 1 to 64 letters, digits, dots, dashes and underscores");
  if (is_built_in(name)) throw Error("conflict", name, "a built-in model has this name; choose another");
}

Error nonsense(const Member& member, const std::string& why) {
  return {"import_failed", member.name, member.name + ": what read this model gave no valid answer: " + why};
}

OrderedJson read_answer(const std::string& text, const Member& member) try {
  return bounded_json(text);
} catch (const Error& error) {
  throw nonsense(member, error.what());
}

/// Checks what a child says of a member, as the rest of the program relies on some of it.
void check_facts(const std::string& text, const Member& member) {
  try {
    const OrderedJson facts = read_answer(text, member);
    const OrderedJson& stages = facts.at("stages");
    const bool fits = facts.at("parameters").is_number_integer() && facts.contains("ir_version") &&
                      facts.at("dims").get<Dims>() == member.dims &&
                      facts.at("given").get<Given>() == member.given &&
                      facts.at("assumed").get<std::vector<std::string>>().size() < 10000 && stages.size() == 1 &&
                      stages.at(0).at("role") == role_text(member.role) && facts.at("name") == member.name;
    if (!fits) throw nonsense(member, "facts of something else");
  } catch (const OrderedJson::exception& problem) {
    throw nonsense(member, problem.what());
  }
}

/// Facts, or with "error" why there are none. Runs in a child.
std::string evaluate_facts(const Catalog& catalog, const Json& request, const EvaluationTurn&) {
  const auto name = request.at("model").get<std::string>();
  const std::vector<Member> members = catalog.members(name, "name");
  try {
    return "+" + json_text(model_facts(catalog, name, members));
  } catch (const Error& error) {
    if (status_of(error.code) != 422) throw;
    const Asking asking = request.at("options").get<bool>() ? Asking::options : Asking::query;
    OrderedJson refused = refused_model(catalog, members.front(), error, asking);
    refused["error"] = {error.code, error.where, error.what()};
    return "-" + json_text(refused);
  }
}

}  // namespace

const Evaluation facts_evaluation{"facts", evaluate_facts, {}};

std::string Catalog::facts_apart(const Member& member, const Stop& stop, OrderedJson* refused,
                                 Asking asking) const {
  const std::string answer =
      apart(member, facts_evaluation, {{"model", member.name}, {"options", asking == Asking::options}}, {{}, stop});
  std::string text = answer.empty() ? answer : answer.substr(1);
  if (!answer.starts_with('-')) {
    check_facts(text, member);
    return text;
  }
  std::array<std::string, 3> error;
  try {
    OrderedJson said = read_answer(text, member);
    error = said.at("error").get<std::array<std::string, 3>>();
    if (refused) *refused = std::move(said);
  } catch (const OrderedJson::exception&) {
    throw nonsense(member, "neither facts nor an error");
  }
  throw Error(error[0], error[1], error[2]);
}

std::optional<Member> Catalog::uploaded(const std::string& name) const {
  if (!store_ || is_built_in(name)) return std::nullopt;
  const auto row = store_->model(name);
  return row ? std::optional(stored_member(*row)) : std::nullopt;
}

std::optional<Member> Catalog::uploaded(const Mix& mix) const {
  for (const MixPart& part : mix)
    if (auto member = uploaded(part.model)) return member;
  return std::nullopt;
}

std::string Catalog::apart(const Member& member, const Evaluation& evaluation, const Json& request,
                           const EvaluationTurn& turn, bool job) const {
  const ApartModel model{program_, member, operators_};
  if (job) return evaluate_apart(model, evaluation, request, turn);
  constexpr std::chrono::seconds patience(10);
  if (!children_.try_acquire_for(patience))
    throw Error("busy", member.name, "other models are being read and evaluated; try again later");
  struct Turn {
    std::counting_semaphore<>& turns;
    ~Turn() { turns.release(); }
  } const place{children_};
  return evaluate_apart(model, evaluation, request, turn);
}

std::string Catalog::add(const Member& member, NewFile& file, const std::string& sha256, const Stop& stop,
                         OrderedJson* refused, Asking asking) {
  check_upload_name(member.name);
  Member read = member;
  read.file = file.path();
  std::string facts = facts_apart(read, stop, refused, asking);
  const std::lock_guard lock(changing_);
  if (const auto row = store_->model(member.name)) {
    const Member stored = member_of_facts(row->facts_json);
    if (row->sha256 == sha256 && stored.dims == member.dims && stored.given == member.given &&
        stored.role == member.role)
      return facts;
    throw Error("conflict", member.name, "another model has this name; delete it first or choose another");
  }
  require_folder(data_ / "models");
  const std::string relative = "models/" + sha256 + ".onnx";
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file.path()));
  file.keep_as(data_ / relative);
  store_->add_model({member.name, sha256, relative, bytes, facts, time_text()});
  return facts;
}

void Catalog::remove(const std::string& name) {
  if (is_built_in(name)) throw Error("conflict", name, "built-in models stay");
  const std::lock_guard lock(changing_);
  const auto row = store_->model(name);
  if (!row) throw Error("not_found", name, "no uploaded model of this name");
  for (const auto& sweep : store_->sweeps())
    if (std::ranges::count(mix_of_text(sweep.model, "model"), name, &MixPart::model) > 0)
      throw Error("conflict", name, fmt::format("sweep {} is of this model; delete it first", sweep.id));
  store_->remove_model(name);
  // A dims binding apart, two names may share the bytes.
  const auto others = store_->models();
  if (std::ranges::none_of(others, [&](const auto& other) { return other.file == row->file; })) {
    std::error_code ignored;
    std::filesystem::remove(data_ / row->file, ignored);
  }
}

}  // namespace sdip
