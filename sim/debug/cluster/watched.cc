// A program for watchpoints: it changes a number at a known address between system calls.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace {

constexpr std::uintptr_t kAddress = 0x10000000;
volatile int* number = nullptr;

void* write_four(void*) {
  *number = 4;
  return nullptr;
}

}  // namespace

int main() {
  constexpr std::size_t kBytes = 4096;
  number = static_cast<volatile int*>(::mmap(reinterpret_cast<void*>(kAddress), kBytes,
                                             PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  *number = 1;
  (void)::usleep(10);
  *number = 2;
  *number = 3;
  (void)::usleep(10);
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, write_four, nullptr) != 0) return 1;
  (void)::pthread_join(thread, nullptr);
  return *number - 4;
}
