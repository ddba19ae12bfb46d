// Who watches simulated worlds from outside: the checkers of tests.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/plan/question.h"
#include "transport/transport.h"
#include "verbs/soft/hca.h"

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
  /// The host's power is cut: its ids and the objects of its devices are lost without cleanup, and
  /// numbers begin again. watch() reports its devices again.
  virtual void on_crash(const Host& /*host*/) {}
  /// See transport::EventObserver.
  virtual void on_acknowledged(const Host& /*host*/, std::uint64_t /*id*/) {}
  /// The program that runs on a host has made a mistake; `text` says which, and when and where.
  virtual void on_misuse(const Host& /*host*/, const std::string& /*text*/) {}
  /// See transport::CallObserver.
  virtual void on_handshake(const Host& /*host*/, std::uint64_t /*id*/, const rdma_cm_id& /*raw*/,
                            std::string_view /*call*/,
                            const transport::ConnectionParameters& /*given*/) {}
  virtual void on_channels(const Host& /*host*/, int /*change*/) {}
  /// A CM message between two hosts, in either direction, was lost or not accepted. `peer` null: no
  /// host has its destination.
  virtual void on_message_lost(const Host& /*at*/, const Host* /*peer*/) {}
  /// Packets may be reordered or duplicated from now on.
  virtual void on_disorder() {}
  /// A process reports events of its ids: see fault::Question. `process` is unique, and no host's
  /// name; numbers of ids are its own.
  virtual void on_told(std::string_view /*process*/, const fault::Question& /*what*/) {}
  /// It has ended: its ids are gone without a call or an event.
  virtual void on_process_end(std::string_view /*process*/) {}
  /// Packets from that address come from processes, which the monitor does not observe: it must
  /// trust their reports.
  virtual void on_outside(const ibv_gid& /*gid*/) {}
  /// A device is plugged in, before any use. The returned observer sees its work; may be null.
  virtual verbs::soft::HcaObserver* watch(const Host& /*host*/, verbs::soft::Hca& /*hca*/) {
    return nullptr;
  }
  /// Nothing is left that could happen: World::run ends.
  virtual void on_rest(const World& world) = 0;
  /// The violations so far, a sentence each.
  [[nodiscard]] virtual std::vector<std::string> violations() const { return {}; }
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
