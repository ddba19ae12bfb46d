// TCP beyond sending and receiving: the port of a closed connection (TIME_WAIT), a peer that falls
// silent (keepalive), and urgent data. `tcp_ends serve` is the peer; `tcp_ends ADDRESS PREFIX...`
// runs the cases against it, `end` ends it. Linux 6.18 printed tcp_ends.txt over the loopback
// interface, except for `urgent_to_be_sent`, which says what docs/support.md promises.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/simulated/cases.h"

enum { kPeerPort = 7000, kSecond = 1000000 /* microseconds */ };

static const char* peer = "127.0.0.1";

static struct sockaddr_in at(const char* address, int port) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, address, &name.sin_addr);
  return name;
}
static void set(int fd, int level, int option, int value) {
  check(setsockopt(fd, level, option, &value, sizeof value) == 0, "setsockopt");
}
static int get(int fd, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  check(getsockopt(fd, level, option, &value, &size) == 0, "getsockopt");
  return value;
}
static int new_socket(int reuse) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  check(fd >= 0, "socket");
  set(fd, SOL_SOCKET, SO_REUSEADDR, reuse);
  return fd;
}

// --- the peer -----------------------------------------------------------------------------------

/// Waits for the end of the other side.
static void read_to_end(int fd) {
  char text[64];
  while (read(fd, text, sizeof text) > 0) continue;
}
/// Does what the first byte of a connection says. The connection stays open unless it is closed.
static void obey(int fd, struct sockaddr_in other) {
  char command[3] = {0};
  (void)!read(fd, command, 3);
  const uint16_t port = (uint16_t)(command[1] << 8 | (unsigned char)command[2]);
  if (command[0] == 'e') exit(0);
  if (command[0] == 'c') close(fd);  // at once
  if (command[0] == 'w') {           // afterwards
    read_to_end(fd);
    close(fd);
  }
  if (command[0] == 'd') {  // gets deaf; on simulated hosts a fault does it
    struct sock_filter nothing = {BPF_RET | BPF_K, 0, 0, 0};
    struct sock_fprog filter = {1, &nothing};
    check(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0, "filter");
  }
  if (command[0] != 'b' && command[0] != 'B') return;
  const int back = new_socket(0);  // connects to the other side, and closes last or first
  other.sin_port = htons(port);
  check(connect(back, (struct sockaddr*)&other, sizeof other) == 0, "connect back");
  if (command[0] == 'b') read_to_end(back);
  close(back);
}
static void serve(void) {
  const struct sockaddr_in name = at("0.0.0.0", kPeerPort);
  const int fd = new_socket(1);
  check(bind(fd, (const struct sockaddr*)&name, sizeof name) == 0, "bind");
  check(listen(fd, 16) == 0, "listen");
  for (;;) {
    struct sockaddr_in other;
    socklen_t size = sizeof other;
    const int one = accept(fd, (struct sockaddr*)&other, &size);
    check(one >= 0, "accept");
    obey(one, other);
  }
}

// --- cases: ports of connections that are closed ------------------------------------------------

/// Each case has a port of its own.
static int own_port;

static int bound_to(const char* address, int reuse) {
  const struct sockaddr_in name = at(address, own_port);
  const int fd = new_socket(reuse);
  return bind(fd, (const struct sockaddr*)&name, sizeof name) == 0 ? fd : -1;
}
static int connected(int fd, char command) {
  const struct sockaddr_in name = at(peer, kPeerPort);
  const char bytes[3] = {command, (char)(own_port >> 8), (char)own_port};
  check(fd >= 0, "bind");
  check(connect(fd, (const struct sockaddr*)&name, sizeof name) == 0, "connect");
  check(write(fd, bytes, 3) == 3, "write");
  return fd;
}
static void close_and_wait(int fd) {
  close(fd);
  let_pass(kSecond / 10);
}
/// 1: the port can be bound now.
static long is_free(int reuse) {
  const int fd = bound_to("0.0.0.0", reuse);
  if (fd < 0) return -1;
  close(fd);
  return 1;
}
static long port_of_who_closes_first(void) {
  close_and_wait(connected(bound_to("0.0.0.0", 0), 'w'));
  return is_free(0);
}
static long port_of_who_closes_last(void) {
  const int fd = connected(bound_to("0.0.0.0", 0), 'c');
  read_to_end(fd);
  close_and_wait(fd);
  return is_free(0);
}
static long port_that_both_reuse(void) {
  close_and_wait(connected(bound_to("0.0.0.0", 1), 'w'));
  return is_free(1);
}
static long port_that_only_the_second_reuses(void) {
  close_and_wait(connected(bound_to("0.0.0.0", 0), 'w'));
  return is_free(1);
}
static long port_that_only_the_first_reuses(void) {
  close_and_wait(connected(bound_to("0.0.0.0", 1), 'w'));
  return is_free(0);
}
static long port_for_a_minute(void) {
  close_and_wait(connected(bound_to("0.0.0.0", 0), 'w'));
  let_pass(59L * kSecond);
  check(is_free(0) < 0, "too early");
  let_pass(5L * kSecond);
  return is_free(0);
}
/// The peer never closes its side.
static long port_of_half_a_connection(void) {
  close_and_wait(connected(bound_to("0.0.0.0", 0), 'n'));
  check(is_free(0) < 0, "too early");
  let_pass(64L * kSecond);
  return is_free(0);
}
static long port_after_a_reset(void) {
  const struct linger none = {1, 0};
  const int fd = connected(bound_to("0.0.0.0", 0), 'w');
  check(setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none) == 0, "SO_LINGER");
  close_and_wait(fd);
  return is_free(0);
}
static long port_of_another_address(void) {
  close_and_wait(connected(bound_to("0.0.0.0", 0), 'w'));
  return bound_to("127.0.0.9", 0) < 0 ? -1 : 1;
}
static long port_while_it_is_connected(void) {
  (void)connected(bound_to("0.0.0.0", 0), 'w');
  return is_free(0);
}
/// A server: the peer connects to it, and one of both closes first.
static void serve_once(int reuse, char command) {
  const int listener = bound_to("0.0.0.0", reuse);
  check(listener >= 0 && listen(listener, 1) == 0, "listen");
  (void)connected(new_socket(0), command);
  const int fd = accept(listener, NULL, NULL);
  check(fd >= 0, "accept");
  if (command == 'B') read_to_end(fd);
  close(listener);
  close_and_wait(fd);
}
static long port_of_a_server_that_closes_first(void) {
  serve_once(0, 'b');
  return is_free(0);
}
static long port_of_a_server_that_closes_last(void) {
  serve_once(0, 'B');
  return is_free(0);
}
static long port_of_a_server_that_reuses(void) {
  serve_once(1, 'b');
  return is_free(1);
}

