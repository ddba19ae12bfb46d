// Streams of rsocket(7) in each state, and wrong calls in each: `rsockets alone`, or `rsockets
// serve` on one host and `rsockets talk ADDRESS` on another. Exits with the number of wrong
// answers.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { kPort = 7500, kLarge = 1000000 };

static int wrong;

#define EXPECT(what)                                                             \
  do {                                                                           \
    errno = 0;                                                                   \
    int met_ = !!(what);                                                         \
    if (!met_) printf("WRONG line %d: %s (errno %d)\n", __LINE__, #what, errno); \
    wrong += !met_;                                                              \
  } while (0)

static struct sockaddr_in address_of(const char* text) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  inet_pton(AF_INET, text, &address.sin_addr);
  return address;
}

static int bind_to(int socket, const char* text) {
  struct sockaddr_in address = address_of(text);
  return rbind(socket, (struct sockaddr*)&address, sizeof(address));
}

static int connect_to(int socket, const char* text) {
  struct sockaddr_in address = address_of(text);
  return rconnect(socket, (struct sockaddr*)&address, sizeof(address));
}

static short events_of(int socket, short wanted, int milliseconds) {
  struct pollfd entry = {.fd = socket, .events = wanted};
  return rpoll(&entry, 1, milliseconds) < 0 ? POLLNVAL : entry.revents;
}

// --- alone ---------------------------------------------------------------------------------------

/// Neither a listener nor a socket without a connection has mappings.
static void map_nothing(int socket) {
  char byte = 0;
  EXPECT(riomap(socket, &byte, 1, PROT_WRITE, 0, 0) == -1 && errno == ENOTCONN);
  EXPECT(riounmap(socket, &byte, 1) == -1 && errno == ENOTCONN);
  EXPECT(riowrite(socket, &byte, 1, 0, 0) == (size_t)-1 && errno == ENOTCONN);
  EXPECT(riomap(socket, NULL, 1, PROT_WRITE, 0, 0) == -1 && errno == EFAULT);
  EXPECT(riomap(socket, &byte, 0, PROT_WRITE, 0, 0) == -1 && errno == EINVAL);
  EXPECT(riomap(socket, &byte, 1, PROT_EXEC, 0, 0) == -1 && errno == EINVAL);
  EXPECT(riomap(socket, &byte, 1, PROT_WRITE, 1, 0) == -1 && errno == EINVAL);
  EXPECT(riomap(socket, &byte, 1, PROT_WRITE, 0, -2) == -1 && errno == EINVAL);
  EXPECT(riowrite(socket, NULL, 1, 0, 0) == (size_t)-1 && errno == EFAULT);
}

static void use_no_addresses(int socket) {
  struct sockaddr_in6 other = {.sin6_family = AF_INET6};
  struct sockaddr_in here = address_of("10.0.0.1");
  struct sockaddr* raw = (struct sockaddr*)&here;
  EXPECT(rbind(socket, NULL, sizeof(here)) == -1 && errno == EFAULT);
  EXPECT(rbind(socket, raw, 1) == -1 && errno == EINVAL);
  EXPECT(rbind(socket, raw, 4) == -1 && errno == EINVAL);
  EXPECT(rbind(socket, raw, 100000) == -1 && errno == EINVAL);
  EXPECT(rbind(socket, (struct sockaddr*)&other, sizeof(other)) == -1 && errno == EAFNOSUPPORT);
  EXPECT(rconnect(socket, NULL, sizeof(here)) == -1 && errno == EFAULT);
  EXPECT(rconnect(socket, raw, 4) == -1 && errno == EINVAL);
  EXPECT(rconnect(socket, (struct sockaddr*)&other, sizeof(other)) == -1 && errno == EAFNOSUPPORT);
}

