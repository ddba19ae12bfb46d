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

/// One channel, used for one id at a time, and what its events said.
class Party {
 public:
  explicit Party(Host& host);

  [[nodiscard]] Host& host() const { return host_; }
  /// Null: there is none to be had. The next two likewise.
  [[nodiscard]] cm::EventChannel* channel() const { return channel_.get(); }
  [[nodiscard]] std::unique_ptr<cm::Id> make_id(rdma_port_space space);
  /// An id that knows its way to `peer`.
  [[nodiscard]] std::unique_ptr<cm::Id> resolve(const Address& peer, rdma_port_space space);
  /// An id that listens on all addresses; tried for longer than faults last.
  [[nodiscard]] std::unique_ptr<cm::Id> listen(rdma_port_space space);

  /// Waits for the next event. None: the world ends.
  [[nodiscard]] std::optional<cm::Event> next();
  /// Waits until an event of this type comes, if the call that leads to it succeeded. Other events
  /// are skipped, but for those after which it cannot come. None: it will not come.
  [[nodiscard]] std::optional<cm::Event> wait(const verbs::Result<void>& called,
                                              rdma_cm_event_type wanted);
  /// Takes the events there are. False: one of them was the end of the connection.
  [[nodiscard]] bool goes_on();
  /// Ends the connection from here, and waits until it has ended.
  void hang_up(cm::Id& id);
  /// Waits for the end of a connection that the peer ends, and answers it.
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

/// An id's queue pair and the memory of its messages. Goes before its id does.
class Mailbox {
 public:
  explicit Mailbox(Party& party, cm::Id& id) : party_(party), id_(id) {}
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Makes the queue pair, registers the memory, and makes room for a message. False: it cannot be.
  [[nodiscard]] bool open(ibv_qp_type type = IBV_QPT_RC);
  /// Whom datagrams are for.
  [[nodiscard]] bool address(const rdma_ud_param& peer);
  [[nodiscard]] std::uint32_t qpn() const { return id_.qp()->qp_num; }

  /// Sends a message, of which `number` is the content; whether it was delivered, or of a datagram,
  /// sent.
  [[nodiscard]] bool send(std::uint64_t number);
  /// The next message, within `patience` of virtual time, and makes room for another. None: it did
  /// not come, or the connection is over. A message that was not sent so is complained of.
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
