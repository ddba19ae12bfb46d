// What a "process" of the C API is in the simulator: the host on whose fiber the call is made, and
// of that the fibers that Host::spawn_process has put together.
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/host.h"
#include "sim/process.h"
#include "sim/schedule/fiber.h"
#include "verbs/c_api/process.h"

namespace anyrdma::c_api {
namespace {

using Kind = Inventory::Kind;

std::string counted(std::size_t count, const char* one, const char* many) {
  return count == 0 ? std::string() : std::to_string(count) + " " + (count == 1 ? one : many);
}

/// What a process of fibers has not given back, in the order in which it got it.
class Belongings final : public sim::Process::Belongings {
 public:
  explicit Belongings(sim::Host& host) : host_(host) {}
  ~Belongings() override;
  [[nodiscard]] std::string left() const override;

 private:
  friend class FiberInventory;
  struct Thing {
    Kind kind;
    void* object;
  };
  template <class Object>
  [[nodiscard]] std::vector<Object*> all(Kind kind) const {
    std::vector<Object*> objects;
    for (const Thing& each : things_) {
      if (each.kind == kind) objects.push_back(static_cast<Object*>(each.object));
    }
    return objects;
  }

  sim::Host& host_;
  std::vector<Thing> things_;
};

/// Whose what is; empty while no process of fibers has anything.
class FiberInventory final : public Inventory {
 public:
  void on_made(Kind kind, void* object) override {
    const sim::Fiber* const fiber = sim::Fibers::running();
    if (fiber == nullptr || fiber->process() == nullptr) return;
    auto& slot = fiber->process()->belongings();
    if (slot == nullptr) slot = std::make_unique<Belongings>(*fiber->host());
    auto& own = static_cast<Belongings&>(*slot);
    own.things_.push_back({kind, object});
    const std::lock_guard lock(mutex_);
    owners_.insert_or_assign(object, &own);
  }
  void on_gone(void* object) override {
    Belongings* owner = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto found = owners_.find(object);
      if (found == owners_.end()) return;
      owner = found->second;
      owners_.erase(found);
    }
    std::erase_if(owner->things_, [object](const auto& each) { return each.object == object; });
  }
  /// Its objects no longer have an owner.
  void forget(const Belongings& owner) {
    const std::lock_guard lock(mutex_);
    for (const auto& each : owner.things_) owners_.erase(each.object);
  }

 private:
  std::mutex mutex_;  // worlds of several threads
  std::map<void*, Belongings*> owners_;
};

FiberInventory& fiber_inventory() {
  static auto* const all = new FiberInventory;  // never destroyed, as what writes into it
  return *all;
}
[[maybe_unused]] const bool kInstalled = (inventory = &fiber_inventory(), true);

std::string Belongings::left() const {
  std::string text;
  for (const std::string& part :
       {counted(all<void>(Kind::kId).size(), "id", "ids"),
        counted(all<void>(Kind::kChannel).size(), "event channel", "event channels"),
        counted(all<void>(Kind::kContext).size(), "open device", "open devices")}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

// As the kernel when the last descriptor of a process goes: channels end their ids with what the CM
// says then, in the order in which they were opened. Who still waits on one waits on.
Belongings::~Belongings() {
  fiber_inventory().forget(*this);
  std::vector<cm::Id*> ids;
  for (rdma_cm_id* id : all<rdma_cm_id>(Kind::kId)) ids.push_back(&cm::Id::from(id));
  cm::Id::forgive_all(ids);
  std::vector<std::shared_ptr<cm::EventChannel>> channels;
  for (rdma_event_channel* channel : all<rdma_event_channel>(Kind::kChannel)) {
    channels.emplace_back(&cm::EventChannel::from(channel));
    channels.back()->close();
  }
  for (cm::Id* id : ids) (void)cm::Id::destroy(std::unique_ptr<cm::Id>(id)).has_value();
  for (auto& channel : channels) host_.keep(std::move(channel));
  for (ibv_context* context : all<ibv_context>(Kind::kContext)) {
    (void)::ibv_close_device(context);
  }
}

}  // namespace

// Outside of all programs there is no host and so no device; in a thread of one's own neither.
verbs::Result<transport::Transport*> process_transport() {
  sim::Host* const host = sim::Host::current();
  if (host == nullptr) {
    static std::once_flag said;
    std::call_once(said, [] {
      std::fputs(
          "anyrdma: a call failed with ENODEV. The call came from outside of all programs of "
          "simulated hosts, or from a thread that one of them has started. Make it in a fiber: "
          "Host::spawn, Host::spawn_process.\n",
          stderr);
    });
    return verbs::errno_code(ENODEV);
  }
  return &host->transport();
}

// A channel can only be destroyed on the host it was made on, or when its world has stopped; then
// nobody can be inside.
void bury(std::shared_ptr<void> object) {
  sim::Host* const host = sim::Host::current();
  if (host != nullptr) host->keep(std::move(object));
}

}  // namespace anyrdma::c_api
