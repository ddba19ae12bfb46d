// The table of a device's objects by handle, like the kernel's. A control call looks up its
// argument by handle and never follows the application's pointer. Therefore a struct with a wrong
// or old handle, or of another context, is refused. A copy of a struct works like the struct.
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

/// Returns the name of a kind of object for messages, such as "protection domain".
[[nodiscard]] std::string_view name_of(ObjectKind kind);

class HandleTable;

/// The entry of one object in the handle table. The destructor removes the entry. The entry keeps
/// the handle's number itself, because the application may overwrite the number in the C struct.
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
  /// Removes the object from the table: its handle becomes invalid.
  void end();
  [[nodiscard]] std::uint32_t handle() const { return handle_; }

 private:
  HandleTable* table_ = nullptr;
  std::uint32_t handle_ = 0;
};

/// The handles of all objects of a device. One number space serves all contexts and kinds, so that
/// a handle of another context never names an object of this one. A number is reused as late as
/// possible, so that an old handle stays invalid for long. Used inside the runtime's critical
/// section.
///
/// An object in the table has a type with `kKind` and a Registration `registration`. The table
/// remembers the context that the object has when it is added. The object must not move, and must
/// be destroyed before the table.
class HandleTable {
 public:
  /// Adds the object and gives it its handle.
  template <class Object>
  [[nodiscard]] std::uint32_t add(Object& object) {
    const std::uint32_t handle = take({Object::kKind, object.context, &object});
    object.registration = Registration(*this, handle);
    return handle;
  }

  /// Looks up `handle`, as the kernel does for a call with the descriptor of `context`. ENOENT: no
  /// object, or an object of another context; EINVAL: an object of another kind. Source: Linux 6.1,
  /// measured for every call in tests/rxe_vm/handles.txt.
  template <class Object>
  [[nodiscard]] Result<Object*> find(const ibv_context* context, std::uint32_t handle) const {
    const Entry* const entry = handle < entries_.size() ? &entries_[handle] : nullptr;
    if (entry == nullptr || entry->kind == ObjectKind::kNone || entry->context != context)
      return errno_code(ENOENT);
    if (entry->kind != Object::kKind) return errno_code(EINVAL);
    return static_cast<Object*>(entry->object);
  }
  /// Looks up an object that the application passed in addition to an object of `context`. ENOENT
  /// if `given` is of another context, although a kernel would use the object of `context` that has
  /// the same number.
  template <class Object, class Given>
  [[nodiscard]] Result<Object*> find(const ibv_context* context, const Given& given) const {
    if (given.context != context) return errno_code(ENOENT);
    return find<Object>(context, given.handle);
  }
  /// Looks up an object by its handle, in the context that `given` itself names. Errors as above.
  template <class Object, class Given>
  [[nodiscard]] Result<Object*> find(const Given& given) const {
    return find<Object>(given.context, given.handle);
  }
  /// Whether an object with this handle existed and was destroyed. The table no longer knows its
  /// kind and its context.
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
