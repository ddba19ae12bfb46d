// Buffers of a program that its peer may write to by offset (riomap), and those of the peer.
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cm/rsocket/pages.h"
#include "cm/rsocket/wire.h"
#include "verbs/result.h"

namespace anyrdma::rsocket {

/// The mapped buffers of one stream. Threads: one at a time. Source: rsocket(7).
class Mappings {
 public:
  /// `of_peer`: entries of the own table, which the peer fills.
  explicit Mappings(std::uint32_t of_peer) : of_peer_(of_peer) {}
  ~Mappings();
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;

  /// Begins with the peer's table, which has `peer.mappings` entries behind its targets.
  void begin(ibv_pd* pd, const ConnectData& peer);

  // --- own buffers -------------------------------------------------------------------------------

  /// Registers `length` bytes of the program at `offset`; -1: the address is the offset. With
  /// `remote` the peer may write there after the next update. ENOBUFS: the peer's table is full;
  /// also errors of the registration.
  [[nodiscard]] verbs::Result<::off_t> add(void* memory, std::size_t length, bool remote,
                                           ::off_t offset);
  /// Ends a mapping. EINVAL: there is none of that address and length.
  [[nodiscard]] verbs::Result<void> remove(const void* memory, std::size_t length);
  /// An entry to write into the peer's table.
  struct Update {
    std::uint32_t index = 0;
    ibv_sge entry{};
    std::uint64_t address = 0;
    std::uint32_t key = 0;
  };
  /// Whether the peer must be told of a mapping before the next data.
  [[nodiscard]] bool is_due() const { return !due_.empty(); }
  /// Takes the next due update. Requires is_due().
  [[nodiscard]] Update next_update();
  /// The update of `index` has been sent; its entry is free.
  void on_updated(std::uint32_t index);

  // --- the peer's buffers ------------------------------------------------------------------------

  /// The peer has written `mapping` to the own table. False: there is no such entry.
  [[nodiscard]] bool on_mapped(std::uint32_t index, const Mapping& mapping);
  /// The peer's memory from `offset` to the end of its mapping; nothing: it is not mapped.
  [[nodiscard]] std::optional<Target> find(std::uint64_t offset) const;

 private:
  struct Own {
    ibv_mr* region = nullptr;
    std::optional<std::uint32_t> index;  ///< nothing: local
  };
  [[nodiscard]] std::optional<std::uint32_t> free_index() const;
  [[nodiscard]] bool is_on_its_way(std::uint32_t index) const;
  [[nodiscard]] verbs::Result<void> make_entries();

  ibv_pd* pd_ = nullptr;
  ConnectData peer_;
  std::list<Own> own_;
  std::vector<bool> used_;  ///< entries of the peer's table that have a mapping, or whose update is
                            ///< on its way
  std::vector<std::uint32_t> due_;
  std::vector<std::uint32_t> on_its_way_;
  std::unique_ptr<Pages> entries_;  ///< one for each entry of the peer's table
  ibv_mr* entries_region_ = nullptr;
  std::vector<Mapping> of_peer_;
};

}  // namespace anyrdma::rsocket
