// All checkers of one world: each has one claim (docs/checkers.md), and none may change what
// happens.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/check/afterlife.h"
#include "sim/check/agreement.h"
#include "sim/check/device_watch.h"
#include "sim/check/leaks.h"
#include "sim/check/ledger.h"
#include "sim/check/payload.h"
#include "sim/check/private_data.h"
#include "sim/check/violations.h"
#include "sim/legality/legality.h"
#include "sim/monitor.h"

namespace anyrdma::sim::check {

/// Install it as it is, or derive from it to report at the end.
class Checkers : public Monitor {
 public:
  Checkers() = default;
  Checkers(const Checkers&) = delete;
  Checkers& operator=(const Checkers&) = delete;

  /// All so far. Some only show at the end of the world: see on_end.
  [[nodiscard]] std::vector<std::string> violations() const override;

  void on_event(const Host& host, transport::EventObserver::Step step, std::uint64_t id,
                std::uint64_t listener, const rdma_cm_event& event) override;
  void on_acknowledged(const Host& host, std::uint64_t id) override;
  void on_misuse(const Host& host, const std::string& text) override;
  void on_call(const Host& host, std::uint64_t id, std::string_view call, int error) override;
  void on_handshake(const Host& host, std::uint64_t id, const rdma_cm_id& raw,
                    std::string_view call, const transport::ConnectionParameters& given) override;
  void on_channels(const Host& host, int change) override;
  void on_crash(const Host& host) override;
  void on_told(std::string_view process, const fault::Question& what) override;
  void on_process_end(std::string_view process) override { legality_.on_crash(process); }
  void on_outside(const ibv_gid& gid) override;
  void on_message_lost(const Host& at, const Host* peer) override;
  void on_disorder() override { payload_.on_disorder(); }
  verbs::soft::HcaObserver* watch(const Host& host, verbs::soft::Hca& hca) override;
  void on_rest(const World& world) override;
  void on_end(World& world) override;

 private:
  /// The checkers' data of an id, besides its phase.
  struct Known {
    bool active = false;   ///< has called connect
    bool passive = false;  ///< came with a CONNECT_REQUEST
    bool answered = false;
    bool connected = false;
    std::string route;  ///< empty until both addresses are known
  };
  /// Of an id of a host, both ends of which are watched; else empty, and nothing is asked of it.
  [[nodiscard]] std::string watched_route(const std::string& host, const rdma_cm_id& id,
                                          bool active) const;
  void on_queued(const IdName& id, const rdma_cm_event& event);
  void on_fetched(const Host& host, const IdName& id, const rdma_cm_event& event);
  void on_response(const IdName& id, const Known& known, const rdma_cm_event& event);
  void on_rejection(const Host& host, const IdName& id, const Known& known, std::size_t room,
                    const rdma_cm_event& event);
  void compare_queue_pairs(const IdName& active);
  void over(const IdName& id);
  [[nodiscard]] const DeviceWatch* device_of(const std::string& host, std::uint32_t qp) const;

  Violations violations_;
  Legality legality_;
  Ledger ledger_{violations_};
  PrivateData private_data_{violations_};
  Agreement agreement_{violations_};
  Payload payload_{violations_};
  Atomics atomics_{violations_};
  Keys keys_{violations_};
  Afterlife afterlife_{violations_};
  Leaks leaks_{violations_};
  std::map<IdName, Known> known_;
  std::map<std::string, int> channels_;
  struct Device {
    std::string host;
    std::unique_ptr<DeviceWatch> watch;
  };
  std::vector<Device> devices_;
  std::set<std::array<std::uint8_t, sizeof(ibv_gid)>> outside_;  ///< whose ends are not observed
  bool hung_ = false;                                            ///< World::run has said so
};

}  // namespace anyrdma::sim::check
