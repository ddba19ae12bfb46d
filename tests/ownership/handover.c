// One thread takes an event, and another one destroys the event's id: `handover wrong|right`. The
// wrong one destroys the id before the event is acknowledged.
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct rdma_event_channel* channel;
static bool wrong;
static sem_t taken;

static void* take(void* unused) {
  struct rdma_cm_event* event = NULL;
  if (rdma_get_cm_event(channel, &event) != 0) abort();
  if (wrong) sem_post(&taken);
  poll(NULL, 0, 10);  // it uses the id; of virtual time
  rdma_ack_cm_event(event);
  if (!wrong) sem_post(&taken);
  return unused;
}

int main(int argc, char** argv) {
  struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(7471)};
  struct rdma_cm_id* id = NULL;
  pthread_t taker;
  inet_pton(AF_INET, "10.0.0.2", &peer.sin_addr);
  wrong = argc == 2 && strcmp(argv[1], "wrong") == 0;
  channel = rdma_create_event_channel();
  if (channel == NULL || sem_init(&taken, 0, 0) != 0) return 2;
  if (pthread_create(&taker, NULL, take, NULL) != 0) return 2;
  if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0) return 2;
  if (rdma_resolve_addr(id, NULL, (struct sockaddr*)&peer, 2000) != 0) return 2;
  while (sem_wait(&taken) != 0) continue;
  rdma_destroy_id(id);
  pthread_join(taker, NULL);
  rdma_destroy_event_channel(channel);
  return 0;
}
