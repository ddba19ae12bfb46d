// The device that the processes of a host see, behind an uplink.
#pragma once

#include <string>

#include "sim/nic.h"

namespace anyrdma::sim {

/// Passes packets, changes and events of power on to the uplink. The device itself consists of
/// parts, one in each process.
class RemoteNic final : public Nic {
 public:
  /// `name`: the name of the device. `uplink` must outlive this object.
  RemoteNic(Host& host, std::size_t interface, std::uint8_t port, std::string name, Uplink& uplink);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::uint8_t port() const override { return port_; }
  [[nodiscard]] bool present() const override { return !unplugged_; }
  [[nodiscard]] bool port_is_down() const override { return port_down_; }
  [[nodiscard]] bool take(const Host& from, verbs::soft::PacketPtr&& packet) override;
  [[nodiscard]] bool hears_groups(bool own) const override;
  void on_neighbour(transport::soft::NeighbourToken token, int error) override;
  [[nodiscard]] verbs::Result<void> change(const transport::soft::DeviceChange& change) override;
  [[nodiscard]] verbs::Result<void> bring_back(bool new_guid) override;
  void add_address(const transport::soft::Prefix& prefix) override {
    keep_address(transport::soft::DeviceChange::Kind::kAddressAdded, prefix);
  }
  void drop_address(const transport::soft::Prefix& prefix) override {
    keep_address(transport::soft::DeviceChange::Kind::kAddressDropped, prefix);
  }
  void on_crash() override { uplink_.on_crash(); }
  void on_kill() override { uplink_.on_kill(); }
  [[nodiscard]] bool kill_program(std::string_view name, std::uint32_t number) override;
  [[nodiscard]] std::optional<bool> pause_program(const Uplink::Threads& threads,
                                                  bool paused) override;
  [[nodiscard]] bool has_processes() const override { return true; }
  void on_opened(fault::Question& question) const override;
  [[nodiscard]] const Past* past() const override { return &past_; }

 private:
  void keep(const transport::soft::DeviceChange& change);
  void keep_address(transport::soft::DeviceChange::Kind kind,
                    const transport::soft::Prefix& prefix);

  const std::uint8_t port_;
  std::string name_;
  Uplink& uplink_;
  bool unplugged_ = false;
  bool port_down_ = false;
  Past past_;
};

}  // namespace anyrdma::sim
