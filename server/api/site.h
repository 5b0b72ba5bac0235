// The whole site: the API by its route table, the dashboard by its files.
#pragma once

#include "server/http/http_server.h"
#include "server/jobs/service.h"

namespace sdip {

/// Answers for `service`, which must outlive it.
Answerer answerer_of(Service& service);

}  // namespace sdip
