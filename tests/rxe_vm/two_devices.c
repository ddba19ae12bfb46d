// What a program sees of a host with two interfaces and a device on each, and of their addresses,
// which change. Its argument is a command, which is executed with a number before each further
// part: it makes the change of that number, or waits until it has been made.
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_context* devices[2];

static const char* name_of(const struct ibv_context* verbs) {
  return verbs == NULL ? "no device" : ibv_get_device_name(verbs->device);
}

static void take(struct sockaddr_in* address, const char* text, int port) {
  memset(address, 0, sizeof *address);
  address->sin_family = AF_INET;
  address->sin_port = htons((unsigned short)port);
  if (inet_pton(AF_INET, text, &address->sin_addr) != 1) exit(2);
}

// Each device's IPv4 addresses, with their indices, and its asynchronous events.
static void print_devices(void) {
  for (int i = 0; i < 2; ++i) {
    struct ibv_port_attr port;
    if (ibv_query_port(devices[i], 1, &port) != 0) exit(3);
    printf("%s is %s:", name_of(devices[i]), port.state == IBV_PORT_ACTIVE ? "active" : "down");
    for (int index = 0; index < port.gid_tbl_len && index < 16; ++index) {
      union ibv_gid gid;
      struct ibv_gid_entry entry;
      char text[INET6_ADDRSTRLEN];
      if (ibv_query_gid_ex(devices[i], 1, (unsigned)index, &entry, 0) != 0) continue;
      gid = entry.gid;
      if (!IN6_IS_ADDR_V4MAPPED(gid.raw)) continue;
      inet_ntop(AF_INET, gid.raw + 12, text, sizeof text);
      if (strncmp(text, "10.", 3) != 0) continue;
      printf(" %d %s", index, text);
    }
    printf("\n");
    struct pollfd ready = {.fd = devices[i]->async_fd, .events = POLLIN};
    while (poll(&ready, 1, 0) == 1) {
      struct ibv_async_event event;
      if (ibv_get_async_event(devices[i], &event) != 0) exit(3);
      printf("%s: %s, port %d\n", name_of(devices[i]), ibv_event_type_str(event.event_type),
             event.element.port_num);
      ibv_ack_async_event(&event);
    }
  }
}

static void resolve(const char* from, const char* to) {
  struct rdma_event_channel* const channel = rdma_create_event_channel();
  struct rdma_cm_id* id;
  struct rdma_cm_event* event;
  struct sockaddr_in source, destination;
  take(&destination, to, 7471);
  take(&source, from == NULL ? "0.0.0.0" : from, 0);
  if (channel == NULL || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0) exit(4);
  printf("from %s to %s: ", from == NULL ? "any" : from, to);
  if (rdma_resolve_addr(id, from == NULL ? NULL : (struct sockaddr*)&source,
                        (struct sockaddr*)&destination, 500) != 0) {
    printf("%s\n", strerror(errno));
  } else if (rdma_get_cm_event(channel, &event) == 0) {
    char own[INET_ADDRSTRLEN];
    const struct sockaddr_in* const local = (const struct sockaddr_in*)rdma_get_local_addr(id);
    inet_ntop(AF_INET, &local->sin_addr, own, sizeof own);
    printf("%s %d, %s of %s\n", rdma_event_str(event->event), event->status, own,
           name_of(id->verbs));
    rdma_ack_cm_event(event);
  }
  rdma_destroy_id(id);
  rdma_destroy_event_channel(channel);
}

static struct rdma_cm_event* next_of(struct rdma_event_channel* channel) {
  struct rdma_cm_event* event;
  if (rdma_get_cm_event(channel, &event) != 0) exit(5);
  return event;
}

static void expect(struct rdma_event_channel* channel) {
  struct rdma_cm_event* const event = next_of(channel);
  printf("%s %d on %s\n", rdma_event_str(event->event), event->status, name_of(event->id->verbs));
  rdma_ack_cm_event(event);
}

