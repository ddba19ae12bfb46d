#include "cm/rsocket/service.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "base/no_signals.h"
#include "cm/rsocket/bell.h"
#include "cm/rsocket/stream.h"
#include "cm/rsocket/waiting.h"

namespace anyrdma::rsocket {
namespace {

bool same(const std::weak_ptr<Stream>& one, const std::shared_ptr<Stream>& other) {
  return !one.owner_before(other) && !other.owner_before(one);
}

}  // namespace

Service::Service() : process_(::getpid()) {}

// Never destroyed: its thread uses it after main(), too. A child of fork() has no such thread, and
// its copy of the mutex may be locked.
Service& Service::own() {
  static std::atomic<Service*> current{nullptr};
  Service* service = current.load();
  while (service == nullptr || service->process_ != ::getpid()) {
    auto* const made = new Service;
    if (current.compare_exchange_strong(service, made)) return *made;
    delete made;
  }
  return *service;
}

void Service::care_for(const std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(mutex_);
  const bool known = std::any_of(streams_.begin(), streams_.end(),
                                 [&](const auto& each) { return same(each, stream); });
  if (!known) streams_.push_back(stream);
  changed_ = true;
  if (bell_ != nullptr) bell_->ring();
  if (started_) return;
  const NoSignals inherited;
  try {
    std::thread([this] { run(); }).detach();
    started_ = true;
  } catch (const std::system_error&) {  // no thread can be had
    streams_.clear();
  }
}

std::vector<std::shared_ptr<Stream>> Service::streams() {
  const std::lock_guard lock(mutex_);
  changed_ = false;
  std::vector<std::shared_ptr<Stream>> all;
  std::erase_if(streams_, [&](const auto& each) {
    all.push_back(each.lock());
    if (all.back() != nullptr) return false;
    all.pop_back();
    return true;
  });
  return all;
}

// A stream that was added again in the meantime stays: what it wants has changed since the look.
void Service::leave(const std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(mutex_);
  if (!changed_) std::erase_if(streams_, [&](const auto& each) { return same(each, stream); });
}

void Service::run() {
  Bell& bell = Bell::own();
  {
    const std::lock_guard lock(mutex_);
    bell_ = &bell;
  }
  for (;;) look_and_sleep(bell);
}

// Looks once more after the bell is registered, so no change is missed. A stream that is not
// watched may be destroyed while the thread sleeps.
void Service::look_and_sleep(Bell& bell) {
  bell.hush();
  std::vector<std::shared_ptr<Stream>> watched;
  std::vector<pollfd> all{{.fd = bell.fd(), .events = POLLIN, .revents = 0}};
  Deadline next;
  for (const auto& stream : streams()) {
    Care care = stream->serve();
    if (care.watched) {
      stream->arm(bell);
      watched.push_back(stream);
      care = stream->serve();
      if (care.watched) stream->add_descriptors(all);
    }
    if (!care.any()) leave(stream);
    if (care.next && (!next || *care.next < *next)) next = care.next;
  }
  (void)::poll(all.data(), all.size(), milliseconds_until(next));
  for (const auto& stream : watched) stream->disarm(bell);
}

}  // namespace anyrdma::rsocket
