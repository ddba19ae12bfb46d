// The names of libibverbs 1.0 (before 2007), whose structures were others. rdma-core 44 still has
// them for programs of that time; here such a program loads and finds no device, and whatever else
// it asks is refused. No program that was linked since asks for these versions.
#include <cerrno>

#define ANYRDMA_REFUSED(type, name, value) \
  extern "C" type refuse_##name(...);      \
  extern "C" type refuse_##name(...) {     \
    errno = EOPNOTSUPP;                    \
    return value;                          \
  }                                        \
  __asm__(".symver refuse_" #name ", ibv_" #name "@IBVERBS_1.0");

// Those that return an errno value.
ANYRDMA_REFUSED(int, dealloc_pd, EOPNOTSUPP)
ANYRDMA_REFUSED(int, dereg_mr, EOPNOTSUPP)
ANYRDMA_REFUSED(int, destroy_cq, EOPNOTSUPP)
ANYRDMA_REFUSED(int, destroy_srq, EOPNOTSUPP)
ANYRDMA_REFUSED(int, destroy_qp, EOPNOTSUPP)
ANYRDMA_REFUSED(int, destroy_ah, EOPNOTSUPP)
ANYRDMA_REFUSED(int, modify_qp, EOPNOTSUPP)
ANYRDMA_REFUSED(int, modify_srq, EOPNOTSUPP)
ANYRDMA_REFUSED(int, query_qp, EOPNOTSUPP)
ANYRDMA_REFUSED(int, query_srq, EOPNOTSUPP)
ANYRDMA_REFUSED(int, query_device, EOPNOTSUPP)
ANYRDMA_REFUSED(int, query_port, EOPNOTSUPP)
ANYRDMA_REFUSED(int, attach_mcast, EOPNOTSUPP)
ANYRDMA_REFUSED(int, detach_mcast, EOPNOTSUPP)
ANYRDMA_REFUSED(int, resize_cq, EOPNOTSUPP)

// Those that return -1.
ANYRDMA_REFUSED(int, close_device, -1)
ANYRDMA_REFUSED(int, get_async_event, -1)
ANYRDMA_REFUSED(int, get_cq_event, -1)
ANYRDMA_REFUSED(int, query_gid, -1)
ANYRDMA_REFUSED(int, query_pkey, -1)

// Those that return a pointer.
ANYRDMA_REFUSED(void*, get_device_list, nullptr)
ANYRDMA_REFUSED(void*, get_device_name, nullptr)
ANYRDMA_REFUSED(void*, open_device, nullptr)
ANYRDMA_REFUSED(void*, alloc_pd, nullptr)
ANYRDMA_REFUSED(void*, reg_mr, nullptr)
ANYRDMA_REFUSED(void*, create_cq, nullptr)
ANYRDMA_REFUSED(void*, create_srq, nullptr)
ANYRDMA_REFUSED(void*, create_qp, nullptr)
ANYRDMA_REFUSED(void*, create_ah, nullptr)

// Those that cannot fail; there is nothing that they could be asked about.
ANYRDMA_REFUSED(unsigned long long, get_device_guid, 0)
ANYRDMA_REFUSED(void, ack_async_event, )
ANYRDMA_REFUSED(void, ack_cq_events, )
ANYRDMA_REFUSED(void, free_device_list, )

// A driver of libibverbs 1.1: see verbs_register_driver_34.
extern "C" void ignore_register_driver(...);
extern "C" void ignore_register_driver(...) {}
__asm__(".symver ignore_register_driver, ibv_register_driver@IBVERBS_1.1");
