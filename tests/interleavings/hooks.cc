// What g++ and clang call for -fsanitize=thread, in the place of ThreadSanitizer's runtime: see its
// tsan_interface.h and tsan_interface_atomic.h. Where nothing is watched they do what was asked.
#include "tests/interleavings/hooks.h"

#include <cstring>

// The names are the compilers'.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)

namespace {

namespace watch = anyrdma::interleavings;

std::uintptr_t number(const volatile void* at) {
  return reinterpret_cast<std::uintptr_t>(at);
}
std::memory_order order_of(int order) {
  return static_cast<std::memory_order>(order);
}
void plain(const volatile void* at, std::size_t size, bool writes) {
  if (size != 0 && watch::watched(number(at), size)) watch::on_plain(number(at), size, writes);
}

template <class T>
T load(const volatile T* at, int order) {
  if (!watch::watched(number(at), sizeof(T))) return __atomic_load_n(at, __ATOMIC_SEQ_CST);
  return static_cast<T>(watch::on_load(number(at), sizeof(T), order_of(order)));
}
template <class T>
void store(volatile T* at, T value, int order) {
  if (!watch::watched(number(at), sizeof(T))) return __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
  watch::on_store(number(at), sizeof(T), value, order_of(order));
}
/// `change`: the new value for the old one.
template <class T, class Change>
T modify(volatile T* at, int order, const Change& change) {
  if (watch::watched(number(at), sizeof(T))) {
    const auto changed = [&](std::uint64_t& value) {
      value = change(static_cast<T>(value));
      return true;
    };
    return static_cast<T>(watch::on_modify(number(at), sizeof(T), changed, order_of(order),
                                           std::memory_order_relaxed));
  }
  T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &old, change(old), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
  return old;
}
template <class T>
int compare_exchange(volatile T* at, T* expected, T desired, int order, int failure) {
  if (!watch::watched(number(at), sizeof(T))) {
    const bool done = __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,
                                                  __ATOMIC_SEQ_CST);
    return done ? 1 : 0;
  }
  const T wanted = *expected;
  const auto change = [&](std::uint64_t& value) {
    if (static_cast<T>(value) != wanted) return false;
    value = desired;
    return true;
  };
  *expected = static_cast<T>(
      watch::on_modify(number(at), sizeof(T), change, order_of(order), order_of(failure)));
  return *expected == wanted ? 1 : 0;
}

}  // namespace

// Types as arguments. NOLINTBEGIN(bugprone-macro-parentheses)
#define HOOKS_OF_PLAIN_ACCESSES(size)                \
  void __tsan_read##size(void* at) {                 \
    plain(at, size, false);                          \
  }                                                  \
  void __tsan_write##size(void* at) {                \
    plain(at, size, true);                           \
  }                                                  \
  void __tsan_unaligned_read##size(const void* at) { \
    plain(at, size, false);                          \
  }                                                  \
  void __tsan_unaligned_write##size(void* at) {      \
    plain(at, size, true);                           \
  }                                                  \
  void __tsan_volatile_read##size(void* at) {        \
    plain(at, size, false);                          \
  }                                                  \
  void __tsan_volatile_write##size(void* at) {       \
    plain(at, size, true);                           \
  }                                                  \
  void __tsan_read_write##size(void* at) {           \
    plain(at, size, true);                           \
  }                                                  \
  void __tsan_unaligned_read_write##size(void* at) { \
    plain(at, size, true);                           \
  }

#define HOOKS_OF_ATOMICS(bits, T)                                                                \
  T __tsan_atomic##bits##_load(const volatile T* at, int order) {                                \
    return load(at, order);                                                                      \
  }                                                                                              \
  void __tsan_atomic##bits##_store(volatile T* at, T value, int order) {                         \
    store(at, value, order);                                                                     \
  }                                                                                              \
  T __tsan_atomic##bits##_exchange(volatile T* at, T value, int order) {                         \
    return modify(at, order, [=](T) { return value; });                                          \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_add(volatile T* at, T value, int order) {                        \
    return modify(at, order, [=](T old) { return static_cast<T>(old + value); });                \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_sub(volatile T* at, T value, int order) {                        \
    return modify(at, order, [=](T old) { return static_cast<T>(old - value); });                \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_and(volatile T* at, T value, int order) {                        \
    return modify(at, order, [=](T old) { return static_cast<T>(old & value); });                \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_or(volatile T* at, T value, int order) {                         \
    return modify(at, order, [=](T old) { return static_cast<T>(old | value); });                \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_xor(volatile T* at, T value, int order) {                        \
    return modify(at, order, [=](T old) { return static_cast<T>(old ^ value); });                \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T desired,      \
                                                    int order, int failure) {                    \
    return compare_exchange(at, expected, desired, order, failure);                              \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected, T desired,        \
                                                  int order, int failure) {                      \
    return compare_exchange(at, expected, desired, order, failure);                              \
  }                                                                                              \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* at, T expected, T desired, int order, \
                                               int failure) {                                    \
    (void)compare_exchange(at, &expected, desired, order, failure);                              \
    return expected;                                                                             \
  }

// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void** /*at*/) {}
void __tsan_vptr_update(void** /*at*/, void* /*value*/) {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}
void __tsan_read_range(void* at, unsigned long size) {
  plain(at, size, false);
}
void __tsan_write_range(void* at, unsigned long size) {
  plain(at, size, true);
}

HOOKS_OF_PLAIN_ACCESSES(1)
HOOKS_OF_PLAIN_ACCESSES(2)
HOOKS_OF_PLAIN_ACCESSES(4)
HOOKS_OF_PLAIN_ACCESSES(8)
HOOKS_OF_PLAIN_ACCESSES(16)

HOOKS_OF_ATOMICS(8, std::uint8_t)
HOOKS_OF_ATOMICS(16, std::uint16_t)
HOOKS_OF_ATOMICS(32, std::uint32_t)
HOOKS_OF_ATOMICS(64, std::uint64_t)

void __tsan_atomic_thread_fence(int order) {
  if (watch::watched(0, 0)) watch::on_fence(order_of(order));
}
void __tsan_atomic_signal_fence(int /*order*/) {}

// The linker's --wrap leads calls of memcpy and its like here.
void* __real_memcpy(void* to, const void* from, std::size_t size);
void* __real_memmove(void* to, const void* from, std::size_t size);
void* __real_memset(void* to, int value, std::size_t size);

void* __wrap_memcpy(void* to, const void* from, std::size_t size) {
  plain(from, size, false);
  plain(to, size, true);
  return __real_memcpy(to, from, size);
}
void* __wrap_memmove(void* to, const void* from, std::size_t size) {
  plain(from, size, false);
  plain(to, size, true);
  return __real_memmove(to, from, size);
}
void* __wrap_memset(void* to, int value, std::size_t size) {
  plain(to, size, true);
  return __real_memset(to, value, size);
}
void* __tsan_memcpy(void* to, const void* from, std::size_t size) {
  return __wrap_memcpy(to, from, size);
}
void* __tsan_memmove(void* to, const void* from, std::size_t size) {
  return __wrap_memmove(to, from, size);
}
void* __tsan_memset(void* to, int value, std::size_t size) {
  return __wrap_memset(to, value, size);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
