// The objects of a device by their handles, as in a kernel. A control call looks up its argument by
// handle and never follows the pointer. So a struct with a wrong or stale handle, or of another
// context, is refused, and a copy of a struct works as the struct.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "verbs/result.h"
#include "verbs/soft/ring.h"

namespace anyrdma::verbs::soft {

enum class ObjectKind : std::uint8_t {
  kNone,
  kProtectionDomain,
  kCompletionQueue,
  kQueuePair,
  kSharedReceiveQueue,
  kMemoryRegion,
  kMemoryWindow,
  kAddressHandle,
  kDeviceMemory,
  kExtendedDomain,
};

/// "protection domain" and so on.
[[nodiscard]] std::string_view name_of(ObjectKind kind);

class HandleTable;

/// An object's place in the table, which it leaves when this ends. The number is kept apart from
/// the one in the C struct, which belongs to the application and may be scribbled on.
class Registration {
 public:
  Registration() = default;
  Registration(HandleTable& table, std::uint32_t handle) : table_(&table), handle_(handle) {}
  Registration(Registration&& other) noexcept
      : table_(std::exchange(other.table_, nullptr)), handle_(other.handle_) {}
  Registration& operator=(Registration&& other) noexcept {
    end();
    table_ = std::exchange(other.table_, nullptr);
    handle_ = other.handle_;
    return *this;
  }
  ~Registration() { end(); }
  /// The object has no handle any more.
  void end();
  [[nodiscard]] std::uint32_t handle() const { return handle_; }

 private:
  HandleTable* table_ = nullptr;
  std::uint32_t handle_ = 0;
};

/// One number space for all contexts and kinds, so that a handle of another context never names an
/// own object. A number is reused as late as is cheap, so a stale handle is invalid for a long
/// time. Used inside the critical section.
///
/// The type of an object has `kKind` and a Registration `registration`. Its context is the one at
/// the time when it is added. It must not move, and must be destroyed before the table.
class HandleTable {
 public:
  /// Gives the object its handle.
  template <class Object>
  [[nodiscard]] std::uint32_t add(Object& object) {
    const std::uint32_t handle = take({Object::kKind, object.context, &object});
    object.registration = Registration(*this, handle);
    return handle;
  }

  /// Looks up `handle` as a kernel does through the descriptor of `context`. ENOENT: no object, or
  /// one of another context; EINVAL: an object of another kind. Source: Linux 6.1, asked for every
  /// call in tests/rxe_vm/handles.txt.
  template <class Object>
  [[nodiscard]] Result<Object*> find(const ibv_context* context, std::uint32_t handle) const {
    const Entry* const entry = handle < entries_.size() ? &entries_[handle] : nullptr;
    if (entry == nullptr || entry->kind == ObjectKind::kNone || entry->context != context)
      return errno_code(ENOENT);
    if (entry->kind != Object::kKind) return errno_code(EINVAL);
    return static_cast<Object*>(entry->object);
  }
  /// The same for what an application has given beside something of that context. The other device
  /// may have the same number for something else, which a kernel would take: ENOENT.
  template <class Object, class Given>
  [[nodiscard]] Result<Object*> find(const ibv_context* context, const Given& given) const {
    if (given.context != context) return errno_code(ENOENT);
    return find<Object>(context, given.handle);
  }
  /// The same for what an application has given, through its own context.
  template <class Object, class Given>
  [[nodiscard]] Result<Object*> find(const Given& given) const {
    return find<Object>(given.context, given.handle);
  }
  /// Whether there was an object of this handle, which has ended; of which kind and context is
  /// forgotten.
  [[nodiscard]] bool is_stale(std::uint32_t handle) const {
    return handle != 0 && handle < entries_.size() && entries_[handle].kind == ObjectKind::kNone;
  }

 private:
  friend class Registration;
  struct Entry {
    ObjectKind kind = ObjectKind::kNone;
    const ibv_context* context = nullptr;
    void* object = nullptr;
  };
  [[nodiscard]] std::uint32_t take(const Entry& entry);
  void remove(std::uint32_t handle);

  std::vector<Entry> entries_ = std::vector<Entry>(1);  // 0 is unused: an empty struct's handle
  Ring<std::uint32_t> free_;
};

}  // namespace anyrdma::verbs::soft
