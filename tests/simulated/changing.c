// Shows what a program sees of devices and addresses that change while it runs.
//   changing watch SECONDS   each second, the devices, their GIDs and the addresses of the host;
//   and
//                            all events of the devices that were there at first
//   changing listen COUNT    listens on any device, and takes COUNT connections, one after the
//   other changing connect ADDRESS [SOURCE]   connects, and disconnects changing route ADDRESS
//   resolves a route
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long milliseconds(void) {
  static struct timespec first;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (first.tv_sec == 0) first = now;
  return (now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000;
}

static void* events_of(void* context) {
  struct ibv_context* const verbs = context;
  struct ibv_async_event event;
  while (ibv_get_async_event(verbs, &event) == 0) {
    printf("event of %s: %s, port %d\n", ibv_get_device_name(verbs->device),
           ibv_event_type_str(event.event_type), event.element.port_num);
    ibv_ack_async_event(&event);
  }
  return NULL;
}

static void print_gids(struct ibv_device* device) {
  struct ibv_context* const verbs = ibv_open_device(device);
  struct ibv_device_attr attributes;
  if (verbs == NULL || ibv_query_device(verbs, &attributes) != 0) {
    printf(" (not open)");
    return;
  }
  printf(" guid %016llx", (unsigned long long)be64toh(attributes.node_guid));
  for (int i = 0; i < 16; ++i) {
    union ibv_gid gid;
    char text[INET6_ADDRSTRLEN];
    struct ibv_gid_entry entry;
    if (ibv_query_gid(verbs, 1, i, &gid) != 0 ||
        ibv_query_gid_ex(verbs, 1, (uint32_t)i, &entry, 0) != 0)
      continue;
    if (IN6_IS_ADDR_LINKLOCAL(gid.raw)) continue;
    printf(" %d=%s", i, inet_ntop(AF_INET6, gid.raw, text, sizeof text));
  }
  ibv_close_device(verbs);
}

static void print_files(void) {
  struct dirent** entries;
  const int count = scandir("/sys/class/infiniband", &entries, NULL, alphasort);
  printf("files:");
  for (int i = 0; i < count; ++i) {
    char path[512], text[64] = "";
    if (entries[i]->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/1/state", entries[i]->d_name);
    FILE* const file = fopen(path, "r");
    if (file != NULL && fgets(text, sizeof text, file) != NULL) text[strcspn(text, "\n")] = '\0';
    if (file != NULL) fclose(file);
    printf(" %s (%s)", entries[i]->d_name, text);
  }
  printf("\n");
}

static void print_all(void) {
  int count = 0;
  struct ibv_device** const devices = ibv_get_device_list(&count);
  if (devices == NULL) count = 0;
  printf("%ld s: %d devices\n", milliseconds() / 1000, count);
  for (int i = 0; i < count; ++i) {
    printf("device %s:", ibv_get_device_name(devices[i]));
    print_gids(devices[i]);
    printf("\n");
  }
  if (devices != NULL) ibv_free_device_list(devices);
  print_files();
  struct ifaddrs* addresses = NULL;
  if (getifaddrs(&addresses) != 0) return;
  printf("interfaces:");
  for (const struct ifaddrs* each = addresses; each != NULL; each = each->ifa_next) {
    char text[INET_ADDRSTRLEN];
    if (each->ifa_addr == NULL || each->ifa_addr->sa_family != AF_INET) continue;
    const struct sockaddr_in* const address = (const struct sockaddr_in*)each->ifa_addr;
    printf(" %s=%s", each->ifa_name, inet_ntop(AF_INET, &address->sin_addr, text, sizeof text));
  }
  printf("\n");
  freeifaddrs(addresses);
}

static int watch(int seconds) {
  const struct timespec second = {1, 0};
  int count = 0;
  struct ibv_device** const devices = ibv_get_device_list(&count);
  for (int i = 0; devices != NULL && i < count; ++i) {
    pthread_t thread;
    struct ibv_context* const verbs = ibv_open_device(devices[i]);
    if (verbs != NULL) pthread_create(&thread, NULL, events_of, verbs);
  }
  milliseconds();
  for (int i = 0; i <= seconds; ++i) {
    print_all();
    clock_nanosleep(CLOCK_MONOTONIC, 0, &second, NULL);
  }
  return 0;
}

static void fill(struct sockaddr_in* address, const char* text) {
  memset(address, 0, sizeof *address);
  address->sin_family = AF_INET;
  address->sin_port = htons(7471);
  if (text != NULL && inet_pton(AF_INET, text, &address->sin_addr) != 1) exit(2);
}

// Takes the next event. Returns its kind.
static int next_event(struct rdma_event_channel* channel, struct rdma_cm_id** id) {
  struct rdma_cm_event* event;
  if (rdma_get_cm_event(channel, &event) != 0) exit(3);
  const int kind = event->event;
  *id = event->id;
  printf("%s %d on %s\n", rdma_event_str(event->event), event->status,
         event->id->verbs == NULL ? "no device" : ibv_get_device_name(event->id->verbs->device));
  rdma_ack_cm_event(event);
  return kind;
}

static void make_pair(struct rdma_cm_id* id) {
  struct ibv_qp_init_attr attributes = {
      .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
      .qp_type = IBV_QPT_RC};
  if (rdma_create_qp(id, NULL, &attributes) != 0) exit(4);
}

static int listens(int count) {
  struct rdma_event_channel* const channel = rdma_create_event_channel();
  struct rdma_cm_id *listener, *id;
  struct sockaddr_in any;
  fill(&any, NULL);
  if (channel == NULL || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) != 0) return 5;
  if (rdma_bind_addr(listener, (struct sockaddr*)&any) != 0 || rdma_listen(listener, 4) != 0)
    return 6;
  for (int ended = 0; ended < count;) {
    switch (next_event(channel, &id)) {
      case RDMA_CM_EVENT_CONNECT_REQUEST:
        make_pair(id);
        if (rdma_accept(id, NULL) != 0) return 7;
        break;
      case RDMA_CM_EVENT_DISCONNECTED:
        rdma_disconnect(id);
        // fall through
      case RDMA_CM_EVENT_DEVICE_REMOVAL:
        rdma_destroy_qp(id);
        rdma_destroy_id(id);
        ++ended;
        break;
      default:
        break;
    }
  }
  return 0;
}

static int connects(const char* to, const char* from, int only_route) {
  struct rdma_event_channel* const channel = rdma_create_event_channel();
  struct rdma_cm_id *own, *id;
  struct sockaddr_in address, source;
  fill(&address, to);
  fill(&source, from);
  source.sin_port = 0;
  if (channel == NULL || rdma_create_id(channel, &own, NULL, RDMA_PS_TCP) != 0) return 5;
  if (rdma_resolve_addr(own, from == NULL ? NULL : (struct sockaddr*)&source,
                        (struct sockaddr*)&address, 1000) != 0) {
    printf("rdma_resolve_addr: %s\n", strerror(errno));
    return 1;
  }
  if (next_event(channel, &id) != RDMA_CM_EVENT_ADDR_RESOLVED || rdma_resolve_route(own, 1500) != 0)
    return 1;
  const int routed = next_event(channel, &id) == RDMA_CM_EVENT_ROUTE_RESOLVED;
  if (only_route) printf("%ld ms\n", milliseconds());
  if (!routed || only_route) return !routed;
  make_pair(own);
  struct rdma_conn_param parameters = {.retry_count = 7};
  if (rdma_connect(own, &parameters) != 0 || next_event(channel, &id) != RDMA_CM_EVENT_ESTABLISHED)
    return 1;
  rdma_disconnect(own);
  if (next_event(channel, &id) != RDMA_CM_EVENT_DISCONNECTED) return 1;
  rdma_destroy_qp(own);
  rdma_destroy_id(own);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  milliseconds();
  if (strcmp(argv[1], "watch") == 0) return watch(atoi(argv[2]));
  if (strcmp(argv[1], "listen") == 0) return listens(atoi(argv[2]));
  return connects(argv[2], argc > 3 ? argv[3] : NULL, strcmp(argv[1], "route") == 0);
}
