// A pair of software HCAs whose second one is sent packets that a script makes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "verbs/assert.h"
#include "verbs/soft/fuzz/script.h"

namespace anyrdma::verbs::soft::fuzz {

inline constexpr std::size_t kGuard = 4096;  ///< unregistered bytes on both ends of b's memory
inline constexpr std::size_t kRegistered = std::size_t{16} * 1024;

/// Fixture: testing::Pair or testing::DatagramPair.
template <class Fixture>
class Attacked : public Fixture {
 public:
  void TestBody() override {}

 protected:
  /// Of b's memory only the part between the guards is registered.
  explicit Attacked(unsigned access) {
    auto& target = this->b;
    std::fill(target.memory.begin(), target.memory.end(), kCanary);
    target.hca->dereg_mr(target.mr).value();
    std::uint8_t* const start = target.memory.data() + kGuard;
    target.mr =
        target.hca
            ->reg_mr(target.pd, start, kRegistered, reinterpret_cast<std::uintptr_t>(start), access)
            .value();
  }

  void check_guards() {
    const auto& memory = this->b.memory;
    const auto guarded = [](std::uint8_t byte) { return byte == kCanary; };
    CM_ASSERT(std::all_of(memory.begin(), memory.begin() + kGuard, guarded));
    CM_ASSERT(std::all_of(memory.begin() + kGuard + kRegistered, memory.end(), guarded));
  }

  /// Bytes of any meaning.
  void raw(Script& script) {
    auto packet = this->pool.take();
    packet->source = this->a.gid;
    packet->destination = this->b.gid;
    packet->size = script.byte();
    for (std::size_t i = 0; i < packet->size; ++i) packet->storage[i] = script.byte();
    this->b.hca->on_packet(this->runtime.time, std::move(packet));
  }

  /// A real packet of a, with a byte changed.
  void damage(Script& script) {
    auto packet = this->a.hca->next_packet();
    const std::size_t at = script.word();
    const std::uint8_t change = script.byte();
    if (!packet) return;
    packet->storage[at % packet->size] ^= change;
    this->b.hca->on_packet(this->runtime.time, std::move(packet));
  }

 private:
  static constexpr std::uint8_t kCanary = 0xc5;
};

}  // namespace anyrdma::verbs::soft::fuzz
