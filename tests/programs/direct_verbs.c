/* The entry points of vendors' libraries, as programs call them to find out whether the device is
   one of theirs: each refuses the software device with the errno after which UCX, libfabric, SPDK
   and NCCL use plain verbs. Exits with the number of answers that are not as expected. */
#include <errno.h>
#include <infiniband/efadv.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int wrong;

#define EXPECT(what)                                                      \
  do {                                                                    \
    errno = 0;                                                            \
    int met_ = !!(what);                                                  \
    printf("%s %s (errno %d)\n", met_ ? "ok   " : "WRONG", #what, errno); \
    wrong += !met_;                                                       \
  } while (0)

static void ask_mlx5(struct ibv_context* context, struct ibv_pd* pd, struct ibv_cq* cq,
                     struct ibv_qp* qp) {
  struct mlx5dv_context_attr opening = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
  struct mlx5dv_context about = {0};
  struct ibv_cq_init_attr_ex cq_attr = {.cqe = 16};
  struct mlx5dv_cq_init_attr cq_more = {0};
  struct ibv_qp_init_attr_ex qp_attr = {.qp_type = IBV_QPT_RC,
                                        .comp_mask = IBV_QP_INIT_ATTR_PD,
                                        .pd = pd,
                                        .send_cq = cq,
                                        .recv_cq = cq};
  struct mlx5dv_qp_init_attr qp_more = {0};
  struct mlx5dv_qp qp_inside = {0};
  struct mlx5dv_cq cq_inside = {0};
  struct mlx5dv_obj of_qp = {.qp = {.in = qp, .out = &qp_inside}};
  struct mlx5dv_obj of_cq = {.cq = {.in = cq, .out = &cq_inside}};
  struct mlx5dv_mkey_init_attr key = {.pd = pd, .max_entries = 1};
  char in[16] = {0}, out[16] = {0};
  uint32_t number = 0;
  static char memory[4096];

  EXPECT(!mlx5dv_is_supported(context->device));
  EXPECT(!mlx5dv_open_device(context->device, &opening) && errno == EOPNOTSUPP);
  EXPECT(mlx5dv_query_device(context, &about) == EOPNOTSUPP);
  EXPECT(!mlx5dv_create_cq(context, &cq_attr, &cq_more) && errno == EOPNOTSUPP);
  EXPECT(!mlx5dv_create_qp(context, &qp_attr, &qp_more) && errno == EOPNOTSUPP);
  EXPECT(mlx5dv_init_obj(&of_qp, MLX5DV_OBJ_QP) == EOPNOTSUPP);
  EXPECT(mlx5dv_init_obj(&of_cq, MLX5DV_OBJ_CQ) == EOPNOTSUPP);
  EXPECT(!mlx5dv_devx_alloc_uar(context, 0) && errno == EOPNOTSUPP);
  EXPECT(mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out)) == EOPNOTSUPP);
  EXPECT(mlx5dv_devx_query_eqn(context, 0, &number) == EOPNOTSUPP);
  EXPECT(!mlx5dv_devx_umem_reg(context, memory, sizeof(memory), 0) && errno == EOPNOTSUPP);
  EXPECT(!mlx5dv_devx_create_event_channel(context, 0) && errno == EOPNOTSUPP);
  EXPECT(!mlx5dv_create_mkey(&key) && errno == EOPNOTSUPP);
}

static void ask_efa(struct ibv_context* context, struct ibv_pd* pd, struct ibv_cq* cq) {
  struct efadv_device_attr about = {0};
  struct ibv_cq_init_attr_ex cq_attr = {.cqe = 16};
  struct efadv_cq_init_attr cq_more = {0};
  struct ibv_qp_init_attr_ex qp_attr = {.qp_type = IBV_QPT_DRIVER,
                                        .comp_mask = IBV_QP_INIT_ATTR_PD,
                                        .pd = pd,
                                        .send_cq = cq,
                                        .recv_cq = cq};
  struct efadv_qp_init_attr qp_more = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};

  EXPECT(efadv_query_device(context, &about, sizeof(about)) == EOPNOTSUPP);
  EXPECT(!efadv_create_cq(context, &cq_attr, &cq_more, sizeof(cq_more)) && errno == EOPNOTSUPP);
  EXPECT(!efadv_create_qp_ex(context, &qp_attr, &qp_more, sizeof(qp_more)) && errno == EOPNOTSUPP);
}

int main(void) {
  int count = 0;
  struct ibv_device** devices = ibv_get_device_list(&count);
  EXPECT(devices && count > 0);
  if (wrong) return wrong;
  struct ibv_context* context = ibv_open_device(devices[0]);
  struct ibv_pd* pd = ibv_alloc_pd(context);
  struct ibv_cq* cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
  struct ibv_qp* qp = ibv_create_qp(pd, &attr);
  EXPECT(context && pd && cq && qp);
  ask_mlx5(context, pd, cq, qp);
  ask_efa(context, pd, cq);
  EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dealloc_pd(pd) == 0);
  EXPECT(ibv_close_device(context) == 0);
  ibv_free_device_list(devices);
  printf("%d wrong\n", wrong);
  return wrong;
}
