// Who watches simulated worlds from outside: the checkers of tests.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "transport/transport.h"

namespace anyrdma::sim {

class Host;
class World;

/// One per world. Must not call back, but may ask. Ids go by host and number, as in the trace.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void on_event(const Host& host, transport::EventObserver::Step step, std::uint64_t id,
                        std::uint64_t listener, const rdma_cm_event& event) = 0;
  /// See transport::CallObserver.
  virtual void on_call(const Host& host, std::uint64_t id, std::string_view call, int error) = 0;
  /// The host's power is cut: its ids are gone without a word, and numbers begin again.
  virtual void on_crash(const Host& /*host*/) {}
  /// Nothing is left that could happen: World::run ends.
  virtual void on_rest(const World& world) = 0;
  /// The world is about to end; its programs have ended, all else is still there.
  virtual void on_end(World& world) = 0;

  /// Every world made from now on, in any thread, gets a monitor of its own; null: none, as without
  /// this call. Costs nothing then.
  using Factory = std::unique_ptr<Monitor> (*)();
  static void install(Factory factory);
  /// Null unless installed.
  [[nodiscard]] static std::unique_ptr<Monitor> make();
};

}  // namespace anyrdma::sim
