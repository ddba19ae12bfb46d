// Functions of librdmacm 1.4 and 1.5 (rdma-core 60 and 65), which Debian 12's headers do not
// declare. The declarations equal those of newer headers, so a build with newer headers may contain
// both.
#pragma once

#include <rdma/rdma_cma.h>
#include <sys/epoll.h>

#include <cstdint>

extern "C" {

int rdma_resolve_addrinfo(rdma_cm_id* id, const char* node, const char* service,
                          const rdma_addrinfo* hints);
int rdma_query_addrinfo(rdma_cm_id* id, rdma_addrinfo** info);
int rdma_write_cm_event(rdma_cm_id* id, rdma_cm_event_type event, int status, std::uint64_t arg);

int repoll_create(int flags);
int repoll_ctl(int epfd, int op, int fd, epoll_event* event);
int repoll_wait(int epfd, epoll_event* events, int maxevents, int timeout);

}  // extern "C"
