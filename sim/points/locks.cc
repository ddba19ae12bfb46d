// Where the threads of a program take and leave locks, others may have gone on: a lock that is free
// costs no system call, so nothing outside the program would notice. `anyrdma sim` has the loader
// put this library before libc (LD_PRELOAD); it needs nothing else, and does what libc's functions
// do.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/single_threaded.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "transport/realtime/passing.h"
#include "transport/realtime/point_call.h"

namespace {

std::atomic<bool> nobody_asks{false};

/// syscall(2) without errno, which is the program's.
long point_call() {
  long result = anyrdma::transport::realtime::kPointCall;
  asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
  return result;
}

/// How our own library locks is no business of the program's, nor of who looks for its races.
bool is_ours(void* code) {
  dl_find_object found{};
  return ::_dl_find_object(code, &found) == 0 && found.dlfo_link_map != nullptr &&
         std::strstr(found.dlfo_link_map->l_name, "/libanyrdma.so") != nullptr;
}

void point(void* caller) {
  if (nobody_asks.load(std::memory_order_relaxed) || __libc_single_threaded != 0) return;
  if (is_ours(caller) || anyrdma_pass_point()) return;
  if (point_call() != 0) nobody_asks.store(true, std::memory_order_relaxed);
}

/// Whether both are code of one library.
bool are_of_one_library(void* one, void* other) {
  dl_find_object first{}, second{};
  return ::_dl_find_object(one, &first) == 0 && ::_dl_find_object(other, &second) == 0 &&
         first.dlfo_link_map == second.dlfo_link_map;
}

/// The function of that name in the next library that has it, which is libc or a sanitizer's
/// runtime before libc. Found at the first call, which may come before any constructor here has
/// run. `version`: selects among libc's versions of the name, of which dlsym(3) finds the oldest.
/// dlvsym(3) alone does not find a sanitizer's function, which has no version.
template <class Function>
Function* behind(std::atomic<Function*>& known, const char* name, const char* version = nullptr) {
  Function* function = known.load(std::memory_order_relaxed);
  if (function == nullptr) {
    void* found = ::dlsym(RTLD_NEXT, name);
    if (version != nullptr) {
      void* const versioned = ::dlvsym(RTLD_NEXT, name, version);
      if (are_of_one_library(found, versioned)) found = versioned;
    }
    function = reinterpret_cast<Function*>(found);
    if (function == nullptr) std::abort();  // each libc has it
    known.store(function, std::memory_order_relaxed);
  }
  return function;
}

/// Of conditions: those before it have another layout.
constexpr const char* kVersionOfConditions = "GLIBC_2.3.2";

}  // namespace

// Before what may make others wait, and behind what lets them go on.
// NOLINTBEGIN(cppcoreguidelines-macro-usage): a name is wanted as a symbol and as a text
#define ANYRDMA_TAKES(name, Object, exceptions)        \
  int name(Object* object) exceptions {                \
    static std::atomic<int (*)(Object*)> known{};      \
    point(__builtin_return_address(0));                \
    return behind<int(Object*)>(known, #name)(object); \
  }
#define ANYRDMA_LEAVES(name, Object, version)                               \
  int name(Object* object) noexcept {                                       \
    static std::atomic<int (*)(Object*)> known{};                           \
    const int result = behind<int(Object*)>(known, #name, version)(object); \
    point(__builtin_return_address(0));                                     \
    return result;                                                          \
  }
// NOLINTEND(cppcoreguidelines-macro-usage)

extern "C" {
ANYRDMA_TAKES(pthread_mutex_lock, pthread_mutex_t, noexcept)
ANYRDMA_TAKES(pthread_mutex_trylock, pthread_mutex_t, noexcept)
ANYRDMA_LEAVES(pthread_mutex_unlock, pthread_mutex_t, nullptr)
ANYRDMA_TAKES(pthread_rwlock_rdlock, pthread_rwlock_t, noexcept)
ANYRDMA_TAKES(pthread_rwlock_wrlock, pthread_rwlock_t, noexcept)
ANYRDMA_LEAVES(pthread_rwlock_unlock, pthread_rwlock_t, nullptr)
ANYRDMA_LEAVES(sem_post, sem_t, nullptr)
// Cancellation of its thread unwinds through it.
ANYRDMA_TAKES(sem_wait, sem_t, noexcept(false))
ANYRDMA_TAKES(sem_trywait, sem_t, noexcept)
ANYRDMA_LEAVES(pthread_cond_signal, pthread_cond_t, kVersionOfConditions)
ANYRDMA_LEAVES(pthread_cond_broadcast, pthread_cond_t, kVersionOfConditions)

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  using Wait = int(pthread_cond_t*, pthread_mutex_t*);
  static std::atomic<Wait*> known{};
  point(__builtin_return_address(0));
  return behind<Wait>(known, "pthread_cond_wait", kVersionOfConditions)(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* deadline) {
  using Wait = int(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  static std::atomic<Wait*> known{};
  point(__builtin_return_address(0));
  return behind<Wait>(known, "pthread_cond_timedwait", kVersionOfConditions)(condition, mutex,
                                                                             deadline);
}
}
