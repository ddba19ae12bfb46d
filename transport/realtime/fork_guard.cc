#include "transport/realtime/fork_guard.h"

#include <pthread.h>

#include <vector>

namespace anyrdma::transport::realtime {
namespace {

/// Never destroyed: exit handlers may fork.
struct State {
  std::mutex mutex;
  std::vector<ForkGuarded*> all;
};

void prepare();
void parent();
void child();

State& state() {
  static State* const instance = [] {
    pthread_atfork(prepare, parent, child);
    return new State;
  }();
  return *instance;
}

void prepare() {
  state().mutex.lock();
  for (ForkGuarded* each : state().all) each->before_fork();
}

void parent() {
  for (ForkGuarded* each : state().all) each->after_fork_in_parent();
  state().mutex.unlock();
}

void child() {
  for (ForkGuarded* each : state().all) each->after_fork_in_child();
  state().mutex.unlock();
}

}  // namespace

std::unique_lock<std::mutex> hold_off_forks() {
  return std::unique_lock(state().mutex);
}

void remember(ForkGuarded& guarded) {
  state().all.push_back(&guarded);
}

void forget(ForkGuarded& guarded) {
  std::erase(state().all, &guarded);
}

}  // namespace anyrdma::transport::realtime
