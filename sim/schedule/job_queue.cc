#include "sim/schedule/job_queue.h"

#include <utility>

namespace anyrdma::sim {

void JobQueue::push(std::unique_ptr<verbs::Job> job) {
  jobs_.push_back(std::move(job));
  if (!armed()) scheduler_.at(*this, scheduler_.now());
}

void JobQueue::run() {
  const std::unique_ptr<verbs::Job> job = std::move(jobs_.front());
  jobs_.pop_front();
  if (!jobs_.empty()) scheduler_.at(*this, scheduler_.now());
  job->run();
}

void JobQueue::clear() {
  while (!jobs_.empty()) {
    const std::unique_ptr<verbs::Job> job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  scheduler_.cancel(*this);
}

}  // namespace anyrdma::sim
