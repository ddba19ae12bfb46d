// The table of a device's objects by handle, like a kernel's. A control call looks up its argument
// by handle and never follows the pointer. So a struct with a wrong or old handle, or of another
// context, is refused, and a copy of a struct works like the struct.
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

/// Returns the name of a kind for messages, such as "protection domain".
[[nodiscard]] std::string_view name_of(ObjectKind kind);

class HandleTable;

/// An object's entry in the table, which is removed when this is destroyed. It keeps the handle's
/// number itself, because the application may overwrite the number in the C struct.
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

/// One number space for all contexts and kinds, so that a handle of another context never names an
/// object of this one. A number is reused as late as possible, so that an old handle stays invalid
/// for long. Used inside the critical section.
///
/// The type of an object has `kKind` and a Registration `registration`. Its context is the one at
/// the time when it is added. It must not move, and must be destroyed before the table.
class HandleTable {
 public:
  /// Adds the object and gives it its handle.
  template <class Object>
  [[nodiscard]] std::uint32_t add(Object& object) {
    const std::uint32_t handle = take({Object::kKind, object.context, &object});
    object.registration = Registration(*this, handle);
    return handle;
  }

  /// Looks up `handle` as a kernel does through the descriptor of `context`. ENOENT: no object, or
  /// an object of another context; EINVAL: an object of another kind. Source: Linux 6.1, measured
  /// for every call in tests/rxe_vm/handles.txt.
  template <class Object>
  [[nodiscard]] Result<Object*> find(const ibv_context* context, std::uint32_t handle) const {
    const Entry* const entry = handle < entries_.size() ? &entries_[handle] : nullptr;
    if (entry == nullptr || entry->kind == ObjectKind::kNone || entry->context != context)
      return errno_code(ENOENT);
    if (entry->kind != Object::kKind) return errno_code(EINVAL);
    return static_cast<Object*>(entry->object);
  }
  /// Like the function above, for a second object that the application passed beside one of
  /// `context`. ENOENT if the second object is of another context, although a kernel would use the
  /// object of `context` with that number.
  template <class Object, class Given>
  [[nodiscard]] Result<Object*> find(const ibv_context* context, const Given& given) const {
    if (given.context != context) return errno_code(ENOENT);
    return find<Object>(context, given.handle);
  }
  /// Like the function above, for an object of the context that the object itself names.
  template <class Object, class Given>
  [[nodiscard]] Result<Object*> find(const Given& given) const {
    return find<Object>(given.context, given.handle);
  }
  /// Whether an object with this handle existed and was destroyed. Its kind and context are not
  /// known any more.
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
