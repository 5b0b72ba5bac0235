// One handler for each row of the route table. Each throws Error for input it cannot use. Internal to its room.
#pragma once

#include "server/http/http.h"
#include "server/jobs/service.h"

namespace sdip {

Reply answer_parameters(Service&, const Call&);
Reply answer_technology(Service&, const Call&);
Reply answer_metrics(Service&, const Call&);
Reply answer_fields(Service&, const Call&);
Reply answer_presets(Service&, const Call&);
Reply answer_baselines(Service&, const Call&);
Reply answer_chips(Service&, const Call&);
Reply answer_openapi(Service&, const Call&);
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

/// A number that stands in a path. Throws Error not_found at `where` for what is none.
std::int64_t path_number(const std::string& text, const std::string& where);

/// The value of a query key, or `otherwise`.
std::string query_value(const Call& call, const std::string& key, const std::string& otherwise = "");
Reply json_reply(const OrderedJson& value, int status = 200);

}  // namespace sdip
