// The memory that a call fills or takes, while the supervisor has the call made in pieces.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// The buffers of read(2), write(2), recv(2), send(2) and their kinds, and what is left of them.
class Parts {
 public:
  /// nullopt: they cannot be read, or there are too many: the kernel says what is wrong.
  [[nodiscard]] static std::optional<Parts> of(Thread& thread, const Call& call);

  /// In bytes.
  [[nodiscard]] std::uint64_t left() const;
  void take(std::uint64_t bytes);
  /// Has `call` made with what is left. A list of buffers is the program's, and is changed there.
  void set(Thread& thread, Call& call) const;
  /// The program sees its list again as it was.
  void restore(Thread& thread) const;

 private:
  Parts(std::uint64_t at, std::vector<iovec> all) : at_(at), all_(std::move(all)), left_(all_) {}

  std::uint64_t at_;  ///< of the list in the program; 0: it is in the call's arguments
  std::vector<iovec> all_;
  std::vector<iovec> left_;
  bool begun_ = false;              ///< some of it is done
  std::uint64_t control_at_ = 0;    ///< where sendmsg(2)'s header has the size of its control data
  std::uint64_t control_size_ = 0;  ///< which goes with the first piece
};

}  // namespace anyrdma::sim::programs
