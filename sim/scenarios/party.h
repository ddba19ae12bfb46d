// What the programs of the standard scenarios have in common. They are as careful as programs can
// be: any call may fail, any event may come, and nothing is waited for that need not come.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/host.h"
#include "sim/world.h"
#include "verbs/memory.h"

namespace anyrdma::sim::scenarios {

inline constexpr std::uint16_t kPort = 7471;

/// A program's event channel, used for one id at a time, and the results of its events.
class Party {
 public:
  explicit Party(Host& host);

  [[nodiscard]] Host& host() const { return host_; }
  /// Null: there is none to be had. The next two likewise.
  [[nodiscard]] cm::EventChannel* channel() const { return channel_.get(); }
  [[nodiscard]] std::unique_ptr<cm::Id> make_id(rdma_port_space space);
  /// An id that knows its way to `peer`.
  [[nodiscard]] std::unique_ptr<cm::Id> resolve(const Address& peer, rdma_port_space space);
  /// Returns an id that listens on all addresses. The function retries for longer than faults last;
  /// null: it failed.
  [[nodiscard]] std::unique_ptr<cm::Id> listen(rdma_port_space space);

  /// Waits for the next event. None: the world ends.
  [[nodiscard]] std::optional<cm::Event> next();
  /// Waits for an event of type `wanted` if `called`, the result of the call that leads to it, is a
  /// success. Other events are skipped; nullopt: the call failed, or an event shows that the wanted
  /// one cannot come.
  [[nodiscard]] std::optional<cm::Event> wait(const verbs::Result<void>& called,
                                              rdma_cm_event_type wanted);
  /// Takes all queued events. Returns false if one of them was the end of the connection.
  [[nodiscard]] bool goes_on();
  /// Ends the connection from here, and waits until it has ended.
  void hang_up(cm::Id& id);
  /// Waits until the peer disconnects, and disconnects as well.
  void see_off(cm::Id& id);
  /// A new connection may begin.
  void begin() { over_ = false, end_ = RDMA_CM_EVENT_ADDR_RESOLVED; }
  /// What ended the last one, and its status.
  [[nodiscard]] rdma_cm_event_type end() const { return end_; }
  [[nodiscard]] int end_status() const { return end_status_; }

 private:
  void open_channel();
  void look_at(const cm::Event& event);

  Host& host_;
  std::unique_ptr<cm::EventChannel> channel_;
  bool over_ = false;
  rdma_cm_event_type end_ = RDMA_CM_EVENT_ADDR_RESOLVED;
  int end_status_ = 0;
};

/// The queue pair of an id and the memory of its messages. Destroy it before the id.
class Mailbox {
 public:
  explicit Mailbox(Party& party, cm::Id& id) : party_(party), id_(id) {}
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Creates the queue pair, registers the memory and posts a receive. Returns false on failure.
  [[nodiscard]] bool open(ibv_qp_type type = IBV_QPT_RC);
  /// Whom datagrams are for.
  [[nodiscard]] bool address(const rdma_ud_param& peer);
  [[nodiscard]] std::uint32_t qpn() const { return id_.qp()->qp_num; }

  /// Sends a message with the content `number`. Returns whether it was delivered; for a datagram,
  /// whether it was sent.
  [[nodiscard]] bool send(std::uint64_t number);
  /// Waits up to `patience` of virtual time for a message, returns its number and posts another
  /// receive. nullopt: no message came, or the connection has ended. A message with an unexpected
  /// content is reported as a problem.
  [[nodiscard]] std::optional<std::uint64_t> receive(Duration patience);

 private:
  static constexpr std::size_t kWords = 16;
  static constexpr std::uint32_t kBytes = kWords * sizeof(std::uint64_t);
  static constexpr std::uint32_t kHeader = sizeof(ibv_grh);

  [[nodiscard]] bool post_receive();
  [[nodiscard]] std::optional<ibv_wc> completion(ibv_cq* cq, Duration patience);

  Party& party_;
  cm::Id& id_;
  bool is_open_ = false;
  bool is_datagram_ = false;
  std::array<std::uint64_t, kWords> out_{};
  std::array<std::uint8_t, kHeader + kBytes> in_{};
  verbs::MemoryRegion out_memory_;
  verbs::MemoryRegion in_memory_;
  ibv_ah* peer_ = nullptr;
  std::uint32_t peer_qpn_ = 0;
  std::uint32_t peer_qkey_ = 0;
};

/// Connection parameters with private data; `data` outlives their use.
[[nodiscard]] rdma_conn_param parameters(std::string_view data);

}  // namespace anyrdma::sim::scenarios
