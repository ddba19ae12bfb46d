// The class behind SoftTransport::create (transport.h).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "transport/soft/core.h"
#include "transport/soft/endpoint.h"
#include "transport/soft/transport.h"
#include "transport/soft/waiting_room.h"

namespace anyrdma::transport::soft {

class SoftTransportImpl final : public SoftTransport {
 public:
  explicit SoftTransportImpl(Core core)
      : core_(std::move(core)), waiting_(core_.config.waiting_requests_max) {}
  ~SoftTransportImpl() override;

  [[nodiscard]] verbs::Runtime& runtime() override { return core_.runtime; }
  [[nodiscard]] std::span<ibv_device* const> devices() override { return present_; }
  [[nodiscard]] verbs::Provider& provider_of(ibv_device* device) override;
  [[nodiscard]] ibv_context* context_of(ibv_device* device) override;
  [[nodiscard]] Result<std::unique_ptr<Endpoint>> create_endpoint(
      rdma_port_space space, ibv_qp_type type, EndpointHandler& handler) override;

  [[nodiscard]] Result<void> add_device(verbs::soft::Hca& hca, int interface) override;
  [[nodiscard]] Result<void> add_port(verbs::soft::Hca& hca, std::uint8_t port,
                                      int interface) override;
  void remove_device(verbs::soft::Hca& hca) override;
  [[nodiscard]] Result<void> begin_process(const void* process) override;
  void end_process(const void* process) override;
  void on_neighbour(NeighbourToken token, int error) override;
  void on_path(NeighbourToken token, int error) override;
  void on_address_change(int interface) override;
  void on_neighbour_changed(int interface, const Address& address) override;
  bool on_group_lost(const Address& group) override;
  void on_peer_gone(Instant now, std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
                    std::span<const ibcm::Gid> gids) override;
  bool drain(Instant now) override;
  [[nodiscard]] bool has_waiting() const override { return !waiting_.empty(); }
  void on_timer(Instant now) override;
  [[nodiscard]] std::optional<Instant> next_deadline() const override;
  [[nodiscard]] std::size_t endpoints() const override { return core_.endpoints.size(); }
  void set_observer(Observer* observer) override { observer_ = observer; }
  void set_admission(Admission* admission) override { core_.admission = admission; }

 private:
  [[nodiscard]] Device& known(const ibv_device* device);
  /// Returns the port of an HCA; null: it was not added, or was removed.
  [[nodiscard]] Device* find(const verbs::soft::Hca& hca, std::uint8_t port) const;
  [[nodiscard]] Result<void> check_free(const verbs::soft::Hca& hca, std::uint8_t port,
                                        int interface) const;
  /// Makes the CM agent of a port, which listens for the wildcard listeners.
  void start(std::unique_ptr<Device> port);
  void remove_port(Device& port);
  /// Returns the port of the device that has the GID.
  [[nodiscard]] Device& port_with(Device& device, std::span<const std::uint8_t, 16> gid) const;
  /// The next functions return whether there was anything to do.
  bool admit_waiting(Instant now);
  bool take_mads(Device& device, Instant now);
  bool take_actions(Device& device, Instant now);
  bool deliver_pending();
  [[nodiscard]] bool left_behind() const;
  /// Passes a MAD to its CM agent and carries out the agent's actions. False: the MAD was a request
  /// whose listener's backlog is full.
  bool receive(Device& device, Instant now, const ibcm::Path& path, Observer::Mad mad);
  void send(Device& device, const ibcm::SendMad& message);
  void perform(Device& device, Instant now, const ibcm::Action& action);
  void on_upcall(Device& device, Instant now, const ibcm::Upcall& upcall);
  void on_request(Device& device, Instant now, const ibcm::Upcall& upcall);
  /// The decision about a connection request. kRefused: the request was answered.
  enum class Entry : std::uint8_t { kOpen, kFull, kRefused };
  Entry ask_admission(Device& device, Instant now, const ibcm::Upcall& upcall);

  [[nodiscard]] Result<void> open_for(Device& device, const void* process);

  Core core_;
  std::vector<ibv_device*> present_;
  std::vector<const void*> processes_;
  WaitingRoom waiting_;
  bool no_room_ = false;  ///< the listener of the request that is handled now has no room
  Observer* observer_ = nullptr;
};

}  // namespace anyrdma::transport::soft
