// What rdma-core's drivers ask of libibverbs. Programs that use a driver's extensions (perftest,
// UCX) are linked against libmlx5.so.1 and libefa.so.1, which do not load unless each of these
// names is there. No device here is theirs: a driver may register, as its constructor does at once,
// and is never called; whatever it asks of the kernel is not supported.
#include <cerrno>

#include "verbs/c_api/driver_commands.h"

namespace {

int refuse() {
  errno = EOPNOTSUPP;
  return errno;
}

void* refuse_pointer() {
  refuse();
  return nullptr;
}

}  // namespace

// Only drivers know the arguments of these functions, which are ignored here.
// NOLINTBEGIN(bugprone-reserved-identifier)
#define ANYRDMA_REFUSED(name) \
  int name(...) {             \
    return refuse();          \
  }

extern "C" {

/// Whether a driver may free what belongs to a device that is gone; each sets it for itself.
bool verbs_allow_disassociate_destroy = false;

void verbs_register_driver_34(...) {}
void verbs_set_ops(...) {}
void verbs_init_cq(...) {}
void verbs_uninit_context(...) {}
void __verbs_log(...) {}

void* _verbs_init_and_alloc_context(...) {
  return refuse_pointer();
}

// How many attributes a driver's command to the kernel takes: none is ever sent.
unsigned __ioctl_final_num_attrs(unsigned count, ...) {
  return count;
}

// No device here has a folder in /sys.
int ibv_read_ibdev_sysfs_file(...) {
  errno = ENOENT;
  return -1;
}

void* verbs_open_device(...) {
  return refuse_pointer();
}

ANYRDMA_DRIVER_COMMANDS(ANYRDMA_REFUSED)

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
