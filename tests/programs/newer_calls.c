/* Each call that librdmacm has had since 1.4 and libibverbs since 1.15, as a program of Debian
   unstable makes it: built there, linked with its libraries, run on the drop-in (newer_test.sh).
   Exits with the number of answers that are not as expected. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

static int wrong;

#define EXPECT(what)                                                      \
  do {                                                                    \
    errno = 0;                                                            \
    int met_ = !!(what);                                                  \
    printf("%s %s (errno %d)\n", met_ ? "ok   " : "WRONG", #what, errno); \
    wrong += !met_;                                                       \
  } while (0)

static void write_and_read_events(struct rdma_event_channel* channel, struct rdma_cm_id* id) {
  struct rdma_cm_event* event = NULL;
  EXPECT(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 7, 0x123456789abcdef0) == 0);
  EXPECT(rdma_get_cm_event(channel, &event) == 0);
  EXPECT(event->event == RDMA_CM_EVENT_USER && event->status == 7 && event->id == id);
  EXPECT(event->param.arg == 0x123456789abcdef0);
  EXPECT(rdma_ack_cm_event(event) == 0);
  EXPECT(rdma_write_cm_event(id, RDMA_CM_EVENT_INTERNAL, 0, 0) == -1 && errno == EINVAL);
}

static void look_up(struct rdma_event_channel* channel, struct rdma_cm_id* id) {
  struct rdma_addrinfo hints = {.ai_flags = RAI_DNS}, *found = NULL;
  struct rdma_cm_event* event = NULL;
  EXPECT(rdma_query_addrinfo(id, &found) == -1 && errno == ENOENT);
  EXPECT(rdma_resolve_addrinfo(id, "127.0.0.1", "7471", &hints) == 0);
  EXPECT(rdma_resolve_addrinfo(id, "127.0.0.1", "7471", &hints) == -1 && errno == EBUSY);
  EXPECT(rdma_get_cm_event(channel, &event) == 0);
  EXPECT(event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED && event->status == 0);
  EXPECT(!strcmp(rdma_event_str(event->event), "RDMA_CM_EVENT_ADDRINFO_RESOLVED"));
  EXPECT(rdma_ack_cm_event(event) == 0);
  EXPECT(rdma_query_addrinfo(id, &found) == 0);
  EXPECT(found && found->ai_family == AF_INET && found->ai_dst_addr);
  EXPECT(rdma_resolve_addr(id, NULL, found->ai_dst_addr, 1000) == 0);
  rdma_freeaddrinfo(found);
  EXPECT(rdma_get_cm_event(channel, &event) == 0 && event->event == RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT(rdma_ack_cm_event(event) == 0);

  hints.ai_flags = RAI_SA;
  EXPECT(rdma_resolve_addrinfo(id, NULL, "0x7471", &hints) == -1 && errno == EINVAL);
  EXPECT(rdma_getaddrinfo(NULL, "0x7471", &hints, &found) == -1 && errno == ENOENT);
}

static void use_memory(struct ibv_pd* pd) {
  static char memory[4096];
  struct ibv_mr_init_attr attr = {
      .length = sizeof(memory), .access = IBV_ACCESS_LOCAL_WRITE, .addr = memory};
  struct ibv_buf* buffer = NULL;
  struct ibv_mr* mr;
  char* own;

  attr.comp_mask = IBV_REG_MR_MASK_ADDR;
  EXPECT((mr = ibv_reg_mr_ex(pd, &attr)) && mr->addr == memory && mr->length == sizeof(memory));
  EXPECT(ibv_dereg_mr(mr) == 0);
  attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH;
  EXPECT(!ibv_reg_mr_ex(pd, &attr) && errno == EOPNOTSUPP);
  EXPECT(!ibv_alloc_dmah(pd->context, &(struct ibv_dmah_init_attr){0}) && errno == EOPNOTSUPP);

  EXPECT((own = ibv_alloc_buf(pd, 10000, &buffer)) && (uintptr_t)own % 4096 == 0);
  EXPECT((mr = ibv_reg_buf_mr(pd, buffer, own + 100, 9900, IBV_ACCESS_LOCAL_WRITE)) &&
         mr->addr == own + 100);
  EXPECT(ibv_dereg_mr(mr) == 0);
  EXPECT(!ibv_reg_buf_mr(pd, buffer, own + 100, 10000, 0) && errno == EINVAL);
  EXPECT(ibv_export_buf_dmabuf_fd(buffer) == -1 && errno == ENODATA);
  ibv_free_buf(buffer);
}

static void ask_for_the_rest(struct ibv_context* context) {
  struct ibv_alloc_dm_attr wanted = {.length = 64};
  struct epoll_event event = {.events = EPOLLIN};
  struct ibv_port_attr port;
  struct ibv_dm* dm;
  uint64_t speed;
  int set;

  EXPECT(ibv_query_port_speed(context, 1, &speed) == 0 && speed == 1000);
  EXPECT(ibv_query_port(context, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE &&
         port.active_speed_ex == 0);
  EXPECT((dm = ibv_alloc_dm(context, &wanted)) != NULL);
  EXPECT(ibv_dm_export_dmabuf_fd(dm) == -1 && errno == EOPNOTSUPP);
  EXPECT(ibv_free_dm(dm) == 0);
  EXPECT((set = repoll_create(0)) >= 0);
  EXPECT(repoll_ctl(set, EPOLL_CTL_ADD, set, &event) == -1 && errno == EINVAL);
  EXPECT(repoll_wait(set, &event, 1, 0) == 0);
  EXPECT(rclose(set) == 0);
  EXPECT(!strcmp(ibv_event_type_str(IBV_EVENT_DEVICE_SPEED_CHANGE), "Device link speed change"));
}

static void use_counters(struct ibv_pd* pd) {
  struct ibv_comp_cntr_init_attr of_bytes = {.type = IBV_COMP_CNTR_TYPE_BYTES};
  struct ibv_qp_attach_comp_cntr_attr attr = {.op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_SEND};
  struct ibv_cq* cq = ibv_create_cq(pd->context, 4, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
  struct ibv_qp* qp = ibv_create_qp(pd, &init);
  struct ibv_comp_cntr_caps caps;
  struct ibv_comp_cntr* counter;
  uint64_t value;

  EXPECT(ibv_query_comp_cntr_caps(pd->context, &caps) == 0 && caps.max_counters > 0 &&
         (caps.supported_qp_attach_ops & IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE) != 0);
  EXPECT((counter = ibv_create_comp_cntr(pd->context, &of_bytes)) &&
         counter->context == pd->context);
  EXPECT(ibv_set_comp_cntr(counter, 1) == 0 && ibv_inc_comp_cntr(counter, 1) == 0);
  EXPECT(ibv_set_err_comp_cntr(counter, 5) == 0 && ibv_inc_err_comp_cntr(counter, 1) == 0);
  EXPECT(ibv_read_comp_cntr(counter, &value) == 0 && value == 2);
  EXPECT(ibv_read_err_comp_cntr(counter, &value) == 0 && value == 6);
  EXPECT(ibv_qp_attach_comp_cntr(qp, counter, &attr) == 0);
  EXPECT(ibv_destroy_comp_cntr(counter) == EBUSY);
  EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_comp_cntr(counter) == 0);
  EXPECT(ibv_destroy_cq(cq) == 0 && ibv_dealloc_dmah(NULL) == EINVAL);
}

int main(int count, char** arguments) {
  struct rdma_event_channel* channel = rdma_create_event_channel();
  struct rdma_cm_id* id = NULL;
  struct ibv_pd* pd;

  (void)arguments;
  (void)count;
  EXPECT(channel && rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
  write_and_read_events(channel, id);
  look_up(channel, id);
  EXPECT((pd = ibv_alloc_pd(id->verbs)) != NULL);
  use_memory(pd);
  ask_for_the_rest(id->verbs);
  use_counters(pd);
  EXPECT(ibv_dealloc_pd(pd) == 0);
  EXPECT(rdma_destroy_id(id) == 0);
  rdma_destroy_event_channel(channel);
  printf("%d wrong\n", wrong);
  return wrong;
}