static void transfer_on_no_connection(int socket) {
  map_nothing(socket);
  char byte = 0;
  struct sockaddr_in name;
  socklen_t length = sizeof(name);
  EXPECT(rsend(socket, &byte, 1, 0) == -1 && errno == ENOTCONN);
  EXPECT(rrecv(socket, &byte, 1, 0) == -1 && errno == ENOTCONN);
  EXPECT(rsend(socket, NULL, 1, 0) == -1 && errno == EFAULT);
  EXPECT(rrecv(socket, NULL, 1, 0) == -1 && errno == EFAULT);
  EXPECT(rshutdown(socket, SHUT_WR) == -1 && errno == ENOTCONN);
  EXPECT(rshutdown(socket, 7) == -1 && errno == EINVAL);
  EXPECT(rgetpeername(socket, (struct sockaddr*)&name, &length) == -1 && errno == ENOTCONN);
  EXPECT(rgetsockname(socket, (struct sockaddr*)&name, NULL) == -1 && errno == EFAULT);
  EXPECT(rgetsockname(socket, NULL, &length) == -1 && errno == EFAULT);
  EXPECT(raccept(socket, (struct sockaddr*)&name, NULL) == -1 && errno == EFAULT);
}

static void set_options(int socket) {
  struct linger linger = {1, 5}, found = {0};
  int value = 1, answer = 0;
  socklen_t length = sizeof(answer);
  EXPECT(rsetsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &value, sizeof(value)) == 0);
  EXPECT(rsetsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &value, sizeof(value)) == 0);
  EXPECT(rsetsockopt(socket, SOL_SOCKET, SO_OOBINLINE, &value, sizeof(value)) == 0);
  EXPECT(rsetsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &value, sizeof(value)) == 0);
  EXPECT(rsetsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &value, sizeof(value)) == 0);
  EXPECT(rgetsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &answer, &length) == 0 && answer == 1);
  EXPECT(rsetsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) == 0);
  length = sizeof(found);
  EXPECT(rgetsockopt(socket, SOL_SOCKET, SO_LINGER, &found, &length) == 0 && found.l_linger == 5);
  value = 100000;
  EXPECT(rsetsockopt(socket, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value)) == 0);
  length = sizeof(answer);
  EXPECT(rgetsockopt(socket, SOL_SOCKET, SO_RCVBUF, &answer, &length) == 0 && answer >= 199000);
  value = 1;
  EXPECT(rsetsockopt(socket, SOL_RDMA, RDMA_SQSIZE, &value, sizeof(value)) == 0);
  EXPECT(rgetsockopt(socket, SOL_RDMA, RDMA_SQSIZE, &answer, &length) == 0 && answer == 16);
  value = -1;
  EXPECT(rsetsockopt(socket, SOL_RDMA, RDMA_RQSIZE, &value, sizeof(value)) == -1 &&
         errno == EINVAL);
  value = 1000;
  EXPECT(rsetsockopt(socket, SOL_RDMA, RDMA_IOMAPSIZE, &value, sizeof(value)) == 0);
  EXPECT(rgetsockopt(socket, SOL_RDMA, RDMA_IOMAPSIZE, &answer, &length) == 0 && answer == 768);
  EXPECT(rsetsockopt(socket, SOL_SOCKET, SO_RCVBUF, &value, 1) == -1 && errno == EINVAL);
  EXPECT(rsetsockopt(socket, SOL_SOCKET, SO_RCVBUF, NULL, 4) == -1 && errno == EFAULT);
  EXPECT(rsetsockopt(socket, SOL_SOCKET, 9999, &value, 4) == -1 && errno == ENOPROTOOPT);
  EXPECT(rsetsockopt(socket, 9999, SO_RCVBUF, &value, 4) == -1 && errno == ENOPROTOOPT);
  EXPECT(rgetsockopt(socket, SOL_SOCKET, 9999, &answer, &length) == -1 && errno == ENOPROTOOPT);
  EXPECT(rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &answer, NULL) == -1 && errno == EFAULT);
  EXPECT(rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &answer, &length) == 0 && answer == 0);
}

