#include "transport/open/simulated.h"

#include <cerrno>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "sim/world.h"

namespace anyrdma::transport {
namespace {

constexpr std::uint64_t kDefaultSeed = 1;
constexpr std::size_t kMostHosts = 0xfffffe;

/// The world of all that is opened, with the thread it belongs to.
struct Shared {
  explicit Shared(std::uint64_t seed) : world(seed, options()) {}
  /// Nobody can ask for the trace's text, so it is not kept.
  static sim::WorldOptions options() {
    sim::WorldOptions result;
    result.tracing = sim::Tracing::kOff;
    return result;
  }

  sim::World world;
  std::size_t hosts = 0;
  std::thread::id owner = std::this_thread::get_id();
};

/// All hosts share a network, so that they reach each other.
std::string address_of(std::size_t host) {
  const auto byte = [host](unsigned shift) { return std::to_string(host >> shift & 0xff); };
  return "10." + byte(16) + '.' + byte(8) + '.' + byte(0) + "/8";
}

class OpenedHost final : public Opened {
 public:
  explicit OpenedHost(std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)), host_(add_host(*shared_)) {}
  Transport& transport() override { return host_.transport(); }
  const char* name() const override { return "sim"; }
  /// A child has a copy of the whole world.
  bool forked() const override { return false; }
  /// The world is all in this process: it ends with it.
  void retire() override {}

 private:
  static sim::Host& add_host(Shared& shared) {
    const std::size_t number = ++shared.hosts;
    const std::string address = address_of(number);
    return shared.world.add_host("host" + std::to_string(number), {address});
  }

  std::shared_ptr<Shared> shared_;
  sim::Host& host_;
};

OpenError refusal(int number, std::string sentence) {
  return {verbs::errno_code(number), std::move(sentence)};
}

}  // namespace

OpenResult open_simulated(const OpenOptions& options) {
  static std::mutex mutex;
  static std::weak_ptr<Shared> current;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Shared> shared = current.lock();
  if (!shared) {
    shared = std::make_shared<Shared>(options.seed.value_or(kDefaultSeed));
    current = shared;
  }
  if (shared->owner != std::this_thread::get_id()) {
    return refusal(EBUSY,
                   "The simulated world of this process belongs to the thread that opened its "
                   "first host: open and use all hosts there.");
  }
  if (options.seed && *options.seed != shared->world.seed()) {
    return refusal(EINVAL, "The simulated world of this process has the seed " +
                               std::to_string(shared->world.seed()) +
                               ": open every host with that one, or close all of them first.");
  }
  if (shared->hosts == kMostHosts) {
    return refusal(
        EAGAIN,
        "The simulated network has no address left: close all hosts, then open them again.");
  }
  return std::unique_ptr<Opened>(std::make_unique<OpenedHost>(std::move(shared)));
}

}  // namespace anyrdma::transport
