// What the example programs have in common: an event channel with a diary, and a connected id's
// queue pair with the memory it works on.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "examples/conversation.h"
#include "sim/host.h"
#include "verbs/memory.h"

namespace anyrdma::examples {

/// One program's events.
class Talker {
 public:
  Talker(sim::Host& host, Diary& diary);

  [[nodiscard]] std::unique_ptr<cm::Id> make_id();
  /// Whether there is an event to take. Never waits.
  [[nodiscard]] bool has_news();
  /// The next event, written down; none when the world ends.
  [[nodiscard]] std::optional<cm::Event> next();
  /// Takes the next event; whether it is of that type.
  [[nodiscard]] bool next_is(rdma_cm_event_type type);
  void note(const std::string& what);
  [[nodiscard]] sim::Host& host() const { return host_; }

 private:
  sim::Host& host_;
  Diary& diary_;
  std::unique_ptr<cm::EventChannel> channel_;
  std::optional<cm::Event> news_;  ///< fetched, and not taken yet
};

/// The queue pair of an id and one piece of registered memory. Goes before its id does.
class Line {
 public:
  static constexpr std::uint32_t kTextBytes = 64;
  /// What a message says: where the sender's memory is.
  struct Invitation {
    std::uint64_t address;
    std::uint32_t key;
    std::uint32_t length;
  };
  struct Memory {
    char question[kTextBytes];
    char answer[kTextBytes];
    Invitation sent;
    Invitation received;
  };

  explicit Line(cm::Id& id);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Memory memory{};
  /// Makes room for the peer's invitation.
  void expect_invitation();
  /// Whether it came, before `self` heard anything: the peer may be gone.
  [[nodiscard]] bool invitation_came(Talker& self);
  /// Sends where our memory is. Whether it was delivered; the next two likewise.
  [[nodiscard]] bool invite();
  [[nodiscard]] bool read(char* to, std::uint64_t from, std::uint32_t length);
  [[nodiscard]] bool write(const char* from, std::uint64_t to, std::uint32_t length);

 private:
  [[nodiscard]] bool post(ibv_send_wr request, const void* local, std::uint32_t length);
  [[nodiscard]] ibv_sge piece(const void* at, std::uint32_t length) const;
  [[nodiscard]] static bool succeeds(ibv_cq* cq);

  cm::Id& id_;
  verbs::MemoryRegion region_;
};

/// "id 1 REJECTED status 28 "no"".
[[nodiscard]] std::string to_string(const cm::Event& event);
/// Connection parameters that carry `data`, which outlives their use.
[[nodiscard]] rdma_conn_param parameters(std::string_view data);

}  // namespace anyrdma::examples
