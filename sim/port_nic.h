// Port 2 and higher of a device of the simulator, on an interface of its own.
#pragma once

#include "sim/own_nic.h"

namespace anyrdma::sim {

/// Passes what happens to the interface on to the OwnNic that owns the device. That one sends the
/// packets of all ports and runs the timers, so this class has no running() device.
class PortNic final : public Nic {
 public:
  /// `first`: the Nic of port 1, which must outlive this object.
  PortNic(Host& host, std::size_t interface, std::uint8_t port, OwnNic& first);

  [[nodiscard]] std::string_view name() const override { return first_.name(); }
  [[nodiscard]] std::uint8_t port() const override { return port_; }
  [[nodiscard]] bool present() const override { return first_.present(); }
  [[nodiscard]] verbs::soft::Hca* device() const override { return first_.device(); }
  [[nodiscard]] bool port_is_down() const override { return first_.is_down(port_); }
  [[nodiscard]] bool take(const Host& from, verbs::soft::PacketPtr&& packet) override {
    return first_.take_at(port_, from, std::move(packet));
  }
  [[nodiscard]] bool hears_groups(bool /*own*/) const override { return true; }
  [[nodiscard]] verbs::Result<void> change(const transport::soft::DeviceChange& change) override {
    return first_.change_port(port_, change);
  }
  [[nodiscard]] verbs::Result<void> bring_back(bool /*new_guid*/) override { return {}; }
  void add_address(const transport::soft::Prefix& prefix) override {
    first_.replace_gid(port_, ibv_gid{}, prefix.address.gid());
  }
  void drop_address(const transport::soft::Prefix& prefix) override {
    first_.replace_gid(port_, prefix.address.gid(), ibv_gid{});
  }

 private:
  const std::uint8_t port_;
  OwnNic& first_;
};

}  // namespace anyrdma::sim
