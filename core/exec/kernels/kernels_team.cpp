// Threads that wait for tasks.
#include "core/exec/kernels/kernels_team.h"

#include <utility>

namespace sdip::exec {

Team::Team(std::int64_t threads, Stop stop) : stop_(std::move(stop)) {
  for (std::int64_t i = 1; i < threads; ++i)
    members_.emplace_back([this] {
      for (std::uint32_t seen = 0;;) {
        round_.wait(seen);
        seen = round_.load();
        if (ends_.load()) return;
        take_tasks(nullptr);
        if (busy_.fetch_sub(1) == 1) busy_.notify_one();
      }
    });
}

Team::~Team() {
  ends_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& member : members_) member.join();
}

void Team::take_tasks(const Stop* stop) {
  for (std::int64_t i = next_++; i < count_; i = next_++) {
    try {
      end_if(stop, "");
      (*task_)(i);
    } catch (...) {
      const std::scoped_lock lock(thrown_mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      next_ = count_;
    }
  }
}

void Team::run(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  task_ = &task;
  count_ = count;
  next_ = 0;
  busy_ = static_cast<std::uint32_t>(members_.size());
  ++round_;
  round_.notify_all();
  take_tasks(&stop_);
  for (std::uint32_t busy = busy_.load(); busy != 0; busy = busy_.load()) busy_.wait(busy);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

}  // namespace sdip::exec
