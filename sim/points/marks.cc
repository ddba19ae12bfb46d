// The marks of marks.h. What a run has been told of a mark costs no system call a second time.
#include "sim/points/marks.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "sim/points/mark_call.h"

namespace {

/// By the hash of a mark: which of its conditions were told. Two marks of one hash are told more
/// often than they need be.
struct Told {
  std::atomic<std::uint64_t> mark{0};
  std::atomic<unsigned> conditions{0};
};
constexpr std::size_t kPlaces = 1024;
std::array<Told, kPlaces> told;

std::uint64_t hash_of(int kind, const char* name, std::size_t length) {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325;  // FNV-1a
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = (kBasis ^ static_cast<std::uint64_t>(kind)) * kPrime;
  for (std::size_t i = 0; i < length; ++i)
    hash = (hash ^ static_cast<unsigned char>(name[i])) * kPrime;
  return hash | 1;
}

bool is_news(std::uint64_t mark, bool holds) {
  Told& place = told[(mark >> 1) % kPlaces];
  const unsigned condition = holds ? 2 : 1;
  if (place.mark.exchange(mark, std::memory_order_relaxed) != mark)
    place.conditions.store(0, std::memory_order_relaxed);
  return (place.conditions.fetch_or(condition, std::memory_order_relaxed) & condition) == 0;
}

}  // namespace

extern "C" void anyrdma_mark(int kind, const char* name, int condition) {
  if (name == nullptr) return;
  const std::size_t length = ::strnlen(name, anyrdma::sim::kMarkNameMax);
  const bool holds = condition != 0;
  if (!is_news(hash_of(kind, name, length), holds)) return;
  const int error = errno;
  (void)::syscall(anyrdma::sim::kMarkCall, kind, name, length, holds ? 1L : 0L);
  errno = error;
}
