// A device of the simulator on a host's interface.
#pragma once

#include <memory>
#include <vector>

#include "sim/nic.h"
#include "sim/options.h"
#include "sim/schedule/random_stream.h"

namespace anyrdma::sim {

/// Owns the device, and the devices that it has replaced, because programs may hold contexts of
/// them.
class OwnNic final : public Nic {
 public:
  /// Plugs the device in. `options`: those of the interface.
  OwnNic(Host& host, std::size_t interface, const InterfaceOptions& options);

  [[nodiscard]] std::string_view name() const override { return hca_->config().name; }
  [[nodiscard]] bool present() const override { return running_ != nullptr; }
  [[nodiscard]] verbs::soft::Hca* device() const override { return hca_.get(); }
  [[nodiscard]] bool port_is_down() const override;
  [[nodiscard]] bool take(const Host& from, verbs::soft::PacketPtr&& packet) override;
  [[nodiscard]] bool hears_groups(bool /*own*/) const override { return true; }
  [[nodiscard]] verbs::Result<void> change(const transport::soft::DeviceChange& change) override;
  [[nodiscard]] verbs::Result<void> bring_back(bool new_guid) override;
  void add_address(const transport::soft::Prefix& prefix) override {
    replace_gid(ibv_gid{}, prefix.address.gid());
  }
  void drop_address(const transport::soft::Prefix& prefix) override {
    replace_gid(prefix.address.gid(), ibv_gid{});
  }
  void on_kill() override;
  void start_anew() override;

 private:
  void plug(const verbs::soft::HcaConfig& config);
  /// Replaces an entry of the GID table; an all-zero GID is an empty entry.
  void replace_gid(const ibv_gid& old, const ibv_gid& gid);
  void remove();
  [[nodiscard]] verbs::Result<void> set_port(ibv_port_state state);

  RandomStream random_;
  std::unique_ptr<verbs::soft::Hca> hca_;
  std::vector<std::unique_ptr<verbs::soft::Hca>> replaced_;
};

}  // namespace anyrdma::sim
