#include "verbs/soft/fuzz/fuzz_connection.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  return anyrdma::verbs::soft::fuzz::fuzz_connection(data, size);
}
