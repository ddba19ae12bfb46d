// Checks and copies a posted send work request, for all services.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "verbs/soft/rc_constants.h"

namespace anyrdma::verbs::soft {

[[nodiscard]] inline std::uint64_t total_length(const ibv_send_wr& request) {
  std::uint64_t length = 0;
  for (int i = 0; i < request.num_sge; ++i) length += request.sg_list[i].length;
  return length;
}

/// Checks the flags, list and length of a send request against a queue's capabilities.
/// `may_inline`: the operation sends data. Returns the errno of ibv_post_send, 0 for success.
[[nodiscard]] inline int check_send_request(const ibv_send_wr& request, const ibv_qp_cap& cap,
                                            bool may_inline) {
  constexpr unsigned kFlags =
      IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;
  if ((request.send_flags & ~kFlags) != 0) return EINVAL;
  if (request.num_sge < 0) return EINVAL;
  if (static_cast<std::uint32_t>(request.num_sge) > cap.max_send_sge) return EINVAL;
  if (request.num_sge > 0 && request.sg_list == nullptr) return EINVAL;
  const std::uint64_t length = total_length(request);
  if (length > kMessageBytesMax) return EINVAL;
  const bool in_line = (request.send_flags & IBV_SEND_INLINE) != 0;
  return in_line && (!may_inline || length > cap.max_inline_data) ? EINVAL : 0;
}

/// Copies the request's gather list, or the data of an inline request, behind `work` in its slot of
/// the send queue, and stores the length. Precondition: the request was checked.
template <class Work>
void copy_list(Work& work, const ibv_send_wr& request) {
  work.length = 0;
  for (int i = 0; i < request.num_sge; ++i) work.length += request.sg_list[i].length;
  if (!work.inline_data) {
    for (int i = 0; i < request.num_sge; ++i) work.list()[i] = request.sg_list[i];
    return;
  }
  std::uint8_t* out = work.data();
  for (int i = 0; i < request.num_sge; ++i) {
    const ibv_sge& piece = request.sg_list[i];
    if (piece.length == 0) continue;
    std::memcpy(out, reinterpret_cast<const void*>(piece.addr), piece.length);
    out += piece.length;
  }
}

}  // namespace anyrdma::verbs::soft