static void listen_alone(void) {
  struct sockaddr_in name = {0};
  socklen_t length = sizeof(name);
  EXPECT(rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0) == -1 && errno == ENOTSUP);
  int socket = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT(rfcntl(socket, F_SETFL, O_NONBLOCK) == 0);
  EXPECT(bind_to(socket, "10.0.0.1") == 0);
  EXPECT(bind_to(socket, "10.0.0.1") == -1 && errno == EINVAL);
  EXPECT(rlisten(socket, 1) == 0);
  EXPECT(rlisten(socket, 5) == 0);
  EXPECT(rgetsockname(socket, (struct sockaddr*)&name, &length) == 0);
  EXPECT(name.sin_port == htons(kPort) && length == sizeof(name));
  EXPECT(raccept(socket, NULL, NULL) == -1 && errno == EAGAIN);
  EXPECT(events_of(socket, POLLIN, 10) == 0);
  EXPECT(connect_to(socket, "10.0.0.1") == -1 && errno == EOPNOTSUPP);
  transfer_on_no_connection(socket);
  int second = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT(bind_to(second, "10.0.0.1") == -1 && errno == EADDRINUSE);
  EXPECT(rclose(second) == 0);
  EXPECT(rclose(socket) == 0);
  EXPECT(rclose(socket) == -1 && errno == EBADF);
  int again = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT(bind_to(again, "10.0.0.1") == 0);
  EXPECT(rclose(again) == 0);
}

static void connect_to_no_listener(void) {
  int error = 0;
  socklen_t length = sizeof(error);
  int socket = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT(connect_to(socket, "10.0.0.1") == -1 && errno == ECONNREFUSED);
  EXPECT(rclose(socket) == 0);
  socket = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT(rfcntl(socket, F_SETFL, O_NONBLOCK) == 0);
  EXPECT((rfcntl(socket, F_GETFL) & O_NONBLOCK) != 0);
  EXPECT(connect_to(socket, "10.0.0.3") == -1 && errno == EINPROGRESS);
  EXPECT(connect_to(socket, "10.0.0.3") == -1 && errno == EALREADY);
  EXPECT(events_of(socket, POLLOUT, 0) == 0);
  EXPECT((events_of(socket, POLLOUT, -1) & (POLLOUT | POLLERR)) == (POLLOUT | POLLERR));
  EXPECT(rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0);
  EXPECT(error == ECONNREFUSED);
  EXPECT(rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0);
  EXPECT(rclose(socket) == 0);
}