// --- cases: a peer that falls silent ------------------------------------------------------------

enum { kSilentPeers = 8 };
static int silent[kSilentPeers];  // connections to a peer that hears nothing any more
static int silent_count;

static void connect_to_silent_peers(void) {
  for (int i = 0; i < kSilentPeers; ++i) silent[i] = connected(new_socket(0), 'd');
  let_pass(2L * kSecond);
}
static int a_silent_peer(int idle, int interval, int probes) {
  const int fd = silent[silent_count];
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, probes);
  const struct timeval limit = {5, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return fd;
}
/// How many seconds the error has taken, and its number: 3110 is ETIMEDOUT after 3 s.
static long time_and_error(long begin, int error) {
  return (tenths() - begin) / 10000 * 1000 + error;
}
static long time_of_reading(int fd) {
  char text;
  const long begin = tenths();
  const long result = read(fd, &text, 1);
  return time_and_error(begin, result < 0 ? errno : 0);
}
static long silent_to_a_reader(void) {
  const int fd = a_silent_peer(1, 1, 2);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  return time_of_reading(fd);
}
static long silent_at_longer_intervals(void) {
  const int fd = a_silent_peer(2, 2, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  return time_of_reading(fd);
}
static long silent_to_who_polls(void) {
  const int fd = a_silent_peer(1, 1, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  struct pollfd wanted = {fd, POLLIN, 0};
  const long begin = tenths();
  check(poll(&wanted, 1, -1) == 1, "poll");
  check((wanted.revents & (POLLIN | POLLHUP)) == (POLLIN | POLLHUP), "revents");
  return time_and_error(begin, get(fd, SOL_SOCKET, SO_ERROR));
}
/// The first write hears why, the second one that nobody is there.
static long silent_to_a_writer(void) {
  const int fd = a_silent_peer(1, 1, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  struct pollfd wanted = {fd, POLLIN, 0};
  check(poll(&wanted, 1, -1) == 1, "poll");
  check(send(fd, "x", 1, MSG_NOSIGNAL) == -1 && errno == ETIMEDOUT, "the first");
  return send(fd, "x", 1, MSG_NOSIGNAL);
}
static long silent_without_keepalive(void) {
  return time_of_reading(a_silent_peer(1, 1, 1));
}
static long silent_when_it_is_switched_off(void) {
  const int fd = a_silent_peer(1, 1, 3);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  let_pass(2L * kSecond);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 0);
  return time_of_reading(fd);
}
/// The time counts from the last word of the peer.
static long silent_when_it_gets_shorter(void) {
  const int fd = a_silent_peer(100, 1, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  let_pass(1L * kSecond);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  return time_of_reading(fd);
}

static long answering_peer_is_left_alone(void) {
  const int fd = connected(new_socket(0), 'w');
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  const struct timeval limit = {5, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const long result = time_of_reading(fd);
  check(write(fd, "x", 1) == 1, "write");
  return result;
}
/// What a listening socket has, those have that it accepts.
static long answering_peer_of_a_server(void) {
  const int listener = bound_to("0.0.0.0", 1);
  set(listener, IPPROTO_TCP, TCP_KEEPIDLE, 17);
  set(listener, IPPROTO_TCP, TCP_NODELAY, 1);
  set(listener, SOL_SOCKET, SO_KEEPALIVE, 1);
  check(listen(listener, 1) == 0, "listen");
  (void)connected(new_socket(0), 'b');
  const int fd = accept(listener, NULL, NULL);
  check(get(fd, IPPROTO_TCP, TCP_NODELAY) != 0, "TCP_NODELAY");
  check(get(fd, SOL_SOCKET, SO_REUSEADDR) != 0, "SO_REUSEADDR");
  check(get(fd, SOL_SOCKET, SO_KEEPALIVE) != 0, "SO_KEEPALIVE");
  return get(fd, IPPROTO_TCP, TCP_KEEPIDLE);
}
static long wrong_time_of_keepalive(void) {
  const int value = 32768;
  return setsockopt(new_socket(0), IPPROTO_TCP, TCP_KEEPIDLE, &value, sizeof value);
}
static long wrong_count_of_keepalive(void) {
  const int value = 128;
  return setsockopt(new_socket(0), IPPROTO_TCP, TCP_KEEPCNT, &value, sizeof value);
}

// --- cases: urgent data -------------------------------------------------------------------------

static char text[8];
static struct iovec part = {text, 1};
static struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};

static int busy_peer(void) {
  return connected(new_socket(0), 'w');
}
/// How many of the calls that would send urgent data are refused.
static long urgent_to_be_sent(void) {
  const int fd = busy_peer();
  long refused = 0;
  refused += send(fd, "x", 1, MSG_OOB) == -1 && errno == EOPNOTSUPP;
  refused += sendto(fd, "x", 1, MSG_OOB | MSG_DONTWAIT, NULL, 0) == -1 && errno == EOPNOTSUPP;
  refused += sendmsg(fd, &message.msg_hdr, MSG_OOB) == -1 && errno == EOPNOTSUPP;
  refused += sendmmsg(fd, &message, 1, MSG_OOB) == -1 && errno == EOPNOTSUPP;
  return refused;
}
static long urgent_by_recv(void) {
  return recv(busy_peer(), text, sizeof text, MSG_OOB);
}
static long urgent_by_recvmsg(void) {
  return recvmsg(busy_peer(), &message.msg_hdr, MSG_OOB);
}
static long urgent_by_recvmmsg(void) {
  return recvmmsg(busy_peer(), &message, 1, MSG_OOB, NULL);
}
static long urgent_by_poll(void) {
  struct pollfd wanted = {busy_peer(), POLLPRI, 0};
  return poll(&wanted, 1, 5);
}
static long urgent_mark(void) {
  return sockatmark(busy_peer());
}
static long urgent_in_line(void) {
  const int fd = busy_peer();
  set(fd, SOL_SOCKET, SO_OOBINLINE, 1);
  return recv(fd, text, sizeof text, MSG_OOB);
}
static long urgent_datagram(void) {
  const struct sockaddr_in name = at(peer, kPeerPort);
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  return sendto(fd, "x", 1, MSG_OOB, (const struct sockaddr*)&name, sizeof name);
}

static const struct one_case cases[] = {
    CASE(port_of_who_closes_first),
    CASE(port_of_who_closes_last),
    CASE(port_that_both_reuse),
    CASE(port_that_only_the_second_reuses),
    CASE(port_that_only_the_first_reuses),
    CASE(port_for_a_minute),
    CASE(port_of_half_a_connection),
    CASE(port_after_a_reset),
    CASE(port_of_another_address),
    CASE(port_while_it_is_connected),
    CASE(port_of_a_server_that_closes_first),
    CASE(port_of_a_server_that_closes_last),
    CASE(port_of_a_server_that_reuses),
    CASE(silent_to_a_reader),
    CASE(silent_at_longer_intervals),
    CASE(silent_to_who_polls),
    CASE(silent_to_a_writer),
    CASE(silent_without_keepalive),
    CASE(silent_when_it_is_switched_off),
    CASE(silent_when_it_gets_shorter),
    CASE(answering_peer_is_left_alone),
    CASE(answering_peer_of_a_server),
    CASE(wrong_time_of_keepalive),
    CASE(wrong_count_of_keepalive),
    CASE(urgent_to_be_sent),
    CASE(urgent_by_recv),
    CASE(urgent_by_recvmsg),
    CASE(urgent_by_recvmmsg),
    CASE(urgent_by_poll),
    CASE(urgent_mark),
    CASE(urgent_in_line),
    CASE(urgent_datagram),
};

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "serve") == 0) serve();
  if (argc > 1) peer = argv[1];
  for (int i = 2; i < argc; ++i) {
    if (strcmp(argv[i], "silent") == 0) connect_to_silent_peers();
    if (strcmp(argv[i], "end") == 0) (void)connected(new_socket(0), 'e');
    for (size_t each = 0; each < sizeof cases / sizeof *cases; ++each) {
      own_port = 5000 + (int)each;
      const size_t length = strlen(argv[i]);
      if (strncmp(cases[each].name, argv[i], length) != 0) continue;
      run_cases(&cases[each], 1, argv[i]);
      if (strcmp(argv[i], "silent") == 0) ++silent_count;
    }
  }
  return 0;
}
