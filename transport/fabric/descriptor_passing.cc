#include "transport/fabric/descriptor_passing.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstring>

#include "transport/realtime/prompt_call.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric {
namespace {

struct alignas(cmsghdr) ControlBuffer {
  std::array<char, CMSG_SPACE(kDescriptorsMax * sizeof(int))> bytes{};
};

}  // namespace

ssize_t send_message(int socket, std::span<const std::uint8_t> bytes,
                     std::span<const int> descriptors) {
  CM_ASSERT(descriptors.size() <= kDescriptorsMax);
  iovec piece{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  ControlBuffer control;
  if (!descriptors.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  return realtime::prompt_sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ReceivedMessage receive_message(int socket, std::span<std::uint8_t> bytes) {
  iovec piece{bytes.data(), bytes.size()};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ReceivedMessage result;
  result.size = realtime::prompt_recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (result.size < 0) return result;
  result.truncated = (message.msg_flags & MSG_TRUNC) != 0;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      result.descriptors.emplace_back(fd);
    }
  }
  return result;
}

}  // namespace anyrdma::transport::fabric
