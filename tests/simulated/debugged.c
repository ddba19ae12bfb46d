// A server and its client, for gdb: a thread changes a variable, and a child process does.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPort = 7 };

int counter;
int times = 3;

static void bump(int by) {
  counter += by;
}

static void* work(void* given) {
  for (int i = 0; i < *(int*)given; ++i) bump(1);
  return NULL;
}

static int in_child(void) {
  bump(10);
  return counter;
}

static int serve(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  char text[32] = "";
  if (bind(listener, (struct sockaddr*)&to, sizeof to) != 0 || listen(listener, 1) != 0) return 1;
  const int one = accept(listener, NULL, NULL);
  if (read(one, text, sizeof text - 1) <= 0) return 1;
  pthread_t thread;
  pthread_create(&thread, NULL, work, &times);
  pthread_join(thread, NULL);
  const pid_t child = fork();
  if (child == 0) _exit(in_child());
  int status = 0;
  waitpid(child, &status, 0);
  printf("heard %s, counter %d, child %d\n", text, counter, WEXITSTATUS(status));
  return 0;
}

static int call(const char* address) {
  const char* const said = "hello";
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  inet_aton(address, &to.sin_addr);
  const int one = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(one, (struct sockaddr*)&to, sizeof to) != 0) return 1;
  return write(one, said, strlen(said)) > 0 ? 0 : 1;
}

static int crash(void) {
  volatile int* const nowhere = NULL;
  return *nowhere;
}

static int hang(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  return pthread_mutex_lock(&mutex);
}

// Many instructions without a system call.
static int compute(void) {
  for (volatile int i = 0; i < 50000000; ++i) continue;
  bump(1);
  return 0;
}

int main(int count, char** words) {
  if (count < 2) return serve();
  if (strcmp(words[1], "crash") == 0) return crash();
  if (strcmp(words[1], "hang") == 0) return hang();
  if (strcmp(words[1], "compute") == 0) return compute();
  return call(words[1]);
}
