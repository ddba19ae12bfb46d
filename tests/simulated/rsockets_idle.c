// What goes on in rsockets while the program calls nothing: `rsockets_idle serve` on one host and
// `rsockets_idle talk ADDRESS` on another, or the same with `watch` and `idle`. Exits with the
// number of wrong answers.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { kPort = 7500, kConnections = 3 };

static int wrong;

#define EXPECT(what)                                                             \
  do {                                                                           \
    errno = 0;                                                                   \
    int met_ = !!(what);                                                         \
    if (!met_) printf("WRONG line %d: %s (errno %d)\n", __LINE__, #what, errno); \
    wrong += !met_;                                                              \
  } while (0)

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/// Does nothing for so long, in virtual time.
static void idle(int seconds) {
  poll(NULL, 0, seconds * 1000);
}

static int listen_here(int backlog) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  int listener = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT(rbind(listener, (struct sockaddr*)&address, sizeof(address)) == 0);
  EXPECT(rlisten(listener, backlog) == 0);
  return listener;
}

static int connect_to(int socket, const char* text) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  inet_pton(AF_INET, text, &address.sin_addr);
  return rconnect(socket, (struct sockaddr*)&address, sizeof(address));
}

static short events_of(int socket, short wanted, int milliseconds) {
  struct pollfd entry = {.fd = socket, .events = wanted};
  return rpoll(&entry, 1, milliseconds) < 0 ? POLLNVAL : entry.revents;
}

/// Accepts nothing for 10 s. By then the peers are connected and have sent.
static int serve(void) {
  char byte = 0;
  int listener = listen_here(kConnections);
  idle(10);
  for (int i = 0; i < kConnections; ++i) {
    int socket = raccept(listener, NULL, NULL);
    EXPECT(socket >= 0);
    EXPECT(rrecv(socket, &byte, 1, 0) == 1 && byte == 'a' + i);
    EXPECT(rsend(socket, &byte, 1, 0) == 1);
    EXPECT(rrecv(socket, &byte, 1, 0) == 0);
    EXPECT(rclose(socket) == 0);
  }
  EXPECT(rclose(listener) == 0);
  // The address is free at once, and peers that were not accepted are told.
  listener = listen_here(1);
  idle(10);
  EXPECT(rclose(listener) == 0);
  printf("%d wrong\n", wrong);
  return wrong;
}

static int talk(const char* server) {
  int sockets[kConnections];
  char byte = 0;
  idle(1);
  for (int i = 0; i < kConnections; ++i) {
    const double began = now();
    sockets[i] = rsocket(AF_INET, SOCK_STREAM, 0);
    if (i == 0) {
      EXPECT(connect_to(sockets[i], server) == 0);
      EXPECT(now() - began < 1);
    } else {  // without a call until it is connected
      EXPECT(rfcntl(sockets[i], F_SETFL, O_NONBLOCK) == 0);
      EXPECT(connect_to(sockets[i], server) == -1 && errno == EINPROGRESS);
      idle(1);
      EXPECT(events_of(sockets[i], POLLOUT, 0) == POLLOUT);
      EXPECT(rfcntl(sockets[i], F_SETFL, 0) == 0);
    }
    byte = (char)('a' + i);
    EXPECT(rsend(sockets[i], &byte, 1, 0) == 1);
  }
  for (int i = 0; i < kConnections; ++i) {
    EXPECT(rrecv(sockets[i], &byte, 1, 0) == 1 && byte == 'a' + i);
    EXPECT(rclose(sockets[i]) == 0);
  }
  idle(1);
  int socket = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT(connect_to(socket, server) == 0);
  EXPECT(rrecv(socket, &byte, 1, 0) <= 0);  // the listener was closed
  EXPECT(rclose(socket) == 0);
  printf("%d wrong\n", wrong);
  return wrong;
}

/// Waits for a peer that says nothing, with keepalive messages (`seconds` > 0) or without.
static int watch(int seconds) {
  char byte = 0;
  int on = 1, answer = 0;
  socklen_t length = sizeof(answer);
  int listener = listen_here(1);
  int socket = raccept(listener, NULL, NULL);
  EXPECT(socket >= 0);
  EXPECT(rsetsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &answer, length) == -1 && errno == EINVAL);
  EXPECT(rgetsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &answer, &length) == 0 && answer == 7200);
  if (seconds > 0) {
    EXPECT(rsetsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) == 0);
    EXPECT(rsetsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds)) == 0);
  }
  const double began = now();
  const ssize_t got = rrecv(socket, &byte, 1, 0);
  const char* what = got < 0 ? strerror(errno) : got == 0 ? "end" : "data";
  printf("%s after %d s\n", what, (int)(now() - began));
  EXPECT(rclose(socket) == 0 && rclose(listener) == 0);
  return wrong;
}

static int be_idle(const char* server) {
  int socket = rsocket(AF_INET, SOCK_STREAM, 0);
  idle(1);
  EXPECT(connect_to(socket, server) == 0);
  idle(60);
  EXPECT(rclose(socket) == 0);
  return wrong;
}

int main(int count, char** arguments) {
  if (count == 2 && strcmp(arguments[1], "serve") == 0) return serve();
  if (count == 3 && strcmp(arguments[1], "talk") == 0) return talk(arguments[2]);
  if (count == 2 && strcmp(arguments[1], "watch") == 0) return watch(0);
  if (count == 2 && strcmp(arguments[1], "keepalive") == 0) return watch(3);
  if (count == 3 && strcmp(arguments[1], "idle") == 0) return be_idle(arguments[2]);
  fprintf(stderr, "usage: rsockets_idle serve | talk ADDRESS | watch | keepalive | idle ADDRESS\n");
  return 2;
}
