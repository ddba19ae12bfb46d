// Checks and copies a posted send work request, for all services.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
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
/// `longest`: the largest length in bytes that posting accepts. `may_inline`: the operation sends
/// data. Returns the errno of ibv_post_send, 0 for success.
[[nodiscard]] inline int check_send_request(const ibv_send_wr& request, const ibv_qp_cap& cap,
                                            std::uint64_t longest, bool may_inline) {
  constexpr unsigned kFlags =
      IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;
  if ((request.send_flags & ~kFlags) != 0) return EINVAL;
  if (request.num_sge < 0) return EINVAL;
  if (static_cast<std::uint32_t>(request.num_sge) > cap.max_send_sge) return EINVAL;
  if (request.num_sge > 0 && request.sg_list == nullptr) return EINVAL;
  const std::uint64_t length = total_length(request);
  if (length > longest) return EINVAL;
  const bool in_line = (request.send_flags & IBV_SEND_INLINE) != 0;
  return in_line && (!may_inline || length > cap.max_inline_data) ? EINVAL : 0;
}

/// Copies the request's gather list, or the data of an inline request, behind `work` in its slot of
/// the send queue. Stores the length; a length above kMessageBytesMax is stored as that plus 1.
/// Precondition: the request was checked.
template <class Work>
void copy_list(Work& work, const ibv_send_wr& request) {
  const std::uint64_t length = total_length(request);
  work.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kMessageBytesMax + 1));
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
