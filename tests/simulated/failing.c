// A server and a client for core files: the client fails while the server waits with two threads.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kPort = 7 };

struct order {
  int number;
  char text[32];
};

int taken = 41;
const struct order* volatile last_order;
int* shared_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;

static void wait_for_work(int worker) {
  pthread_mutex_lock(&mutex);
  while (worker != 0) pthread_cond_wait(&more, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void* work(void* given) {
  wait_for_work(*(int*)given);
  return NULL;
}

static int serve(void) {
  static int worker = 12;
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  struct order* const order = malloc(sizeof *order);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  pthread_t thread;
  shared_count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *shared_count = 1234;
  pthread_create(&thread, NULL, work, &worker);
  if (bind(listener, (struct sockaddr*)&to, sizeof to) != 0 || listen(listener, 1) != 0) return 1;
  const int one = accept(listener, NULL, NULL);
  if (read(one, order, sizeof *order) != sizeof *order) return 1;
  last_order = order;
  ++taken;
  if (write(one, "", 1) != 1) return 1;
  return read(one, order, sizeof *order) == 0 ? 0 : 1;
}

static int crash(const struct order* order) {
  volatile int* const nowhere = NULL;
  return *nowhere + order->number;
}

static int hang(const struct order* order) {
  pthread_mutex_lock(&mutex);
  return pthread_mutex_lock(&mutex) + order->number;
}

static int give_up(const struct order* order) {
  printf("gave up order %d\n", order->number);
  exit(3);
}

static int fail(const char* how, const struct order* order) {
  if (strcmp(how, "crash") == 0) return crash(order);
  if (strcmp(how, "hang") == 0) return hang(order);
  return strcmp(how, "exit") == 0 ? give_up(order) : 0;
}

int main(int count, char** words) {
  if (count < 3) return serve();
  const struct order order = {.number = 77, .text = "seventy-seven"};
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  inet_aton(words[1], &to.sin_addr);
  const int one = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(one, (struct sockaddr*)&to, sizeof to) != 0) return 1;
  if (write(one, &order, sizeof order) != sizeof order) return 1;
  char answer;
  if (read(one, &answer, 1) != 1) return 1;
  return fail(words[2], &order);
}