static void make_pair(struct rdma_cm_id* id) {
  struct ibv_qp_init_attr attributes = {
      .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
      .qp_type = IBV_QPT_RC};
  if (rdma_create_qp(id, NULL, &attributes) != 0) exit(6);
}

// To a listener of any address.
static void connect_to(struct rdma_event_channel* listening, const char* to) {
  struct rdma_event_channel* const channel = rdma_create_event_channel();
  struct rdma_cm_id *id, *other;
  struct sockaddr_in destination;
  struct rdma_conn_param parameters = {.retry_count = 7};
  take(&destination, to, 7471);
  if (channel == NULL || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0) exit(4);
  if (rdma_resolve_addr(id, NULL, (struct sockaddr*)&destination, 500) != 0) exit(7);
  expect(channel);
  if (rdma_resolve_route(id, 500) != 0) exit(7);
  expect(channel);
  make_pair(id);
  if (rdma_connect(id, &parameters) != 0) exit(7);
  struct rdma_cm_event* const request = next_of(listening);
  other = request->id;
  printf("%s on %s\n", rdma_event_str(request->event), name_of(other->verbs));
  rdma_ack_cm_event(request);
  make_pair(other);
  if (rdma_accept(other, NULL) != 0) exit(7);
  expect(channel);
  expect(listening);
  rdma_disconnect(id);
  expect(listening);
  rdma_disconnect(other);
  expect(channel);
  rdma_destroy_qp(other);
  rdma_destroy_id(other);
  rdma_destroy_qp(id);
  rdma_destroy_id(id);
  rdma_destroy_event_channel(channel);
}

static void change(const char* command, int number) {
  char line[256];
  snprintf(line, sizeof line, "%s %d", command, number);
  fflush(stdout);
  if (system(line) != 0) exit(8);
  printf("-- %d\n", number);
}

int main(int argc, char** argv) {
  struct sockaddr_in any;
  struct rdma_cm_id* listener;
  if (argc != 2) return 2;
  int count = 0;
  struct ibv_device** const list = ibv_get_device_list(&count);
  if (list == NULL || count != 2) return 3;
  for (int i = 0; i < 2; ++i) {
    const int second = strcmp(ibv_get_device_name(list[i]), "rxe1") == 0;
    devices[second] = ibv_open_device(list[i]);
  }
  struct rdma_event_channel* const listening = rdma_create_event_channel();
  take(&any, "0.0.0.0", 7471);
  if (listening == NULL || rdma_create_id(listening, &listener, NULL, RDMA_PS_TCP) != 0) return 4;
  if (rdma_bind_addr(listener, (struct sockaddr*)&any) != 0 || rdma_listen(listener, 4) != 0)
    return 4;
  printf("a listener of any address is on %s\n", name_of(listener->verbs));

  print_devices();
  resolve(NULL, "10.9.0.1");
  resolve(NULL, "10.9.5.1");
  resolve("10.9.6.1", "10.9.0.1");
  connect_to(listening, "10.9.0.1");
  connect_to(listening, "10.9.5.1");
  change(argv[1], 1);  // rail1 gets 10.9.6.1
  print_devices();
  resolve(NULL, "10.9.6.1");
  connect_to(listening, "10.9.6.1");
  change(argv[1], 2);  // rail1 loses 10.9.5.1
  print_devices();
  resolve("10.9.5.1", "10.9.0.1");
  resolve(NULL, "10.9.5.2");
  connect_to(listening, "10.9.6.1");
  change(argv[1], 3);  // rail1 gets 10.9.7.1
  print_devices();
  connect_to(listening, "10.9.7.1");
  change(argv[1], 4);  // rail0 gets the address that rail1 has lost
  print_devices();
  connect_to(listening, "10.9.5.1");
  change(argv[1], 5);  // rail1 loses its link
  print_devices();
  connect_to(listening, "10.9.0.1");
  resolve(NULL, "10.9.7.2");
  change(argv[1], 6);  // rail1 has a link again
  print_devices();
  connect_to(listening, "10.9.6.1");
  return 0;
}
