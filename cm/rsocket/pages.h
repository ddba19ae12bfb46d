// Memory in pages of its own, for registration: a fork leaves out no other memory with it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "verbs/result.h"

namespace anyrdma::rsocket {

/// Zeroed memory that begins and ends with a page.
class Pages {
 public:
  /// ENOMEM.
  [[nodiscard]] static verbs::Result<Pages> map(std::size_t size);
  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), size_}; }

 private:
  struct Unmap {
    std::size_t size = 0;
    void operator()(std::byte* memory) const;
  };
  Pages(std::byte* memory, std::size_t size) : memory_(memory, Unmap{size}), size_(size) {}
  std::unique_ptr<std::byte[], Unmap> memory_;
  std::size_t size_;
};

}  // namespace anyrdma::rsocket
