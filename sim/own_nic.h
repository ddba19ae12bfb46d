// A device of the simulator on a host's interface.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/nic.h"
#include "sim/options.h"
#include "sim/schedule/random_stream.h"

namespace anyrdma::sim {

/// Carries port 1 of the device. Owns the device, and the devices that it has replaced, because
/// programs may hold contexts of them. PortNic carries the other ports.
class OwnNic final : public Nic {
 public:
  /// Plugs the device in. `options`: those of the interface; `ports`: the device's number of ports.
  OwnNic(Host& host, std::size_t interface, const InterfaceOptions& options,
         std::uint8_t ports = 1);

  [[nodiscard]] std::string_view name() const override { return hca_->config().name; }
  [[nodiscard]] bool present() const override { return running_ != nullptr; }
  [[nodiscard]] verbs::soft::Hca* device() const override { return hca_.get(); }
  [[nodiscard]] bool port_is_down() const override { return is_down(1); }
  [[nodiscard]] bool take(const Host& from, verbs::soft::PacketPtr&& packet) override {
    return take_at(1, from, std::move(packet));
  }
  [[nodiscard]] bool hears_groups(bool /*own*/) const override { return true; }
  [[nodiscard]] verbs::Result<void> change(const transport::soft::DeviceChange& change) override {
    return change_port(1, change);
  }
  [[nodiscard]] verbs::Result<void> bring_back(bool new_guid) override;
  void add_address(const transport::soft::Prefix& prefix) override {
    replace_gid(1, ibv_gid{}, prefix.address.gid());
  }
  void drop_address(const transport::soft::Prefix& prefix) override {
    replace_gid(1, prefix.address.gid(), ibv_gid{});
  }
  void on_kill() override;
  void start_anew() override;

  // --- one port of the device -------------------------------------------------------------------

  /// Lets the interface carry another port, the one behind the last.
  void carry_port(std::uint8_t port, std::size_t interface);
  [[nodiscard]] bool is_down(std::uint8_t port) const;
  /// As the functions of Nic without a port.
  [[nodiscard]] bool take_at(std::uint8_t port, const Host& from, verbs::soft::PacketPtr&& packet);
  [[nodiscard]] verbs::Result<void> change_port(std::uint8_t port,
                                                const transport::soft::DeviceChange& change);
  /// Replaces an entry of the GID table; an all-zero GID is an empty entry.
  void replace_gid(std::uint8_t port, const ibv_gid& old, const ibv_gid& gid);

 private:
  void plug(verbs::soft::HcaConfig config);
  void connect(std::uint8_t port);
  void remove();
  [[nodiscard]] verbs::Result<void> set_port(std::uint8_t port, ibv_port_state state);

  RandomStream random_;
  RandomStream keys_;  ///< the same of all devices of a host, whose keys differ anyhow
  std::uint8_t carried_ = 1;  ///< number of ports that interfaces carry by now
  std::unique_ptr<verbs::soft::Hca> hca_;
  std::vector<std::unique_ptr<verbs::soft::Hca>> replaced_;
};

}  // namespace anyrdma::sim
