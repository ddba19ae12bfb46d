// Converts the Result of C++ functions to what the manual page of each C function says: -1 and
// errno, NULL and errno, or the errno value.
#pragma once

#include <cxxabi.h>

#include <cerrno>
#include <new>
#include <utility>

#include "verbs/foreign_thread.h"
#include "verbs/killed.h"
#include "verbs/result.h"

namespace anyrdma::c_api {

using verbs::errno_code;
using verbs::Result;

/// Runs `call`, which returns a Result, and converts every C++ exception to an error. Only the
/// exception by which pthread_cancel() ends a thread continues, because programs such as rping end
/// their completion thread so.
template <class Call>
auto guarded(Call&& call) -> decltype(call()) {
  try {
    return std::forward<Call>(call)();
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const verbs::Killed&) {
    throw;
  } catch (const verbs::ForeignThread&) {
    return errno_code(EPERM);
  } catch (const std::bad_alloc&) {
    return errno_code(ENOMEM);
  } catch (...) {
    return errno_code(EIO);
  }
}

/// Sets errno to `error` and returns -1.
inline int fail(int error) {
  errno = error;
  return -1;
}

/// Converts a Result for C functions that return 0, or -1 with errno set, such as rdma_* functions
/// and ibv_get_cq_event.
template <class Call>
int minus_one_on_error(Call&& call) {
  const Result<void> result = guarded(std::forward<Call>(call));
  return result ? 0 : fail(result.error().value());
}

/// Converts a Result for C functions that return 0 or the errno value, such as ibv_modify_qp and
/// ibv_dealloc_pd. Also sets errno.
template <class Call>
int errno_on_error(Call&& call) {
  const Result<void> result = guarded(std::forward<Call>(call));
  if (result) return 0;
  errno = result.error().value();
  return errno;
}

/// Converts a Result for C functions that return a pointer, or NULL with errno set, such as
/// ibv_alloc_pd.
template <class Call>
auto null_on_error(Call&& call) -> typename decltype(call())::value_type {
  const auto result = guarded(std::forward<Call>(call));
  if (result) return *result;
  errno = result.error().value();
  return nullptr;
}

}  // namespace anyrdma::c_api
