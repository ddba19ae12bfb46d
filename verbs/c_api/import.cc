// Objects of another process, or of another open device: not offered. What an object is lies in the
// memory of the process that made it, and no kernel stands between.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace {

template <class Object>
Object* refuse(bool sensible) {
  errno = sensible ? EOPNOTSUPP : EINVAL;
  return nullptr;
}

}  // namespace

extern "C" {

ibv_context* ibv_import_device(int cmd_fd) {
  return refuse<ibv_context>(cmd_fd >= 0);
}

ibv_pd* ibv_import_pd(ibv_context* context, std::uint32_t) {
  return refuse<ibv_pd>(context != nullptr);
}

ibv_mr* ibv_import_mr(ibv_pd* pd, std::uint32_t) {
  return refuse<ibv_mr>(pd != nullptr);
}

ibv_dm* ibv_import_dm(ibv_context* context, std::uint32_t) {
  return refuse<ibv_dm>(context != nullptr);
}

// Nothing is ever imported.
void ibv_unimport_pd(ibv_pd*) {}
void ibv_unimport_mr(ibv_mr*) {}
void ibv_unimport_dm(ibv_dm*) {}

/// There is no memory of other devices that a software device could reach.
ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t, std::size_t, std::uint64_t, int, int) {
  return refuse<ibv_mr>(pd != nullptr);
}

}  // extern "C"
