// What goes on in a process beside its messages: memory that comes and goes, children, signals.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/soak/dice.h"
#include "tests/soak/link.h"

namespace anyrdma::soak {

/// Threads that make trouble until destroyed. A link that is torn down ends them first.
class Trouble {
 public:
  /// A process has one timer: signals are for one of its links.
  enum class Signals : std::uint8_t { kNo, kYes };
  Trouble(ibv_pd* pd, Dice dice, Signals signals);
  ~Trouble();
  Trouble(const Trouble&) = delete;
  Trouble& operator=(const Trouble&) = delete;

 private:
  void change_address_space(Dice dice);
  void register_what_changes(Dice& dice);
  void use_pipes();
  void fork_children();
  /// A handler, in whatever thread, writes into memory that is being registered and deregistered.
  void write_in_signals();

  ibv_pd* pd_;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

/// The last thing on a link: memory that goes while it is registered, and requests to it. Nobody
/// may die; whatever completes, completes.
void pull_the_rug(Link& link, Role role, Dice dice);

}  // namespace anyrdma::soak
