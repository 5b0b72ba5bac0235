// How a queue of jobs makes way for requests, and logs a failure.
#include "server/http/job_queue.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iostream>

#include "core/base/escaped.h"

namespace sdip {

void give_way(int more) { ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 10 + more); }

void log_job(const JobKindRow& kind, std::int64_t id, const std::exception& problem) {
  std::cerr << "sdip: " << kind.name << " " << id << ": " << printable(problem.what()) << std::endl;
}

}  // namespace sdip
