#include "transport/fabric/rendezvous/fuzz/fuzz_registry.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  return anyrdma::transport::fabric::fuzz::fuzz_registry(data, size);
}
