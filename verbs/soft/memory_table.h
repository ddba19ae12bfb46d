// Memory regions and windows by key; converts keys to addresses.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "verbs/soft/graveyard.h"
#include "verbs/soft/handle_table.h"
#include "verbs/soft/thread_sanitizer.h"

namespace anyrdma::verbs::soft {

/// The object behind the application's ibv_dm (device memory).
struct SoftDm : ibv_dm {
  static constexpr ObjectKind kKind = ObjectKind::kDeviceMemory;
  Registration registration;
  std::size_t size;
  std::uint32_t regions = 0;  ///< regions that are registered in this memory

  /// The bytes of the device memory, with room for their alignment. All imported objects for the
  /// same memory share them.
  std::shared_ptr<std::vector<std::uint8_t>> storage;
  [[nodiscard]] std::uint8_t* bytes();
};

/// The object behind the application's ibv_mr.
struct SoftMr : ibv_mr {
  static constexpr ObjectKind kKind = ObjectKind::kMemoryRegion;
  Registration registration;
  std::uint32_t index;  ///< in MemoryTable

  /// First address of the region in the requests of peers and in gather lists.
  std::uint64_t iova;
  unsigned granted;           ///< ibv_access_flags
  std::uint32_t windows = 0;  ///< windows that are bound to this region

  /// The device memory in which the region is; null: the region is in the application's memory.
  SoftDm* device_memory = nullptr;
  /// The mapping of the dma-buf in which the region is; null: the region is in other memory.
  std::shared_ptr<void> dmabuf{};
  /// The key under which NearMemory has the region; 0: the region is not published.
  std::uint32_t published = 0;
  bool null = false;  ///< a null memory region: see MemoryTable::is_null
};

/// The object behind the application's ibv_mw.
struct SoftMw : ibv_mw {
  static constexpr ObjectKind kKind = ObjectKind::kMemoryWindow;
  Registration registration;
  std::uint32_t index = 0;   ///< in MemoryTable
  SoftMr* region = nullptr;  ///< the region that the window is bound to; null: none
};

/// The parameters of a bind request for a memory window. Objects are named by key, because they may
/// be destroyed before the binding is carried out.
struct WindowBinding {
  std::uint32_t window;   ///< a key of the window, whatever its low byte
  std::uint32_t key;      ///< only the low byte counts: see window_key.h
  std::uint32_t region;   ///< lkey
  std::uint64_t address;  ///< as the region has it
  std::uint64_t length;   ///< 0: unbind (type 1)
  unsigned access;        ///< ibv_access_flags
};

/// The access right for local reads, which ibv_access_flags do not have. Windows do not grant it.
inline constexpr unsigned kLocalRead = 1u << 31;

/// The memory regions and windows of a device, by key. A key is (index << 8) | generation: after
/// deregistration a key stays invalid for the next 255 registrations at its index. The lkey equals
/// the rkey. For a bound window of type 2, the application chooses the low byte of the key.
class MemoryTable {
 public:
  /// `handles` must outlive the table.
  explicit MemoryTable(HandleTable* handles) : handles_(handles) {}
  /// Sets the generation of the first key at each index. Devices with other numbers have other
  /// keys, so that a key of one device gives no access on another. Precondition: no key exists.
  void set_first_generation(std::uint8_t generation) { first_generation_ = generation; }

  /// Registers a region; returns null if `limit` regions exist already.
  [[nodiscard]] SoftMr* add(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                            unsigned access, std::uint32_t limit);
  /// Creates a null memory region: its bytes read as zero and cannot be changed. The region has the
  /// largest possible length, and grants local access only.
  [[nodiscard]] SoftMr* add_null(ibv_pd* pd, std::uint32_t limit);
  /// Whether a local key belongs to a null memory region. Call this function if translate() finds
  /// no memory for the key.
  [[nodiscard]] bool is_null(std::uint32_t key, const void* domain) const;
  /// Whether a key belongs to a region with IBV_ACCESS_RELAXED_ORDERING, or to a window on one.
  [[nodiscard]] bool is_relaxed(std::uint32_t key) const;
  /// Changes the properties of a region, as ibv_rereg_mr does. The keys of the region stay the
  /// same.
  void change(SoftMr& region, ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
              unsigned access);
  /// Returns the region of a key; null: there is none.
  [[nodiscard]] const SoftMr* find_region(std::uint32_t key) const;
  /// Whether a key gives access to a dma-buf: of a region, or of a window on one.
  [[nodiscard]] bool is_dmabuf(std::uint32_t key) const;
  /// Returns the key of the region to which a key gives access: a region's own, or a window's. 0:
  /// there is none.
  [[nodiscard]] std::uint32_t region_key_of(std::uint32_t key) const;
  /// Returns the region with this handle, whatever its context is; null: there is no such region.
  [[nodiscard]] const SoftMr* region_of_handle(std::uint32_t handle) const;
  /// Ends all access through the keys of a region and of the windows that are bound to it.
  void revoke(const SoftMr& region);
  /// Removes a region. Precondition: no window is bound to it.
  void remove(SoftMr* region);
  /// Removes the regions, windows and device memory of a context.
  void remove_all_of(const ibv_context* context, Graveyard& graveyard);
  /// Calls `visit` with every region of a context.
  template <class Visit>
  void for_each_of(const ibv_context* context, Visit visit) {
    for (Slot& slot : slots_)
      if (slot.region && slot.region->context == context) visit(*slot.region);
  }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Creates device memory filled with zeros. Returns null if all device memory together would
  /// exceed `limit` bytes.
  [[nodiscard]] SoftDm* add_device_memory(ibv_context* context, std::size_t bytes,
                                          std::size_t limit);
  /// Creates another object for the device memory with this handle. Null: there is no such handle.
  [[nodiscard]] SoftDm* import_device_memory(ibv_context* context, std::uint32_t handle);
  /// Frees device memory. Precondition: no region is registered in it.
  void remove_device_memory(SoftDm* memory);
  [[nodiscard]] std::size_t device_memories() const { return device_memories_.size(); }

