// Converts Result for C callers: to -1 and errno, NULL and errno, or the errno value, as the manual
// page of each call says.
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

/// Runs `call`, which gives a Result, and lets no exception pass into C. Cancelling a thread
/// (pthread_cancel) unwinds through us and has to go on: rping ends its completion thread so.
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

/// Sets errno and gives -1.
inline int fail(int error) {
  errno = error;
  return -1;
}

/// 0, or -1 with errno set: rdma_*, ibv_get_cq_event and others.
template <class Call>
int minus_one_on_error(Call&& call) {
  const Result<void> result = guarded(std::forward<Call>(call));
  return result ? 0 : fail(result.error().value());
}

/// 0 or the errno value, which is left in errno as well: ibv_modify_qp, ibv_dealloc_pd and others.
template <class Call>
int errno_on_error(Call&& call) {
  const Result<void> result = guarded(std::forward<Call>(call));
  if (result) return 0;
  errno = result.error().value();
  return errno;
}

/// The pointer, or NULL with errno set: ibv_alloc_pd and others.
template <class Call>
auto null_on_error(Call&& call) -> typename decltype(call())::value_type {
  const auto result = guarded(std::forward<Call>(call));
  if (result) return *result;
  errno = result.error().value();
  return nullptr;
}

}  // namespace anyrdma::c_api
