// One handler for each row of the route table. Each throws Error for input it cannot use. Internal to its room.
#pragma once

#include "server/http/http.h"
#include "server/jobs/service.h"

namespace sdip {

Reply answer_technology(Service&, const Call&);
Reply answer_version(Service&, const Call&);
Reply answer_health(Service&, const Call&);

Reply answer_operators(Service&, const Call&);
Reply answer_models(Service&, const Call&);
Reply put_model(Service&, const Call&);
Reply answer_model(Service&, const Call&);
Reply delete_model(Service&, const Call&);
Reply post_analysis(Service&, const Call&);
Reply post_memory_view(Service&, const Call&);
Reply post_explanation(Service&, const Call&);
Reply post_sensitivities(Service&, const Call&);
Reply post_screening(Service&, const Call&);
Reply post_comparison(Service&, const Call&);

Reply post_accuracy(Service&, const Call&);
Reply answer_accuracy(Service&, const Call&);
Reply delete_accuracy(Service&, const Call&);

Reply post_sweep(Service&, const Call&);
Reply answer_sweeps(Service&, const Call&);
Reply answer_sweep(Service&, const Call&);
Reply delete_sweep(Service&, const Call&);
Reply cancel_sweep(Service&, const Call&);
Reply resume_sweep(Service&, const Call&);
Reply revise_sweep(Service&, const Call&);
Reply answer_points(Service&, const Call&);
Reply answer_columns(Service&, const Call&);
Reply answer_front(Service&, const Call&);
Reply answer_hypervolume(Service&, const Call&);
Reply answer_joint_front(Service&, const Call&);
Reply answer_point(Service&, const Call&);
Reply answer_kept_points(Service&, const Call&);
Reply keep_analysis(Service&, const Call&);
Reply answer_kept_analysis(Service&, const Call&);
Reply delete_kept_analysis(Service&, const Call&);
Reply export_sweep(Service&, const Call&);
Reply answer_manifest(Service&, const Call&);

Reply answer_searched_rows(Service&, const Call&);
Reply post_search(Service&, const Call&);
Reply answer_searches(Service&, const Call&);
Reply answer_search(Service&, const Call&);
Reply delete_search(Service&, const Call&);
Reply cancel_search(Service&, const Call&);

Reply post_validation(Service&, const Call&);
Reply answer_validations(Service&, const Call&);
Reply answer_validation(Service&, const Call&);
Reply delete_validation(Service&, const Call&);
Reply cancel_validation(Service&, const Call&);
Reply answer_front_validation(Service&, const Call&);

/// The id that a path names first, and the index of a point behind it. Each throws Error not_found for what is
/// none.
std::int64_t path_id(const Call& call);
std::int64_t path_index(const Call& call);

/// The value of a query key, or `otherwise`.
std::string query_value(const Call& call, const std::string& key, const std::string& otherwise = "");
/// The formulas of a repeated query key, each made by `read` of a text and the key's name.
std::vector<Formula> query_formulas(const Call& call, const std::string& key,
                                    Formula (*read)(std::string_view text, const std::string& where));
Reply json_reply(const OrderedJson& value, int status = 200);
/// The reply, which says where under /api/v1 that stands which was made.
Reply made_at(const std::string& place, Reply reply);

}  // namespace sdip