  /// Creates a window that is not bound; null: `limit` windows exist.
  [[nodiscard]] SoftMw* add_window(ibv_pd* pd, ibv_mw_type type, std::uint32_t limit);
  void remove_window(SoftMw* window);
  [[nodiscard]] std::size_t windows() const { return windows_; }
  /// Binds a window as a bind request on `qp` says (IBTA vol 1, 10.6.7.2). Returns false if the
  /// binding is not allowed.
  [[nodiscard]] bool bind(const WindowBinding& binding, const ibv_qp& qp);
  /// Ends the binding of a type 2 window that `qp` has bound; the window's key becomes invalid.
  /// Returns false if `key` belongs to no such window.
  [[nodiscard]] bool invalidate(std::uint32_t key, const ibv_qp& qp);
  /// Ends the bindings of all type 2 windows that the QP has bound.
  void unbind_all_of(const ibv_qp& qp);

  /// Returns the memory at [address, address + length) of the region or window with this key.
  /// Returns null unless the key is valid, belongs to `domain`, covers the range and grants all of
  /// `access`. `domain` is a PD or, for a type 2 window, the QP that bound the window. `length`
  /// must not be 0, because no key is checked for an empty range (IBTA vol 1, 9.4.3).
  [[nodiscard]] std::uint8_t* translate(std::uint32_t key, const void* domain,
                                        std::uint64_t address, std::uint64_t length,
                                        unsigned access) const {
    const std::uint32_t index = key >> 8;
    if (index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    if (slot.key != key || slot.domain != domain) return nullptr;
    const std::uint64_t offset = address - slot.iova;
    if (offset > slot.length || length > slot.length - offset) return nullptr;
    if ((slot.granted & access) != access)
      return slot.on_demand == 0 ? nullptr : fault(slot, offset, length, access);
    return slot.base + offset;
  }

  /// Returns the memory for a request that `qp` has received from its peer. Like translate(), but
  /// type 2 windows that `qp` has bound are allowed as well.
  [[nodiscard]] std::uint8_t* translate_remote(std::uint32_t key, const ibv_pd* pd,
                                               const ibv_qp& qp, std::uint64_t address,
                                               std::uint64_t length, unsigned access) const {
    std::uint8_t* at = translate(key, pd, address, length, access);
    return at != nullptr ? at : translate(key, &qp, address, length, access);
  }

  /// The type of a function that calls `body`, which accesses application memory. If that memory
  /// cannot be accessed, the function returns false instead of ending the process. `body` must need
  /// no cleanup. Without such a guard, the fault ends the process.
  using Guard = bool (*)(void (*body)(void*), void* context);
  void set_guard(Guard guard) { guard_ = guard; }
  /// Calls `body`, which reads or writes memory that translate() returned. Returns false if the
  /// memory is not mapped, or no longer mapped.
  template <class Body>
  [[nodiscard]] bool touch(Body body) const {
    const thread_sanitizer::Hidden hidden;
    if (guard_ != nullptr) return guard_([](void* it) { (*static_cast<Body*>(it))(); }, &body);
    body();
    return true;
  }
  /// Copies to or from memory that translate() returned, like memmove. Returns false if the memory
  /// is not mapped, or no longer mapped.
  [[nodiscard]] bool copy(void* to, const void* from, std::size_t size) const {
    return touch([=] { std::memmove(to, from, size); });
  }

 private:
  // A key with the memory to which it gives access, and the region or window that it belongs to.
  struct Slot {
    std::uint32_t key = 0;
    unsigned granted = 0;
    // Rights that are granted only after a check that the memory is mapped.
    unsigned on_demand = 0;
    const void* domain = nullptr;  // null: opens nothing
    std::uint64_t iova = 0;
    std::uint64_t length = 0;
    std::uint8_t* base = nullptr;
    std::unique_ptr<SoftMr> region;
    std::unique_ptr<SoftMw> window;
  };
  [[nodiscard]] std::uint32_t take_index();
  void empty(std::uint32_t index, Graveyard* graveyard = nullptr);
  static void grant(Slot& slot, unsigned access, bool on_demand);
  static void open(Slot& slot, const SoftMr& region, void* memory);
  [[nodiscard]] static std::uint8_t* fault(const Slot& slot, std::uint64_t offset,
                                           std::uint64_t length, unsigned access);
  void close(Slot& slot);
  [[nodiscard]] static bool may_bind(const WindowBinding& binding, const SoftMw& window,
                                     const Slot* region, const ibv_qp& qp);

  HandleTable* handles_;
  // Index 0 is never used, so the key 0 is always invalid.
  std::vector<Slot> slots_ = std::vector<Slot>(1);
  std::uint8_t first_generation_ = 0;
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
  std::size_t windows_ = 0;
  std::vector<std::unique_ptr<SoftDm>> device_memories_;
  Guard guard_ = nullptr;
};

}  // namespace anyrdma::verbs::soft