static void use_datagrams(void) {
  char byte = 1, got[2] = "";
  struct sockaddr_in here = address_of("10.0.0.1"), from = {0};
  socklen_t length = sizeof(from);
  int buffer = 0;
  EXPECT(rsocket(AF_INET, SOCK_DGRAM, IPPROTO_TCP) == -1 && errno == ENOTSUP);
  int socket = rsocket(AF_INET, SOCK_DGRAM, IPPROTO_UDP);
  EXPECT(socket >= 0);
  use_no_addresses(socket);
  EXPECT(rsend(socket, &byte, 1, 0) == -1 && errno == EDESTADDRREQ);
  EXPECT(rsendto(socket, &byte, 1, 0, (struct sockaddr*)&here, 4) == -1 && errno == EINVAL);
  EXPECT(rsend(socket, NULL, 1, 0) == -1 && errno == EFAULT);
  EXPECT(rrecv(socket, &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
  EXPECT(rlisten(socket, 1) == -1 && errno == EOPNOTSUPP);
  EXPECT(raccept(socket, NULL, NULL) == -1 && errno == EOPNOTSUPP);
  EXPECT(riomap(socket, &byte, 1, PROT_WRITE, 0, 0) == -1 && errno == EOPNOTSUPP);
  EXPECT(rshutdown(socket, SHUT_WR) == -1 && errno == ENOTCONN);
  EXPECT(rshutdown(socket, 9) == -1 && errno == EINVAL);
  EXPECT(rgetpeername(socket, (struct sockaddr*)&from, &length) == -1 && errno == ENOTCONN);
  EXPECT(rgetsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, &length) == 0 && buffer > 0);
  EXPECT(rgetsockopt(socket, SOL_RDMA, RDMA_SQSIZE, &buffer, &length) == -1 &&
         errno == ENOPROTOOPT);
  EXPECT(bind_to(socket, "10.0.0.1") == 0);
  EXPECT(connect_to(socket, "10.0.0.1") == 0);  // to itself
  for (int i = 0; i < 3; ++i) {
    length = sizeof(from);
    EXPECT(rsend(socket, &byte, 1, 0) == 1);
    EXPECT(events_of(socket, POLLIN, -1) == POLLIN);
    EXPECT(rrecv(socket, got, 2, MSG_PEEK) == 1 && got[0] == 1);
    EXPECT(rrecvfrom(socket, got, 2, 0, (struct sockaddr*)&from, &length) == 1);
    EXPECT(from.sin_port == htons(kPort) && from.sin_addr.s_addr == here.sin_addr.s_addr);
  }
  static char large[100000];
  EXPECT(rsend(socket, large, sizeof(large), 0) == -1 && errno == EMSGSIZE);
  EXPECT(rclose(socket) == 0);
}

static int be_alone(void) {
  int socket = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT(socket >= 0);
  use_no_addresses(socket);
  transfer_on_no_connection(socket);
  EXPECT(raccept(socket, NULL, NULL) == -1 && errno == EINVAL);
  set_options(socket);
  EXPECT(rfcntl(socket, F_DUPFD, 0) == -1 && errno == ENOTSUP);
  EXPECT(rfcntl(socket, F_SETFD, FD_CLOEXEC) == 0 && rfcntl(socket, F_GETFD) == FD_CLOEXEC);
  EXPECT(rclose(socket) == 0);
  use_datagrams();
  listen_alone();
  connect_to_no_listener();
  return wrong;
}

// --- server and client ---------------------------------------------------------------------------

static unsigned char byte_at(size_t place) {
  return (unsigned char)(place * 7 + place / 251);
}

/// Receives `length` bytes of the pattern.
static void receive_all(int socket, size_t length) {
  static unsigned char bytes[kLarge];
  size_t done = 0, good = 0;
  while (done < length) {
    ssize_t got = rrecv(socket, bytes + done, length - done, 0);
    if (got <= 0) break;
    done += (size_t)got;
  }
  EXPECT(done == length);
  for (size_t i = 0; i < done; ++i) good += bytes[i] == byte_at(i);
  EXPECT(good == length);
}

static void send_all(int socket, size_t length) {
  static unsigned char bytes[kLarge];
  for (size_t i = 0; i < length; ++i) bytes[i] = byte_at(i);
  EXPECT(rsend(socket, bytes, length, 0) == (ssize_t)length);
}

static void* send_in_a_thread(void* socket) {
  send_all((int)(intptr_t)socket, kLarge);
  return NULL;
}

/// Both directions at once, from two threads.
static void exchange(int socket) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, send_in_a_thread, (void*)(intptr_t)socket) == 0);
  receive_all(socket, kLarge);
  pthread_join(thread, NULL);
}

