// Arbitrary scripts through two agents.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::ibcm::fuzz {

/// First byte: the state that a connection is brought into, through messages. Then a script of
/// messages (right or damaged), commands, timer expiries, losses and repetitions. Aborts when an
/// invariant breaks, when messages go round for ever, or when, left alone, anything keeps waiting.
int fuzz_machine(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::ibcm::fuzz
