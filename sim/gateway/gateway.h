// Carries packets between the processes of a simulated host and the world. The processes of one
// host exchange packets over a fabric of their own (transport/fabric); the gateway is the member of
// that fabric that leads out of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/gateway/connections.h"
#include "sim/host.h"
#include "sim/schedule/random_stream.h"
#include "sim/uplink.h"
#include "transport/fabric/mesh.h"
#include "transport/fabric/neighbour_message.h"
#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/registry.h"
#include "transport/ibcm/agent.h"
#include "verbs/result.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

/// The gateway of a host whose programs are processes. It never waits, reads no clock and has no
/// thread: the runner of the world calls poll() after processes have run. It acts as the host's
/// kernel where no process can: it refuses connection requests without a listener, and sends the
/// kernel's messages to the peers of a process that ends without cleanup. It does not see packets
/// between processes of the host.
class Gateway final : private transport::fabric::Mesh::Receiver {
 public:
  /// Opens the fabric of `directory`, an existing absolute path that no other host uses, and
  /// becomes the uplink of all interfaces of `host`, at most kRailsMax. They must have no device
  /// (InterfaceOptions::rdma). An interface without a link-local address gets one, made of its link
  /// address as Linux does. The host must outlive the gateway. Create it before the host's
  /// processes begin. Errors: FabricErrc; else errno.
  [[nodiscard]] static Result<std::unique_ptr<Gateway>> create(Host& host, std::string directory);
  ~Gateway() override;

  /// Returns environment variables (NAME=VALUE) for the host's processes. With them, the drop-in
  /// library in a process uses this fabric and its addresses.
  [[nodiscard]] std::vector<std::string> environment() const;
  /// Returns the first address of each port of the world, by LID from 1, separated by commas: the
  /// value of ANYRDMA_LIDS, for hosts whose link layer is InfiniBand.
  [[nodiscard]] std::string lids() const;
  /// The configuration with which a process of the host opens the fabric.
  [[nodiscard]] const transport::fabric::FabricConfig& config() const { return config_; }

  /// Sets a function that is called when packets or events from the world were passed to processes.
  /// The function is called within the world's tasks, and must not call the gateway.
  void set_delivered(std::function<void()> delivered) { delivered_ = std::move(delivered); }
  /// Readable when poll() has something to do.
  [[nodiscard]] int fd() const { return mesh_->fd(); }
  /// Sets a function that is called when the host has lost its power. When the function returns,
  /// all processes of the host must have ended.
  void set_on_crash(std::function<void()> on_crash) { kill_ = std::move(on_crash); }
  /// Sets a function that is called when all processes of a host that stays on must be killed.
  void set_on_kill(std::function<void()> on_kill) { kill_alone_ = std::move(on_kill); }
  /// A function that kills one program of the host. Arguments: its name, and its number among the
  /// programs of that name, from 1. Returns false if there is no such program or it has ended.
  using KillProgram = std::function<bool(std::string_view, std::uint32_t)>;
  void set_on_kill_program(KillProgram on_kill) { kill_program_ = std::move(on_kill); }
  /// Stops or continues one program.
  using PauseProgram = std::function<std::optional<bool>(const Uplink::Threads&, bool paused)>;
  void set_on_pause_program(PauseProgram on_pause) { pause_program_ = std::move(on_pause); }
  /// Sets a function that is called when a device of the host has changed, or an address of the
  /// host, and the processes have been told. The function must not call the gateway.
  using OnChange = std::function<void(const transport::soft::DeviceChange&, std::size_t interface)>;
  void set_on_change(OnChange on_change) { changed_ = std::move(on_change); }
  /// Passes the packets that processes have sent to the world, and sends the kernel's last messages
  /// for processes that have ended. Do not call it from the world's tasks. Returns false if there
  /// was nothing to do. After a crash, call it once the processes have ended and before
  /// Power::restart(), or else their last packets would still leave the host.
  bool poll();

 private:
  class Port;
  /// A question of a process for a neighbour.
  struct Question {
    Slot asker{};
    std::uint64_t number = 0;
    ibv_gid neighbour{};
  };

  explicit Gateway(Host& host);
  [[nodiscard]] Result<void> join(std::string directory);

  // --- from the host's processes ---
  void on_packet(verbs::soft::PacketPtr packet) override;
  void on_gone(Slot slot) override { gone_.push_back(slot); }
  void ask(const transport::fabric::NeighbourMessage& question);
  bool say_farewells();
  void send_out(const ibcm::Path& path, Connections::Mad mad);

  // --- from the world ---
  void on_packet(const verbs::soft::Packet& packet, std::size_t interface);
  void on_neighbour(transport::soft::NeighbourToken token, int error);
  void on_change(const transport::soft::DeviceChange& change, std::size_t interface);
  void on_crash();
  void on_kill();
  bool on_kill_program(std::string_view name, std::uint32_t number);
  std::optional<bool> on_pause_program(const Uplink::Threads& threads, bool paused);
  /// Without an interface, the packet is a CM message, whose destination names the device.
  void to_everyone(const verbs::soft::Packet& packet, std::optional<std::size_t> interface = {});
  void take_message(const verbs::soft::Packet& packet, Connections::Mad mad);
  void answer_for_nobody(const ibcm::Path& path, Connections::Mad mad);
  [[nodiscard]] bool lives(Slot slot);
  void flush();

  /// Returns the interface that has the address; nothing: none has.
  [[nodiscard]] std::optional<std::size_t> owner(const ibv_gid& gid) const;
  /// Likewise, also if the interface has lost it: queue pairs go on sending from it.
  [[nodiscard]] std::optional<std::size_t> sender(const ibv_gid& gid) const;

  Host& host_;
  std::vector<std::unique_ptr<Port>> ports_;  ///< of each interface
  RandomStream random_;
  transport::fabric::FabricConfig config_;
  verbs::soft::PacketPool pool_;
  std::unique_ptr<transport::fabric::Registry> registry_;
  std::unique_ptr<transport::fabric::Mesh> mesh_;
  std::unique_ptr<ibcm::Agent> agent_;  ///< that of ids without a process
  wire::Psn psn_{};
  Connections connections_;
  std::vector<Slot> gone_;
  std::function<void()> delivered_;
  bool polling_ = false;  ///< whether the mesh is polling: only its send() may be called
  std::uint64_t asked_ = 0;
  std::map<std::uint64_t, Question> questions_;
  std::map<ibcm::Gid, std::size_t> former_;  ///< the interfaces of addresses that were dropped
  OnChange changed_;
  std::function<void()> kill_;
  std::function<void()> kill_alone_;
  KillProgram kill_program_;
  PauseProgram pause_program_;
};

}  // namespace anyrdma::sim
