#include "sim/programs/io/parts.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace anyrdma::sim::programs {
namespace {

constexpr std::uint64_t kPartsAtMost = 1024;

bool has_header(long number) {
  return number == SYS_recvmsg || number == SYS_sendmsg;
}

bool has_list(long number) {
  return number == SYS_writev || number == SYS_pwritev2;
}

}  // namespace

std::optional<Parts> Parts::of(Thread& thread, const Call& call) {
  std::uint64_t at = call.arguments[1];
  std::uint64_t count = call.arguments[2];
  std::uint64_t control_size = 0;
  if (!has_header(call.number) && !has_list(call.number))
    return Parts(0, {{reinterpret_cast<void*>(at), count}});
  if (has_header(call.number)) {
    const auto header = thread.tracee().peek<msghdr>(call.arguments[1]);
    if (!header) return std::nullopt;
    at = reinterpret_cast<std::uint64_t>(header->msg_iov);
    count = header->msg_iovlen;
    control_size = header->msg_controllen;
  }
  if (count > kPartsAtMost) return std::nullopt;
  std::vector<iovec> all(count);
  if (!thread.tracee().read(at, std::as_writable_bytes(std::span(all)))) return std::nullopt;
  Parts parts(at, std::move(all));
  if (call.number == SYS_sendmsg && control_size != 0) {
    parts.control_at_ = call.arguments[1] + offsetof(msghdr, msg_controllen);
    parts.control_size_ = control_size;
  }
  return parts;
}

std::uint64_t Parts::left() const {
  std::uint64_t bytes = 0;
  for (const iovec& each : left_) bytes += each.iov_len;
  return bytes;
}

void Parts::take(std::uint64_t bytes) {
  begun_ |= bytes != 0;
  for (iovec& each : left_) {
    const auto some = std::min<std::uint64_t>(bytes, each.iov_len);
    each.iov_base = static_cast<std::byte*>(each.iov_base) + some;
    each.iov_len -= some;
    bytes -= some;
  }
}

void Parts::set(Thread& thread, Call& call) const {
  if (at_ == 0) {
    call.arguments[1] = reinterpret_cast<std::uint64_t>(left_.front().iov_base);
    call.arguments[2] = left_.front().iov_len;
    return;
  }
  (void)thread.tracee().write(at_, std::as_bytes(std::span(left_)));
  if (control_at_ != 0 && begun_) (void)thread.tracee().poke(control_at_, std::uint64_t{0});
}

void Parts::restore(Thread& thread) const {
  if (at_ == 0) return;
  (void)thread.tracee().write(at_, std::as_bytes(std::span(all_)));
  if (control_at_ != 0) (void)thread.tracee().poke(control_at_, control_size_);
}

}  // namespace anyrdma::sim::programs
