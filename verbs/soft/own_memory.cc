#include "verbs/soft/own_memory.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

namespace anyrdma::verbs::soft {

namespace {

// Since Linux 5.14; not in every C library's header.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

struct Pages {
  void* first;
  std::size_t bytes;
};

Pages pages_of(const void* address, std::size_t length) {
  static const std::uintptr_t page = ::getauxval(AT_PAGESZ);
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t first = begin & ~(page - 1);
  const std::uintptr_t end = (begin + length + page - 1) & ~(page - 1);
  return {reinterpret_cast<void*>(first), end - first};
}

// Whether this kernel brings pages in on request.
bool can_ask() {
  static const char own = 1;
  static const bool can = [] {
    const Pages page = pages_of(&own, 1);
    return ::madvise(page.first, page.bytes, kPopulateRead) == 0;
  }();
  return can;
}

}  // namespace

bool has_pages(const void* address, std::size_t length) {
  return length != 0 || pages_of(address, length).bytes != 0;
}

bool bring_in(const void* address, std::size_t length, bool write) {
  if (length == 0) return true;
  const Pages pages = pages_of(address, length);
  if (::madvise(pages.first, pages.bytes, write ? kPopulateWrite : kPopulateRead) == 0) return true;
  return !can_ask();  // an older kernel does not tell, and we trust the application
}

bool is_mapped(const void* address, std::size_t length, bool write) {
  if (length == 0) return true;
  const Pages pages = pages_of(address, length);
  // It looks at the mappings only, and has nothing else to do.
  if (::msync(pages.first, pages.bytes, MS_ASYNC) != 0 && errno == ENOMEM) return false;
  const auto* last = static_cast<const std::uint8_t*>(address) + length - 1;
  return bring_in(address, 1, write) && bring_in(last, 1, write);
}

}  // namespace anyrdma::verbs::soft
