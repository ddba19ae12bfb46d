// What a recording costs apart from a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recording/sink.h"

namespace anyrdma::bench {

/// Takes a recording of any length as a file would, without a disk.
class ForgetfulSink final : public recording::Sink {
 public:
  std::span<std::uint8_t> window(std::size_t /*used*/) override { return room_; }
  void finish(std::size_t /*used*/) override {}

 private:
  std::vector<std::uint8_t> room_ = std::vector<std::uint8_t>(std::size_t{1} << 20);
};

}  // namespace anyrdma::bench
