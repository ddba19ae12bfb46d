#include "verbs/c_api/process.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/system/result.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <semaphore>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/fault/part.h"
#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/fault_plan.h"
#include "transport/open/environment.h"
#include "transport/open/fault_account.h"
#include "transport/open/real.h"
#include "verbs/soft/thread_sanitizer.h"

namespace anyrdma::c_api {
namespace {

using transport::environment;
using transport::Opened;

/// The exit status of a program that did well although a planned fault did not happen, if
/// ANYRDMA_FAULTS_STRICT is set.
constexpr int kFaultMissed = 3;

/// The transport in use. Never freed: the program's threads may outlive everything we could wait
/// for.
std::atomic<Opened*> in_use{nullptr};

/// The objects buried last.
class Graveyard {
 public:
  void bury(std::shared_ptr<void> object) {
    const std::lock_guard lock(mutex_);
    std::swap(graves_[next_], object);  // the oldest one goes
    next_ = (next_ + 1) % graves_.size();
  }

 private:
  std::mutex mutex_;
  std::array<std::shared_ptr<void>, 16> graves_;
  std::size_t next_ = 0;
};

/// A process made by fork() may not use its parent's transport; it gets its own at its first call.
Opened* usable() {
  Opened* opened = in_use.load(std::memory_order_acquire);
  return opened != nullptr && !opened->forked() ? opened : nullptr;
}

void say_why(const std::string& sentence) {
  static std::once_flag said;
  std::call_once(said, [&] {
    std::fprintf(stderr, "anyrdma: no RDMA device is available. %s\n", sentence.c_str());
  });
}

// --- faults -------------------------------------------------------------------------------------

/// At once, because a program may end in ways that leave no time for a report.
void say_fired(const fault::FaultStatus& status) {
  constexpr std::uint32_t kSaidAtMost = 3;
  if (status.fired > kSaidAtMost) return;
  const std::string text = "anyrdma: fault: " + to_string(status.fault) + "\n";
  std::fputs(text.c_str(), stderr);
}

/// `anyrdma run` tells the account when all is over. Where it cannot be reached (another user, or
/// its folder of processes is not ours), each process tells its own.
transport::FaultAccount* kept_account = nullptr;  // never freed, as what writes into it

void keep_account(transport::FaultOptions& options) {
  const std::string name = environment("ANYRDMA_FAULTS_ACCOUNT");
  if (name.empty()) return;
  auto account = transport::FaultAccount::attach(name, options.plan.faults.size());
  kept_account = account ? account->release() : nullptr;
  if (kept_account == nullptr) return;
  const auto share = std::make_shared<transport::FaultAccount::Share>(*kept_account);
  options.on_counted = [share](std::size_t index, const fault::FaultStatus& status) {
    share->count(index, status);
  };
}

/// What ANYRDMA_FAULTS says goes wrong over that transport: a plan as text. `anyrdma run` sets it.
boost::system::result<transport::FaultOptions, fault::PlanError> planned_faults(
    std::string_view transport) {
  transport::FaultOptions options;
  const auto plan = fault::FaultPlan::parse(environment("ANYRDMA_FAULTS"));
  if (!plan) return plan.error();
  if (plan->faults.empty()) return options;
  const auto only = fault::only_host(*plan);
  const std::string host = environment("ANYRDMA_FAULTS_HOST", only ? *only : "");
  if (host.empty()) return only.error();
  auto part = fault::part_of(
      *plan, host, transport::fault_abilities(transport, transport::rails_of_environment()));
  if (!part) return part.error();
  options.plan = std::move(*part);
  if (options.plan.faults.empty()) return options;
  options.on_fired = say_fired;
  keep_account(options);
  options.seed = std::strtoull(environment("ANYRDMA_SEED", "1").c_str(), nullptr, 10);
  return options;
}

/// True: a required fault did not happen, and no other process reports it.
bool report_faults(Opened& opened) {
  const std::vector<fault::FaultStatus> faults = opened.faults();
  if (faults.empty() || kept_account != nullptr) return false;
  const transport::FaultReport report =
      transport::report_of(faults, environment("ANYRDMA_SEED", "1"), 1);
  std::fputs(report.text.c_str(), stderr);
  return report.missed;
}

/// Given when the first thread in exit() has left the transport.
std::binary_semaphore has_left{0};

// At exit() other threads may still be inside: the transport is left, its memory stays.
void leave(int status, void*) {
  Opened* const opened = usable();
  if (opened == nullptr) return has_left.release();
  opened->retire();
  const bool missed = report_faults(*opened);
  if (missed && status == 0 && !environment("ANYRDMA_FAULTS_STRICT").empty()) {
    std::fflush(nullptr);
    ::_exit(kFaultMissed);
  }
  has_left.release();
}

// Programs call exit() from several threads (rping does), and the second one would end the process
// while the first is still at work. It comes here instead, because it finds leave() taken. Not for
// ever: a signal's handler may have interrupted the first one.
void wait_for_leaving(int, void*) {
  (void)has_left.try_acquire_for(std::chrono::seconds(1));
}

Opened* open() {
  auto options = transport::options_of_environment();
  if (!options) {
    say_why(options.error().sentence);
    return nullptr;
  }
  const std::string name = transport::transport_of_environment();
  auto faults = planned_faults(name);
  if (!faults) {
    say_why("ANYRDMA_FAULTS has no valid plan: " + faults.error().to_string() + ".");
    return nullptr;
  }
  options->faults = std::move(*faults);
  options->record.say = [](const std::string& sentence) {
    std::fprintf(stderr, "anyrdma: %s\n", sentence.c_str());
  };
  verbs::soft::thread_sanitizer::enable();
  auto result = transport::open_real(name, *options);
  if (!result) {
    say_why(result.error().sentence);
    return nullptr;
  }
  static const int registered =  // the last one is called first
      ::on_exit(wait_for_leaving, nullptr) + ::on_exit(leave, nullptr);
  (void)registered;
  Opened* opened = result->release();
  if (kept_account != nullptr) kept_account->join();
  in_use.store(opened, std::memory_order_release);
  return opened;
}

}  // namespace

verbs::Result<transport::Transport*> process_transport() {
  static std::mutex opening;
  Opened* opened = usable();
  if (opened == nullptr) {
    const std::lock_guard lock(opening);
    opened = usable();
    if (opened == nullptr) opened = open();
  }
  if (opened == nullptr) return verbs::errno_code(ENODEV);
  return &opened->transport();
}

void bury(std::shared_ptr<void> object) {
  static auto* const graveyard = new Graveyard;  // never destroyed: threads may outlive main()
  graveyard->bury(std::move(object));
}

}  // namespace anyrdma::c_api
