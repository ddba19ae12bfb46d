// Pages that can be taken away, and a guarded access to them.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "transport/realtime/guarded_access.h"

namespace anyrdma::transport::realtime::testing {

inline constexpr std::size_t kPage = 4096;

/// Two pages, of which the second can be taken away.
class Pages {
 public:
  Pages() {
    void* const at =
        ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    at_ = static_cast<std::uint8_t*>(at);
  }
  ~Pages() { ::munmap(at_, 2 * kPage); }
  [[nodiscard]] std::uint8_t* at() const { return at_; }
  void unmap_second() { ::munmap(at_ + kPage, kPage); }
  void protect_second(int protection) { ::mprotect(at_ + kPage, kPage, protection); }

 private:
  std::uint8_t* at_;
};

inline bool fill(std::uint8_t* at, std::size_t size) {
  struct Range {
    std::uint8_t* at;
    std::size_t size;
  } range{at, size};
  return guarded(
      [](void* context) {
        const auto& wanted = *static_cast<Range*>(context);
        std::memset(wanted.at, 7, wanted.size);
      },
      &range);
}

}  // namespace anyrdma::transport::realtime::testing
