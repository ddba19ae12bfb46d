// Copies data between a message and the application's memory that a scatter/gather list names.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "verbs/soft/memory_table.h"

namespace anyrdma::verbs::soft {

/// Copies the bytes [offset, offset + size) of a message from its gather list. Returns false if the
/// memory cannot be read, or no longer be read. Precondition: the list is long enough.
[[nodiscard]] inline bool gather(const MemoryTable& memory, const ibv_pd* pd, const ibv_sge* list,
                                 std::uint32_t offset, std::uint32_t size, std::uint8_t* out) {
  for (; size > 0; ++list) {
    if (offset >= list->length) {
      offset -= list->length;
      continue;
    }
    const std::uint32_t part = std::min(size, list->length - offset);
    const std::uint8_t* from =
        memory.translate(list->lkey, pd, list->addr + offset, part, kLocalRead);
    if (from != nullptr) {
      if (!memory.copy(out, from, part)) return false;
    } else if (memory.is_null(list->lkey, pd)) {
      std::memset(out, 0, part);
    } else {
      return false;
    }
    out += part;
    size -= part;
    offset = 0;
  }
  return true;
}

/// Returns the address of the bytes [offset, offset + size) of a message. Null: the bytes are in
/// several elements of the gather list, or cannot be read.
[[nodiscard]] inline const std::uint8_t* place_of(const MemoryTable& memory, const ibv_pd* pd,
                                                  std::span<const ibv_sge> list,
                                                  std::uint32_t offset, std::uint32_t size) {
  for (const ibv_sge& piece : list) {
    if (offset < piece.length) {
      if (size > piece.length - offset) return nullptr;
      return memory.translate(piece.lkey, pd, piece.addr + offset, size, 0);
    }
    offset -= piece.length;
  }
  return nullptr;
}

/// Copies bytes of a message to its scatter list, beginning at byte `offset` of the list.
/// IBV_WC_LOC_LEN_ERR: the list is too short; IBV_WC_LOC_PROT_ERR: memory of the list cannot be
/// written.
[[nodiscard]] inline ibv_wc_status scatter(const MemoryTable& memory, const ibv_pd* pd,
                                           std::span<const ibv_sge> list, std::uint64_t offset,
                                           std::span<const std::uint8_t> payload) {
  for (std::size_t i = 0; !payload.empty(); ++i) {
    if (i == list.size()) return IBV_WC_LOC_LEN_ERR;
    const ibv_sge& piece = list[i];
    if (offset >= piece.length) {
      offset -= piece.length;
      continue;
    }
    const std::size_t part = std::min<std::size_t>(payload.size(), piece.length - offset);
    std::uint8_t* to =
        memory.translate(piece.lkey, pd, piece.addr + offset, part, IBV_ACCESS_LOCAL_WRITE);
    if (to != nullptr) {
      // A lent payload may overlap the destination.
      if (!memory.copy(to, payload.data(), part)) return IBV_WC_LOC_PROT_ERR;
    } else if (!memory.is_null(piece.lkey, pd)) {
      return IBV_WC_LOC_PROT_ERR;
    }
    payload = payload.subspan(part);
    offset = 0;
  }
  return IBV_WC_SUCCESS;
}

/// Whether all memory of a scatter/gather list grants the access.
[[nodiscard]] inline bool accessible(const MemoryTable& memory, const ibv_pd* pd,
                                     std::span<const ibv_sge> list, unsigned access) {
  return std::all_of(list.begin(), list.end(), [&](const ibv_sge& piece) {
    return piece.length == 0 ||
           memory.translate(piece.lkey, pd, piece.addr, piece.length, access) != nullptr ||
           memory.is_null(piece.lkey, pd);
  });
}

}  // namespace anyrdma::verbs::soft
