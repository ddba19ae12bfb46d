#include "verbs/c_api/process.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "transport/fabric/fabric.h"

namespace anyrdma::c_api {
namespace {

using transport::fabric::Fabric;
using transport::fabric::FabricConfig;

/// The fabric in use. Never freed: the program's threads may outlive everything we could wait for.
std::atomic<Fabric*> joined{nullptr};

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

/// A process made by fork() may not use its parent's fabric; it gets its own at its first call.
Fabric* usable() {
  Fabric* fabric = joined.load(std::memory_order_acquire);
  return fabric != nullptr && !fabric->forked() ? fabric : nullptr;
}

FabricConfig config_from_environment() {
  FabricConfig config;
  const char* name = std::getenv("ANYRDMA_FABRIC");
  if (name != nullptr && *name != '\0') config.name = name;
  return config;
}

void say_why(const boost::system::error_code& error, const FabricConfig& config) {
  static std::once_flag said;
  std::call_once(said, [&] {
    const std::string why = transport::fabric::explain(error, config);
    std::fprintf(stderr, "anyrdma: no RDMA device here. %s\n", why.c_str());
  });
}

// At exit() other threads may still be inside: the fabric is left, its memory stays.
void leave() {
  if (Fabric* fabric = usable(); fabric != nullptr) fabric->retire();
}

Fabric* join() {
  const FabricConfig config = config_from_environment();
  auto opened = Fabric::open(config);
  if (!opened) {
    say_why(opened.error(), config);
    return nullptr;
  }
  static const int registered = std::atexit(leave);
  (void)registered;
  Fabric* fabric = opened->release();
  joined.store(fabric, std::memory_order_release);
  return fabric;
}

}  // namespace

verbs::Result<transport::Transport*> process_transport() {
  static std::mutex opening;
  Fabric* fabric = usable();
  if (fabric == nullptr) {
    const std::lock_guard lock(opening);
    fabric = usable();
    if (fabric == nullptr) fabric = join();
  }
  if (fabric == nullptr) return verbs::errno_code(ENODEV);
  return &fabric->transport();
}

void bury(std::shared_ptr<void> object) {
  static auto* const graveyard = new Graveyard;  // never destroyed: threads may outlive main()
  graveyard->bury(std::move(object));
}

}  // namespace anyrdma::c_api
