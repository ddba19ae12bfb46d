#include "sim/schedule/fiber.h"

#include <algorithm>
#include <boost/context/preallocated.hpp>
#include <cerrno>
#include <exception>
#include <iterator>
#include <utility>

#include "verbs/assert.h"
#include "verbs/killed.h"

namespace anyrdma::sim {
namespace {

using verbs::Killed;

/// A body that goes on waiting although every wait is refused will never end.
constexpr unsigned kRefusalsMax = 1000;
/// Unwinds a program; Fibers::enter catches it.
struct WorldEnded {};

thread_local Fiber* running_fiber = nullptr;

/// Stacks go back to the pool when the fiber has been retired, not when its context dies.
struct KeepStack {
  static boost::context::stack_context allocate() { return {}; }
  static void deallocate(const boost::context::stack_context&) noexcept {}
};

}  // namespace

Fibers::~Fibers() {
  CM_ASSERT(fibers_.empty());
  for (boost::context::stack_context& stack : free_stacks_) stacks_.deallocate(stack);
}

boost::context::stack_context Fibers::take_stack() {
  if (free_stacks_.empty()) return stacks_.allocate();
  const boost::context::stack_context stack = free_stacks_.back();
  free_stacks_.pop_back();
  return stack;
}

Fiber* Fibers::running() {
  return running_fiber;
}

Fiber& Fibers::spawn(std::string name, Ending ending, std::function<void()> body, Host* host,
                     std::shared_ptr<Process> process) {
  fibers_.emplace_back(new Fiber(std::move(name), ending, std::move(body), host));
  Fiber& fiber = *fibers_.back();
  fiber.number_ = ++spawned_;
  fiber.process_ = std::move(process);
  fiber.stack_ = take_stack();
  fiber.sanitizer_.create(fiber.stack_.sp, fiber.stack_.size);
  const boost::context::preallocated place(fiber.stack_.sp, fiber.stack_.size, fiber.stack_);
  fiber.context_ = boost::context::fiber(
      std::allocator_arg, place, KeepStack{},
      [this, &fiber](boost::context::fiber&& caller) { return enter(fiber, std::move(caller)); });
  ready_.push_back(fiber);
  return fiber;
}

boost::context::fiber Fibers::enter(Fiber& fiber, boost::context::fiber&& caller) {
  fiber.caller_ = std::move(caller);
  fiber.started_ = true;
  fiber.sanitizer_.arrived(sanitizer_thread_);
  try {
    fiber.body_();
  } catch (const boost::context::detail::forced_unwind&) {
    throw;
  } catch (const Killed&) {  // it was, and nothing more of it is wanted
  } catch (...) {
    thrown_ = std::current_exception();
  }
  fiber.killed_ = false;  // what its kernel does for it now is as ever
  fiber.body_ = nullptr;
  std::exchange(fiber.process_, nullptr).reset();
  fiber.sanitizer_.leaving(sanitizer_thread_, true);
  return std::move(fiber.caller_);
}

bool Fibers::park(FiberList& waiters, const char* purpose, verbs::Instant now,
                  const std::function<std::string()>* details) {
  CM_ASSERT(current_ != nullptr);
  Fiber& fiber = *current_;
  if (closed_) {
    // Who polls on hears no refusal: it is unwound.
    if (++fiber.refusals_ >= kRefusalsMax && std::uncaught_exceptions() == 0) throw WorldEnded();
    return false;
  }
  if (fiber.killed_) {
    if (std::uncaught_exceptions() == 0) throw Killed();
    return false;  // a destructor on the way out
  }
  fiber.parked_ = true;
  fiber.purpose_ = purpose;
  fiber.since_ = now;
  fiber.details_ = details;
  waiters.push_back(fiber);
  switch_back(fiber);
  if (fiber.killed_ && !closed_) throw Killed();
  if (wait_observer_ != nullptr && !closed_) wait_observer_->on_waited(fiber);
  return !std::exchange(fiber.cancelled_, false);
}

void Fibers::give_way(Place place) {
  CM_ASSERT(current_ != nullptr);
  if (closed_) return;
  Fiber& fiber = *current_;
  if (fiber.killed_) return;
  if (place == Place::kFirst) {
    ready_.push_front(fiber);
  } else {
    ready_.push_back(fiber);
  }
  switch_back(fiber);
}

void Fibers::switch_back(Fiber& fiber) {
  fiber.sanitizer_.leaving(sanitizer_thread_, false);
  fiber.caller_ = std::move(fiber.caller_).resume();
  fiber.sanitizer_.arrived(sanitizer_thread_);
}

void Fibers::wake(Fiber& fiber) {
  CM_ASSERT(fiber.parked_);
  fiber.parked_ = false;
  if (fiber.is_linked()) fiber.unlink();
  if (!fiber.held_ && !fiber.stopped_) ready_.push_back(fiber);
}

void Fibers::ready_again(Fiber& fiber) {
  if (fiber.held_ || fiber.stopped_ || fiber.parked_) return;
  if (!fiber.is_linked() && &fiber != current_) ready_.push_back(fiber);
}

bool Fibers::stop(Fiber& fiber) {
  CM_ASSERT(&fiber != current_);
  if (std::exchange(fiber.stopped_, true)) return false;
  if (!fiber.parked_ && fiber.is_linked()) fiber.unlink();
  return true;
}

bool Fibers::go_on(Fiber& fiber) {
  if (!std::exchange(fiber.stopped_, false)) return false;
  if (!fiber.abandoned_) ready_again(fiber);
  return true;
}

void Fibers::hold(const Host& host) {
  for (const auto& fiber : fibers_) {
    if (fiber->host_ != &host) continue;
    CM_ASSERT(fiber.get() != current_);
    fiber->held_ = true;
    if (!fiber->parked_ && fiber->is_linked()) fiber->unlink();
  }
}

void Fibers::release(const Host& host) {
  for (const auto& fiber : fibers_) {
    if (fiber->host_ != &host || fiber->abandoned_) continue;
    fiber->held_ = false;
    ready_again(*fiber);
  }
}

void Fibers::abandon(const Host& host) {
  hold(host);
  for (const auto& fiber : fibers_) {
    if (fiber->host_ != &host) continue;
    fiber->abandoned_ = true;
    if (fiber->is_linked()) fiber->unlink();
    if (!fiber->started_) fiber->body_ = [] {};
  }
}

bool Fibers::kill(const Process& process) {
  bool any = false;
  for (const auto& fiber : fibers_) {
    if (fiber->process_.get() != &process || fiber->abandoned_ || fiber->killed_) continue;
    CM_ASSERT(fiber.get() != current_);
    any = true;
    fiber->killed_ = true;
    if (!fiber->started_) fiber->body_ = [] {};
    (void)go_on(*fiber);  // SIGKILL ends who is stopped, too
    if (fiber->parked_) wake(*fiber);
  }
  return any;
}

void Fibers::cancel(Fiber& fiber) {
  fiber.cancelled_ = true;
  wake(fiber);
}

std::optional<verbs::Instant> Fibers::longest_ready(verbs::Instant now) {
  std::optional<verbs::Instant> longest;
  for (Fiber& fiber : ready_) {
    if (!fiber.ready_since_) fiber.ready_since_ = now;
    longest = std::min(longest.value_or(now), *fiber.ready_since_);
  }
  return longest;
}

bool Fibers::run_one() {
  if (ready_.empty()) return false;
  run(ready_.front());
  return true;
}

void Fibers::run_nth(std::size_t n) {
  run(*std::next(ready_.begin(), static_cast<std::ptrdiff_t>(n)));
}

void Fibers::run(Fiber& fiber) {
  fiber.ready_since_.reset();
  fiber.unlink();
  switch_to(fiber);
  if (!fiber.context_) retire(fiber);
  if (thrown_ && !closed_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Fibers::switch_to(Fiber& fiber) {
  CM_ASSERT(current_ == nullptr);
  current_ = &fiber;
  Fiber* const outer = std::exchange(running_fiber, &fiber);  // a fiber may run another world
  const int outer_errno = std::exchange(errno, fiber.errno_value_);
  fiber.sanitizer_.before_resume(sanitizer_thread_);
  fiber.context_ = std::move(fiber.context_).resume();
  fiber.sanitizer_.after_resume(sanitizer_thread_);
  fiber.errno_value_ = std::exchange(errno, outer_errno);
  running_fiber = outer;
  current_ = nullptr;
}

void Fibers::retire(Fiber& fiber) {
  fiber.sanitizer_.destroy();
  free_stacks_.push_back(fiber.stack_);
  std::erase_if(fibers_, [&](const auto& owned) { return owned.get() == &fiber; });
}

void Fibers::close() {
  closed_ = true;
  for (const auto& fiber : fibers_) {
    const bool was_held = std::exchange(fiber->held_, false) || fiber->stopped_;
    fiber->stopped_ = false;
    if (fiber->parked_) {
      cancel(*fiber);
    } else if (was_held) {
      ready_.push_back(*fiber);
    }
  }
  while (run_one()) continue;
  thrown_ = nullptr;
}

}  // namespace anyrdma::sim
