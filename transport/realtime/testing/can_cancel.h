// What tests of thread cancellation must know of their surroundings.
#pragma once

namespace anyrdma::transport::realtime::testing {

/// AddressSanitizer takes the unwinding of a cancelled thread for a broken stack.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kCanCancelThreads = false;
#elif defined(__has_feature)
inline constexpr bool kCanCancelThreads = !__has_feature(address_sanitizer);
#else
inline constexpr bool kCanCancelThreads = true;
#endif

}  // namespace anyrdma::transport::realtime::testing
