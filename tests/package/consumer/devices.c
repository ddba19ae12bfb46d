/* Linked with the drop-in libraries: names the first device, and makes an id. */
#include <rdma/rdma_cma.h>
#include <stdio.h>

int main(void) {
  struct ibv_device **devices = ibv_get_device_list(NULL);
  struct rdma_event_channel *channel = rdma_create_event_channel();
  struct rdma_cm_id *id;
  if (devices == NULL || devices[0] == NULL || channel == NULL) return 1;
  printf("device %s\n", ibv_get_device_name(devices[0]));
  ibv_free_device_list(devices);
  if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0 || rdma_destroy_id(id) != 0) return 2;
  rdma_destroy_event_channel(channel);
  return 0;
}
