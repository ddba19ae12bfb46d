// Declarations shared by the source files of Mesh.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "transport/fabric/mesh.h"

namespace anyrdma::transport::fabric {

inline constexpr std::size_t kBatch = 16;

/// Whether a system call failed because resources have run out, so that a later call may succeed.
[[nodiscard]] inline bool out_of_resources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

/// Buffers for one sendmmsg or recvmmsg.
struct Mesh::Batch {
  std::array<mmsghdr, kBatch> messages{};
  std::array<std::array<iovec, 2>, kBatch> pieces{};
  std::array<Preamble, kBatch> preambles{};
  std::array<verbs::soft::PacketPtr, kBatch> packets{};

  void set(std::size_t i, std::uint8_t* payload, std::size_t size) {
    pieces[i] = {iovec{preambles[i].data(), kPreambleBytes}, iovec{payload, size}};
    messages[i] = {};
    messages[i].msg_hdr.msg_iov = pieces[i].data();
    messages[i].msg_hdr.msg_iovlen = pieces[i].size();
  }
};

}  // namespace anyrdma::transport::fabric
