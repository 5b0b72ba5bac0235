// Reading members of a workload in this process.
#include "core/base/error.h"
#include "server/models/catalog.h"

namespace sdip {

template <class Here>
auto Catalog::read_with(const Member& member, const PassSizes& sizes, const Here& here) const {
  ImportOptions options;
  options.label = member.name;
  options.dims = member.dims;
  options.given = member.given;
  if (is_built_in(member)) {
    const std::string bytes = built_model(member.name, sizes);
    return here(std::as_bytes(std::span(bytes)), options);
  }
  check(!store_, "what is uploaded is read in children alone");
  options.own_operators = operators_;
  return here(mapped(member)->bytes(), options);
}

ReadModel Catalog::read(const Member& member, const PassSizes& sizes) const {
  if (!files_ || is_built_in(member)) return read_with(member, sizes, read_model);
  try {
    ReadModel model = read_with(member, sizes, read_model);
    notes_of_file(member);
    return model;
  } catch (const Error& error) {
    if (!takes_advice(error)) throw;
    throw advised(error, survey(member, sizes), {member.dims, member.given}, asking());
  }
}

ModelSurvey Catalog::survey(const Member& member, const PassSizes& sizes) const {
  return read_with(member, sizes, survey_onnx);
}

}  // namespace sdip
