// The actions of a CM agent that its driver has not taken yet, oldest first.
#pragma once

#include <cstddef>
#include <vector>

#include "transport/ibcm/agent.h"
#include "transport/ibcm/pool.h"
#include "verbs/runtime.h"

namespace anyrdma::ibcm {

/// A queue of actions. An action keeps its address until pop(), because the driver may call the
/// agent while it uses the action. Allocates memory only if there are more actions than ever
/// before.
class Outbox {
 public:
  /// Creates the queue. If `runtime` is not null, its driver is called for every action.
  explicit Outbox(verbs::Runtime* runtime = nullptr) : runtime_(runtime), ring_(kFirstCapacity) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Appends an action that sends a MAD. The caller fills in the bytes of the MAD.
  SendMad& send(const Path& path) {
    SendMad& mad = push().emplace<SendMad>();
    mad.path = path;
    return mad;
  }
  Upcall& upcall(UpcallKind kind, CommId id) {
    Upcall& upcall = push().emplace<Upcall>();
    upcall.kind = kind;
    upcall.id = id;
    return upcall;
  }
  void drop(DropReason reason, std::uint16_t attribute) {
    push().emplace<Dropped>(Dropped{reason, attribute});
  }

  [[nodiscard]] const Action* front() const { return size_ == 0 ? nullptr : ring_[first_]; }
  /// Precondition: front() is not null.
  void pop();
  /// Tells the runtime that there is an action to carry out or a deadline to set.
  void call_driver();
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kFirstCapacity = 16;  // a power of two, as every later one

  Action& push();
  void grow();
  [[nodiscard]] std::size_t slot(std::size_t i) const { return (first_ + i) & (ring_.size() - 1); }

  verbs::Runtime* runtime_;
  std::vector<Action*> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  Pool<Action> actions_;
};

}  // namespace anyrdma::ibcm
