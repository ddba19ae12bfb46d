// The table of send operations: one row for each ibv_wr_opcode.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "verbs/soft/wire/opcode.h"

namespace anyrdma::verbs::soft {

enum class WorkKind : std::uint8_t {
  kNone,
  kLocal,  ///< executed by the device alone: invalidation, binding of a window
  kSend,
  kWrite,
  kRead,
  kAtomic,
  kAtomicWrite,
};

/// Whether the peer's response to this kind of request contains data (READ, atomic). Such requests
/// count against the initiator depth.
[[nodiscard]] constexpr bool has_response(WorkKind kind) {
  return kind >= WorkKind::kRead;
}

struct SendOperation {
  ibv_wr_opcode opcode{};
  WorkKind kind = WorkKind::kNone;
  ibv_wc_opcode completion = IBV_WC_SEND;
  /// Opcodes of the request's packets: of the middle, first, last and only packet. The bits of the
  /// service are zero.
  std::array<std::uint8_t, 4> packets{};
  bool immediate = false;
  bool invalidate = false;  ///< whether the request names a key of the peer, which it invalidates
  bool may_inline = false;
};

inline constexpr std::size_t kSendOpcodes = 16;

/// Makes the table of send operations, one row for each opcode. A row has WorkKind::kNone if no
/// request has that opcode.
[[nodiscard]] constexpr std::array<SendOperation, kSendOpcodes> make_send_operations() {
  using namespace roce;
  // The opcodes of the middle, first, last and only packet.
  using Packets = std::array<std::uint8_t, 4>;
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

/// Returns the row of an opcode; null: no connection supports it.
[[nodiscard]] constexpr const SendOperation* find_operation(ibv_wr_opcode opcode) {
  const auto index = static_cast<std::size_t>(opcode);
  if (index >= kSendOpcodes || kSendOperations[index].kind == WorkKind::kNone) return nullptr;
  return &kSendOperations[index];
}

/// Returns the completion opcode for a send opcode. Precondition: a request with this opcode was
/// posted.
[[nodiscard]] constexpr ibv_wc_opcode completion_opcode(ibv_wr_opcode opcode) {
  return kSendOperations[static_cast<std::size_t>(opcode)].completion;
}

}  // namespace anyrdma::verbs::soft
