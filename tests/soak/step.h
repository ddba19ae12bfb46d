// One batch of requests from one side to the other, and every byte of both looked at afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/soak/dice.h"
#include "tests/soak/link.h"

namespace anyrdma::soak {

struct Operation {
  ibv_wr_opcode opcode;
  std::size_t local;   ///< where in the initiator's memory
  std::size_t remote;  ///< where in the target's
  std::size_t length;
  std::size_t slack;  ///< of a receive: bytes that must stay as they are
  std::uint32_t immediate;
  std::uint64_t compare;
  std::uint64_t swap;
  unsigned flags;

  [[nodiscard]] bool takes_a_receive() const;
  [[nodiscard]] bool is_atomic() const;
  [[nodiscard]] bool is_send() const;
};

/// What both sides know without a word.
struct Batch {
  Role initiator;
  Service service;
  std::vector<Operation> operations;
  std::uint64_t source_key;  ///< the patterns of the two memories before
  std::uint64_t target_key;
  bool at_once;        ///< one list of requests, not one after the other
  bool spoil = false;  ///< sends other bytes than it should, which must be seen
};
[[nodiscard]] Batch draw_batch(Dice dice, std::size_t memory, std::size_t mtu);

/// Both sides at the same time. Ends the process with what is wrong.
void carry_out(Link& link, Role role, const Batch& batch, Dice own);

}  // namespace anyrdma::soak