static void read_pieces(int socket) {
  char first[4] = "", second[9] = "", all[11] = "";
  struct iovec ranges[] = {{first, 3}, {NULL, 0}, {second, 8}};
  struct msghdr message = {.msg_iov = ranges, .msg_iovlen = 3};
  EXPECT(events_of(socket, POLLIN, -1) == POLLIN);
  EXPECT(rrecv(socket, all, 5, MSG_PEEK | MSG_WAITALL) == 5 && memcmp(all, "hello", 5) == 0);
  EXPECT(rrecv(socket, all, 11, MSG_PEEK | MSG_WAITALL) == 11);
  EXPECT(rrecvmsg(socket, &message, MSG_WAITALL) == 11);
  EXPECT(strcmp(first, "hel") == 0 && memcmp(second, "lo again", 8) == 0);
  EXPECT(rrecv(socket, all, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
  EXPECT(rrecv(socket, all, 0, 0) == 0);
  EXPECT(rsend(socket, "", 1, 0) == 1);  // the peer may go on
}

static void write_pieces(int socket) {
  char first[] = "hello", second[] = " again";
  struct iovec ranges[] = {{first, 2}, {first + 2, 3}};
  struct iovec rest = {second, 6};
  struct msghdr message = {.msg_iov = &rest, .msg_iovlen = 1};
  EXPECT(rwritev(socket, ranges, 2) == 5);
  EXPECT(rsendmsg(socket, &message, 0) == 6);
  EXPECT(rwritev(socket, NULL, 1) == -1 && errno == EFAULT);
  EXPECT(rwritev(socket, ranges, 100000) == -1 && errno == EINVAL);
  EXPECT(rsendto(socket, first, 1, 0, (struct sockaddr*)first, 4) == -1 && errno == EISCONN);
  EXPECT(rrecv(socket, first, 1, 0) == 1);
}

static void fill_a_peer(int socket) {
  static char bytes[4096];
  size_t sent = 0;
  ssize_t now;
  while ((now = rsend(socket, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) sent += (size_t)now;
  const int error = errno;
  EXPECT(now == -1 && error == EAGAIN);
  EXPECT(sent > 0);
  printf("the peer takes %zu bytes without reading\n", sent);
  EXPECT(events_of(socket, POLLOUT, 0) == 0);
  EXPECT(events_of(socket, POLLOUT, -1) == POLLOUT);  // the peer has read
}

enum { kMappings = 2, kMapped = 200000 };

/// The server maps two buffers, of which the peer's table has no more; the peer writes to both.
static void map_buffers(int socket) {
  static char first[kMapped], second[kMapped], third[64];
  size_t good = 0;
  EXPECT(riomap(socket, first, kMapped, PROT_WRITE, 0, 0) == 0);
  EXPECT(riomap(socket, second, kMapped, PROT_WRITE, 0, 1 << 20) == 1 << 20);
  EXPECT(riomap(socket, third, sizeof(third), PROT_WRITE, 0, 1 << 21) == -1 && errno == ENOBUFS);
  EXPECT(riomap(socket, third, sizeof(third), PROT_NONE, 0, -1) == (off_t)(intptr_t)third);
  EXPECT(riounmap(socket, third, 1) == -1 && errno == EINVAL);
  EXPECT(riounmap(socket, third, sizeof(third)) == 0);
  EXPECT(rsend(socket, "m", 1, 0) == 1);  // now the peer has both
  EXPECT(rrecv(socket, third, 1, 0) == 1);
  for (size_t i = 0; i < kMapped; ++i) good += first[i] == 'a' && second[i] == (i < 100 ? 0 : 'b');
  EXPECT(good == kMapped);
  EXPECT(riounmap(socket, first, kMapped) == 0);
  EXPECT(riounmap(socket, first, kMapped) == -1 && errno == EINVAL);
  EXPECT(riomap(socket, first, 10, PROT_WRITE, 0, 1 << 22) == 1 << 22);  // its entry is free again
  EXPECT(rsend(socket, "m", 1, 0) == 1);
  EXPECT(rrecv(socket, third, 1, 0) == 1 && first[9] == 'c');
}

static void write_to_buffers(int socket) {
  static char bytes[kMapped];
  char byte;
  EXPECT(riowrite(socket, bytes, 1, 1 << 25, 0) == (size_t)-1 && errno == EINVAL);
  EXPECT(rrecv(socket, &byte, 1, 0) == 1);
  memset(bytes, 'a', kMapped);
  EXPECT(riowrite(socket, bytes, kMapped, 0, 0) == kMapped);
  memset(bytes, 'b', kMapped);
  EXPECT(riowrite(socket, bytes, kMapped, (1 << 20) + 100, 0) == kMapped - 100);
  EXPECT(riowrite(socket, bytes, 1, kMapped, 0) == (size_t)-1 && errno == EINVAL);
  EXPECT(rsend(socket, "m", 1, 0) == 1);
  EXPECT(rrecv(socket, &byte, 1, 0) == 1);
  EXPECT(riowrite(socket, "cccccccccc", 10, 1 << 22, 0) == 10);
  EXPECT(rsend(socket, "m", 1, 0) == 1);
}

static int serve(void) {
  struct sockaddr_in peer;
  socklen_t length = sizeof(peer);
  char bytes[4096];
  int listener = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT(bind_to(listener, "0.0.0.0") == 0 && rlisten(listener, 4) == 0);
  EXPECT(events_of(listener, POLLIN, -1) == POLLIN);
  int socket = raccept(listener, (struct sockaddr*)&peer, &length);
  EXPECT(socket >= 0 && length == sizeof(peer) && peer.sin_addr.s_addr == htonl(0x0a000002));
  read_pieces(socket);
  exchange(socket);
  map_buffers(socket);
  EXPECT(rrecv(socket, bytes, 1, 0) == 1);  // the peer is about to fill this end
  EXPECT(events_of(listener, POLLIN, 100) == 0);
  ssize_t got, all = 1;
  while ((got = rrecv(socket, bytes, sizeof(bytes), 0)) > 0) all += got;
  EXPECT(got == 0);
  printf("read %zd bytes to the end\n", all);
  EXPECT((events_of(socket, POLLIN | POLLRDHUP, -1) & (POLLIN | POLLRDHUP)) ==
         (POLLIN | POLLRDHUP));
  send_all(socket, 100000);  // the other direction still works
  EXPECT(rclose(socket) == 0);
  socket = raccept(listener, NULL, NULL);  // a peer that closes at once
  EXPECT(rrecv(socket, bytes, 1, 0) == 0);
  EXPECT((events_of(socket, POLLIN, -1) & (POLLIN | POLLHUP)) == (POLLIN | POLLHUP));
  EXPECT(rsend(socket, bytes, 1, 0) == -1 && errno == ECONNRESET);
  EXPECT(rclose(socket) == 0 && rclose(listener) == 0);
  printf("%d wrong\n", wrong);
  return wrong;
}

static int talk(const char* server) {
  struct sockaddr_in name;
  socklen_t length = sizeof(name);
  int value = 1, mappings = kMappings, socket = rsocket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
  EXPECT(rsetsockopt(socket, SOL_RDMA, RDMA_IOMAPSIZE, &mappings, sizeof(mappings)) == 0);
  EXPECT(connect_to(socket, server) == 0);
  EXPECT(connect_to(socket, server) == -1 && errno == EISCONN);
  EXPECT(bind_to(socket, "10.0.0.2") == -1 && errno == EINVAL);
  EXPECT(rlisten(socket, 1) == -1 && errno == EINVAL);
  EXPECT(raccept(socket, NULL, NULL) == -1 && errno == EINVAL);
  EXPECT(rsetsockopt(socket, SOL_RDMA, RDMA_SQSIZE, &value, sizeof(value)) == -1 &&
         errno == EINVAL);
  EXPECT(rgetpeername(socket, (struct sockaddr*)&name, &length) == 0);
  EXPECT(name.sin_port == htons(kPort) && name.sin_family == AF_INET);
  EXPECT(events_of(socket, POLLIN | POLLOUT, -1) == POLLOUT);
  write_pieces(socket);
  exchange(socket);
  write_to_buffers(socket);
  fill_a_peer(socket);
  EXPECT(rshutdown(socket, SHUT_WR) == 0);
  EXPECT(rsend(socket, &value, 1, 0) == -1 && errno == EPIPE);
  receive_all(socket, 100000);
  EXPECT(rrecv(socket, &value, 1, 0) == 0);
  EXPECT(rclose(socket) == 0);
  socket = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT(connect_to(socket, server) == 0);
  EXPECT(rclose(socket) == 0);
  printf("%d wrong\n", wrong);
  return wrong;
}

int main(int count, char** arguments) {
  if (count == 2 && strcmp(arguments[1], "alone") == 0) return be_alone();
  if (count == 2 && strcmp(arguments[1], "serve") == 0) return serve();
  if (count == 3 && strcmp(arguments[1], "talk") == 0) return talk(arguments[2]);
  fprintf(stderr, "usage: rsockets alone | serve | talk ADDRESS\n");
  return 2;
}
