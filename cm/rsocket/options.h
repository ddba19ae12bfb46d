// Options of streams: those of sockets that have a meaning, and those of RDMA.
#pragma once

#include <rdma/rdma_cma.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cm/rsocket/connection.h"
#include "cm/rsocket/defaults.h"
#include "cm/rsocket/socket.h"

namespace anyrdma::rsocket {

/// The options that a program has set on one stream. A stream that is accepted has those of its
/// listener. Source: rsocket(7), socket(7), tcp(7).
class StreamOptions {
 public:
  /// Sets an option. `connected`: the queue pair exists, so sizes cannot change. ENOPROTOOPT: there
  /// is no such option; EINVAL: the value has the wrong size, or it is too late.
  [[nodiscard]] Result<void> set(int level, int name, std::span<const std::byte> value,
                                 bool connected, rdma_cm_id* id);
  /// Writes the value of an option, at most `value.size()` bytes, and returns their number. The
  /// stream itself answers SO_ERROR. ENOPROTOOPT.
  [[nodiscard]] Result<std::size_t> get(int level, int name, std::span<std::byte> value) const;

  /// How long rclose waits for data that the peer has not received yet.
  [[nodiscard]] Deadline linger() const;
  /// The time between keepalive messages; nothing: the program wants none.
  [[nodiscard]] std::optional<std::chrono::seconds> keep_alive() const;
  /// The sizes of a stream on the device of `id`.
  [[nodiscard]] Settings settings(const rdma_cm_id& id) const;

 private:
  [[nodiscard]] Result<void> set_of_socket(int name, std::span<const std::byte> value,
                                           bool connected, rdma_cm_id* id);
  [[nodiscard]] Result<void> set_of_rdma(int name, int value, bool connected);
  [[nodiscard]] const int* place_of(int level, int name) const;

  Settings settings_ = default_settings();
  ::linger linger_{};
  int reuse_address_ = 0;
  int keep_alive_ = 0;
  int out_of_band_inline_ = 0;
  int no_delay_ = 0;
  int largest_segment_ = 0;
  int only_version_6_ = 0;
  int type_of_service_ = 0;
  int keep_idle_ = 7200;  ///< seconds
  int keep_interval_ = 75;
  int keep_count_ = 9;
};

}  // namespace anyrdma::rsocket
