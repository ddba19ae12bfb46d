#include "sim/monitor.h"

#include <atomic>

namespace anyrdma::sim {
namespace {

std::atomic<Monitor::Factory> installed{nullptr};

}  // namespace

void Monitor::install(Factory factory) {
  installed = factory;
}

std::unique_ptr<Monitor> Monitor::make() {
  const Factory factory = installed;
  return factory == nullptr ? nullptr : factory();
}

}  // namespace anyrdma::sim
