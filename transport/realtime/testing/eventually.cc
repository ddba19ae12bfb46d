#include "transport/realtime/testing/eventually.h"

#include <chrono>
#include <thread>

namespace anyrdma::transport::realtime::testing {

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace anyrdma::transport::realtime::testing
