// Requests to a child and its answers. Both are fields in order (core/base/bytes.h); docs/formats.md has them.
#include "server/read_model.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/graph/serial.h"
#include "core/graph/serial_form.h"
#include "server/json_in.h"
#include "server/survey_bytes.h"

namespace sdip {
namespace {

constexpr std::size_t most_request_bytes = 64 << 20;
constexpr std::size_t most_message_bytes = 1 << 20;
constexpr std::string_view request_magic = "SDIPread\x01";

enum Asked : std::uint8_t { asked_model, asked_survey };

/// Every option of an import, and the limits: an option that is added and not written here does not compile.
std::string request_of(Asked asked, const ImportOptions& options, const ChildLimits& limits) {
  const auto& [label, dims, values, given, own, most_nodes, most_tensors, most_name_bytes, most_nesting, most_rank,
               most_messages, most_names, most_attributes, most_attribute_bytes, most_structure_bytes,
               most_folded_elements_in_all, most_inlined_name_bytes] = options;
  ByteWriter out;
  out.raw(request_magic);
  out.byte(asked);
  out.number(limits.memory_bytes);
  out.number(limits.cpu_s);
  out.text(label);
  out.size(dims.size());
  for (const auto& [name, size] : dims) {
    out.text(name);
    out.number(size);
  }
  out.size(values.size());
  for (const auto& [name, tensor] : values) {
    out.text(name);
    write_tensor(out, tensor);
  }
  out.size(given.size());
  for (const auto& [name, text] : given) {
    out.text(name);
    out.text(text);
  }
  out.text(own ? own->json : "");
  for (const std::int64_t most : {most_nodes, most_tensors, most_name_bytes, most_nesting, most_rank, most_messages,
                                  most_names, most_attributes, most_attribute_bytes, most_structure_bytes,
                                  most_folded_elements_in_all, most_inlined_name_bytes})
    out.number(most);
  return out.take();
}

std::shared_ptr<const OwnOperators> own_of(const std::string& json) {
  if (json.empty()) return nullptr;
  return own_operators({Json{{"operators", Json::parse(json)}}}, {"operators"});
}

Asked read_request(ByteReader& in, ImportOptions& options, ChildLimits& limits) {
  const auto magic = in.raw(request_magic.size());
  check(std::string_view(reinterpret_cast<const char*>(magic.data()), magic.size()) == request_magic,
        "a request of this version");
  const bool survey = in.flag();
  limits.memory_bytes = in.number();
  limits.cpu_s = in.number();
  options.label = in.text(most_message_bytes);
  for (std::size_t left = in.size(most_request_bytes); left > 0; --left) {
    std::string name = in.text(most_message_bytes);
    options.dims.emplace(std::move(name), in.number());
  }
  for (std::size_t left = in.size(most_request_bytes); left > 0; --left) {
    std::string name = in.text(most_message_bytes);
    options.values.emplace(std::move(name), read_tensor(in, most_folded_elements));
  }
  for (std::size_t left = in.size(most_request_bytes); left > 0; --left) {
    std::string name = in.text(most_message_bytes);
    options.given.emplace(std::move(name), in.text(most_message_bytes));
  }
  options.own_operators = own_of(in.text(most_request_bytes));
  for (std::int64_t* most : {&options.most_nodes, &options.most_tensors, &options.most_name_bytes,
                             &options.most_nesting, &options.most_rank, &options.most_messages, &options.most_names,
                             &options.most_attributes, &options.most_attribute_bytes, &options.most_structure_bytes,
                             &options.most_folded_elements_in_all, &options.most_inlined_name_bytes})
    *most = in.number();
  return survey ? asked_survey : asked_model;
}

enum Answer : std::uint8_t { answer_model, answer_error, answer_no_memory, answer_bug, answer_survey };

std::string error_answer(const Error& error) {
  ByteWriter out;
  out.byte(answer_error);
  out.text(error.code);
  out.text(error.where);
  out.text(error.what());
  return out.take();
}

std::string model_answer(const ReadModel& model) {
  ByteWriter out;
  out.byte(answer_model);
  out.size(model.rewrites.size());
  for (const auto& [pattern, count] : model.rewrites) {
    out.text(pattern);
    out.number(count);
  }
  out.text(to_bytes(model.as_written));
  out.text(to_bytes(model.rewritten));
  return out.take();
}

std::string survey_answer(const ModelSurvey& survey) {
  ByteWriter out;
  out.byte(answer_survey);
  write_survey(out, survey);
  return out.take();
}

std::string answer_to(Asked asked, std::span<const std::byte> bytes, const ImportOptions& options,
                      SurveyFunction survey) {
  try {
    if (asked == asked_model) return model_answer(read_model_here(bytes, options));
    check(survey != nullptr, "this program makes no surveys");
    return survey_answer(survey(bytes, options));
  } catch (const Error& error) {
    return error_answer(error);
  } catch (const std::bad_alloc&) {
    return {static_cast<char>(answer_no_memory)};
  } catch (const std::exception& bug) {
    ByteWriter out;
    out.byte(answer_bug);
    out.text(bug.what());
    return out.take();
  }
}

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(1, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// What a child answered, when it is not what was asked for: an Error.
[[noreturn]] void throw_answer(std::uint8_t answer, ByteReader& in, const std::string& label,
                               const ChildLimits& limits) {
  const auto failed = [&](const std::string& why) {
    return Error("import_failed", label, label + ": reading this model " + why);
  };
  if (answer == answer_no_memory)
    throw failed("took more memory than the limit of " + std::to_string(limits.memory_bytes >> 20) + " MiB");
  if (answer == answer_bug) throw failed("met a bug of ours: " + in.text(most_message_bytes));
  if (answer != answer_error) in.refuse("no such answer");
  std::string code = in.text(64), where = in.text(most_message_bytes);
  const bool plain =
      !code.empty() && std::ranges::all_of(code, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  if (!plain) in.refuse("no code of an error");
  throw Error(std::move(code), std::move(where), in.text(most_message_bytes));
}

ReadModel read_answered_model(ByteReader& in, const ImportOptions& options) {
  ReadModel model;
  for (std::size_t left = in.size(1000, 2); left > 0; --left) {
    std::string pattern = in.text(1000);
    model.rewrites.emplace_back(std::move(pattern), in.number(0, INT64_MAX));
  }
  const auto graph = [&] { return graph_of_bytes(in.raw(in.size(SIZE_MAX)), options.own_operators); };
  model.as_written = graph();
  model.rewritten = graph();
  return model;
}

/// Asks a child, and reads what it answers with `read`.
template <class Read>
auto ask_child(const std::filesystem::path& program, const std::filesystem::path& file, Asked asked,
               const ImportOptions& options, const ChildLimits& limits, const Read& read) {
  const std::string bytes =
      answer_of_child(program, file, request_of(asked, options, limits), options.label, limits);
  try {
    ByteReader in(std::as_bytes(std::span(bytes)));
    const std::uint8_t answer = in.byte();
    if (answer != (asked == asked_model ? answer_model : answer_survey))
      throw_answer(answer, in, options.label, limits);
    auto result = read(in);
    if (in.left() != 0) in.refuse("more bytes than an answer has");
    return result;
  } catch (const Error& error) {
    if (error.code != "bytes_invalid") throw;
    throw Error("import_failed", options.label,
                options.label + ": what read this model gave no valid answer: " + error.what());
  }
}

}  // namespace

ReadModel read_model_here(std::span<const std::byte> bytes, const ImportOptions& options) {
  ReadModel model;
  model.as_written = import_onnx(bytes, options);
  model.rewritten = model.as_written;
  model.rewrites = rewrite(model.rewritten);
  return model;
}

ReadModel read_model_apart(const std::filesystem::path& program, const std::filesystem::path& file,
                           const ImportOptions& options, const ChildLimits& limits) {
  return ask_child(program, file, asked_model, options, limits,
                   [&](ByteReader& in) { return read_answered_model(in, options); });
}

ModelSurvey read_survey_apart(const std::filesystem::path& program, const std::filesystem::path& file,
                              const ImportOptions& options, const ChildLimits& limits) {
  return ask_child(program, file, asked_survey, options, limits, read_survey);
}

int run_read_model(SurveyFunction survey) {
  std::string request;
  char piece[1 << 16];
  for (ssize_t size = 0; (size = ::read(0, piece, sizeof piece)) > 0 && request.size() < most_request_bytes;)
    request.append(piece, static_cast<std::size_t>(size));
  ImportOptions options;
  ChildLimits limits;
  ByteReader in(std::as_bytes(std::span(request)));
  const Asked asked = read_request(in, options, limits);
  struct stat facts {};
  if (::fstat(child_file, &facts) != 0 || !S_ISREG(facts.st_mode)) return exit_unconfined;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  void* data = bytes == 0 ? nullptr : ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, child_file, 0);
  if (data == MAP_FAILED) return exit_unconfined;
  ::close(child_file);
  confine(limits, facts.st_size);
  const std::string answer = answer_to(asked, {static_cast<const std::byte*>(data), bytes}, options, survey);
  ::_exit(write_all(answer) ? 0 : 1);  // nothing is left to tidy up, and nothing may be asked of the system
}

}  // namespace sdip
