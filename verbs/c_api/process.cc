#include "verbs/c_api/process.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "transport/open/real.h"

namespace anyrdma::c_api {
namespace {

using transport::Opened;
using transport::OpenOptions;

/// What programs run on that name nothing else: the same on every machine. "auto" would be another
/// choice, but two processes may differ in what they find, and then they would never meet.
constexpr const char* kDefaultTransport = "fabric";

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

const char* environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

/// What commas separate.
std::vector<std::string> list_of(const char* text) {
  std::vector<std::string> list;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) list.push_back(item);
  return list;
}

void say_why(const std::string& sentence) {
  static std::once_flag said;
  std::call_once(
      said, [&] { std::fprintf(stderr, "anyrdma: no RDMA device here. %s\n", sentence.c_str()); });
}

// At exit() other threads may still be inside: the transport is left, its memory stays.
void leave() {
  if (Opened* opened = usable(); opened != nullptr) opened->retire();
}

Opened* open() {
  OpenOptions options;
  options.fabric.name = environment("ANYRDMA_FABRIC", options.fabric.name.c_str());
  options.udp.addresses = list_of(environment("ANYRDMA_UDP_ADDRESS", ""));
  auto result = transport::open_real(environment("ANYRDMA_TRANSPORT", kDefaultTransport), options);
  if (!result) {
    say_why(result.error().sentence);
    return nullptr;
  }
  static const int registered = std::atexit(leave);
  (void)registered;
  Opened* opened = result->release();
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
