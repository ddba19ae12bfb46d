// The operations of send work requests as data: one row for each ibv_wr_opcode.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "verbs/soft/wire/opcode.h"

namespace anyrdma::verbs::soft {

enum class WorkKind : std::uint8_t {
  kNone,
  kLocal,  ///< without packets: invalidation, binding of a window
  kSend,
  kWrite,
  kRead,
  kAtomic,
  kAtomicWrite,
};

/// Whether the peer answers more than that it arrived: such work counts against the initiator
/// depth.
[[nodiscard]] constexpr bool has_response(WorkKind kind) {
  return kind >= WorkKind::kRead;
}

struct SendOperation {
  ibv_wr_opcode opcode{};
  WorkKind kind = WorkKind::kNone;
  ibv_wc_opcode completion = IBV_WC_SEND;
  /// Its request packets by the number of their Place, without the service's bits.
  std::array<std::uint8_t, 4> packets{};
  bool immediate = false;
  bool invalidate = false;  ///< it names a key of the peer's that becomes invalid
  bool may_inline = false;
};

inline constexpr std::size_t kSendOpcodes = 16;

/// By opcode; WorkKind::kNone where nothing can be asked for so.
[[nodiscard]] constexpr std::array<SendOperation, kSendOpcodes> make_send_operations() {
  using namespace roce;
  using Packets = std::array<std::uint8_t, 4>;  // of the middle, first, last, only
  constexpr Packets kSend{kRcSendMiddle, kRcSendFirst, kRcSendLast, kRcSendOnly};
  constexpr Packets kSendImm{kRcSendMiddle, kRcSendFirst, kRcSendLastImm, kRcSendOnlyImm};
  constexpr Packets kWrite{kRcWriteMiddle, kRcWriteFirst, kRcWriteLast, kRcWriteOnly};
  constexpr Packets kWriteImm{kRcWriteMiddle, kRcWriteFirst, kRcWriteLastImm, kRcWriteOnlyImm};
  constexpr Packets kSendInvalidate{kRcSendMiddle, kRcSendFirst, kRcSendLastInvalidate,
                                    kRcSendOnlyInvalidate};
  const std::array rows{
      SendOperation{.opcode = IBV_WR_SEND,
                    .kind = WorkKind::kSend,
                    .completion = IBV_WC_SEND,
                    .packets = kSend,
                    .may_inline = true},
      SendOperation{.opcode = IBV_WR_SEND_WITH_IMM,
                    .kind = WorkKind::kSend,
                    .completion = IBV_WC_SEND,
                    .packets = kSendImm,
                    .immediate = true,
                    .may_inline = true},
      SendOperation{.opcode = IBV_WR_SEND_WITH_INV,
                    .kind = WorkKind::kSend,
                    .completion = IBV_WC_SEND,
                    .packets = kSendInvalidate,
                    .invalidate = true,
                    .may_inline = true},
      SendOperation{
          .opcode = IBV_WR_LOCAL_INV, .kind = WorkKind::kLocal, .completion = IBV_WC_LOCAL_INV},
      SendOperation{
          .opcode = IBV_WR_BIND_MW, .kind = WorkKind::kLocal, .completion = IBV_WC_BIND_MW},
      SendOperation{.opcode = IBV_WR_RDMA_WRITE,
                    .kind = WorkKind::kWrite,
                    .completion = IBV_WC_RDMA_WRITE,
                    .packets = kWrite,
                    .may_inline = true},
      SendOperation{.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                    .kind = WorkKind::kWrite,
                    .completion = IBV_WC_RDMA_WRITE,
                    .packets = kWriteImm,
                    .immediate = true,
                    .may_inline = true},
      SendOperation{.opcode = IBV_WR_RDMA_READ,
                    .kind = WorkKind::kRead,
                    .completion = IBV_WC_RDMA_READ,
                    .packets = {0, 0, 0, kRcReadRequest}},
      SendOperation{.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
                    .kind = WorkKind::kAtomic,
                    .completion = IBV_WC_COMP_SWAP,
                    .packets = {0, 0, 0, kRcCompareSwap}},
      SendOperation{.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                    .kind = WorkKind::kAtomic,
                    .completion = IBV_WC_FETCH_ADD,
                    .packets = {0, 0, 0, kRcFetchAdd}},
      SendOperation{.opcode = IBV_WR_ATOMIC_WRITE,
                    .kind = WorkKind::kAtomicWrite,
                    .completion = IBV_WC_ATOMIC_WRITE,
                    .packets = {0, 0, 0, kRcAtomicWrite},
                    .may_inline = true},
  };
  std::array<SendOperation, kSendOpcodes> table{};
  for (const SendOperation& row : rows) table[static_cast<std::size_t>(row.opcode)] = row;
  return table;
}
inline constexpr std::array<SendOperation, kSendOpcodes> kSendOperations = make_send_operations();

/// Its row; null for what no connection does.
[[nodiscard]] constexpr const SendOperation* find_operation(ibv_wr_opcode opcode) {
  const auto index = static_cast<std::size_t>(opcode);
  if (index >= kSendOpcodes || kSendOperations[index].kind == WorkKind::kNone) return nullptr;
  return &kSendOperations[index];
}

/// How work of this opcode completes. Precondition: it was posted.
[[nodiscard]] constexpr ibv_wc_opcode completion_opcode(ibv_wr_opcode opcode) {
  return kSendOperations[static_cast<std::size_t>(opcode)].completion;
}

}  // namespace anyrdma::verbs::soft
