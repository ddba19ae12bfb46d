// Sockets that share a port, groups and broadcasts, and options of sockets. sharing.txt has what
// Linux answers.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "tests/simulated/cases.h"

static const char* const kHere = "127.0.0.1";
static const char* const kThere = "127.0.0.2";
static const char* const kAny = "0.0.0.0";
static const char* const kGroup = "239.1.2.3";

enum { kNone = 0, kAddress = 1, kPort = 2, kBoth = 3 };  // what a socket shares

static struct sockaddr_in at(const char* ip, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, ip, &address.sin_addr);
  return address;
}

static int set(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof value);
}

static int get(int fd, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(fd, level, name, &value, &size) == 0 ? value : -1;
}

static int port_of(int fd) {
  struct sockaddr_storage name;
  socklen_t size = sizeof name;
  check(getsockname(fd, (struct sockaddr*)&name, &size) == 0, "getsockname");
  return ntohs(((struct sockaddr_in*)&name)->sin_port);
}

static int made(int type, int shares) {
  const int fd = socket(AF_INET, type, 0);
  check(fd >= 0, "socket");
  if (shares & kAddress) check(set(fd, SOL_SOCKET, SO_REUSEADDR, 1) == 0, "SO_REUSEADDR");
  if (shares & kPort) check(set(fd, SOL_SOCKET, SO_REUSEPORT, 1) == 0, "SO_REUSEPORT");
  return fd;
}

static int bound_to(int fd, const char* ip, int port) {
  const struct sockaddr_in address = at(ip, port);
  return bind(fd, (const struct sockaddr*)&address, sizeof address);
}

static int bound(int type, int shares, const char* ip, int port) {
  const int fd = made(type, shares);
  check(bound_to(fd, ip, port) == 0, "bind");
  return fd;
}

static void say_to(int fd, const char* ip, int port) {
  const struct sockaddr_in address = at(ip, port);
  check(sendto(fd, "x", 1, 0, (const struct sockaddr*)&address, sizeof address) == 1, "sendto");
}

/// Which of the sockets has heard something, as bits.
static long heard(const int* fds, int count) {
  long result = 0;
  let_pass(1000);
  for (int i = 0; i < count; ++i) {
    char byte;
    if (recv(fds[i], &byte, 1, MSG_DONTWAIT) == 1) result |= 1 << i;
  }
  return result;
}

/// The outcome of binding a second socket to the port of a first one.
static long second(int type, int first_shares, const char* first, int shares, const char* ip) {
  const int fd = bound(type, first_shares, first, 0);
  return bound_to(made(type, shares), ip, port_of(fd));
}

static long udp_shares_none(void) {
  return second(SOCK_DGRAM, kNone, kAny, kNone, kAny);
}
static long udp_first_shares(void) {
  return second(SOCK_DGRAM, kAddress, kAny, kNone, kAny);
}
static long udp_second_shares(void) {
  return second(SOCK_DGRAM, kNone, kAny, kAddress, kAny);
}
static long udp_both_share(void) {
  return second(SOCK_DGRAM, kAddress, kAny, kAddress, kAny);
}
static long udp_share_ports(void) {
  return second(SOCK_DGRAM, kPort, kAny, kPort, kAny);
}
static long udp_share_differently(void) {
  return second(SOCK_DGRAM, kPort, kAny, kAddress, kAny);
}
static long udp_two_addresses(void) {
  return second(SOCK_DGRAM, kNone, kHere, kNone, kThere);
}
static long udp_one_address(void) {
  return second(SOCK_DGRAM, kNone, kHere, kNone, kAny);
}
static long tcp_shares_none(void) {
  return second(SOCK_STREAM, kNone, kAny, kNone, kAny);
}
static long tcp_both_share(void) {
  return second(SOCK_STREAM, kAddress, kAny, kAddress, kAny);
}
static long tcp_two_addresses(void) {
  return second(SOCK_STREAM, kNone, kHere, kNone, kThere);
}

static long tcp_of_a_listener(void) {
  const int fd = bound(SOCK_STREAM, kAddress, kAny, 0);
  check(listen(fd, 1) == 0, "listen");
  return bound_to(made(SOCK_STREAM, kAddress), kAny, port_of(fd));
}

static long tcp_two_listeners(int shares) {
  const int first = bound(SOCK_STREAM, shares, kAny, 0);
  const int other = bound(SOCK_STREAM, shares, kAny, port_of(first));
  check(listen(first, 1) == 0, "listen");
  return listen(other, 1);
}
static long tcp_listens_second(void) {
  return tcp_two_listeners(kAddress);
}
static long tcp_listens_with_port(void) {
  return tcp_two_listeners(kPort);
}

/// Which of two listeners a connection to `ip` reaches, by their addresses.
static long tcp_by_address(void) {
  int listeners[2] = {bound(SOCK_STREAM, kNone, kHere, 0), 0};
  const int port = port_of(listeners[0]);
  listeners[1] = bound(SOCK_STREAM, kNone, kThere, port);
  for (int i = 0; i < 2; ++i) check(listen(listeners[i], 4) == 0, "listen");
  const int fd = made(SOCK_STREAM, kNone);
  const struct sockaddr_in there = at(kThere, port);
  check(connect(fd, (const struct sockaddr*)&there, sizeof there) == 0, "connect");
  struct pollfd waits[2] = {{.fd = listeners[0], .events = POLLIN},
                            {.fd = listeners[1], .events = POLLIN}};
  check(poll(waits, 2, 1000) == 1, "poll");
  return waits[1].revents == POLLIN;
}

/// Whether each of two listeners of one port gets some of 64 connections.
static long tcp_is_spread(void) {
  int listeners[2] = {bound(SOCK_STREAM, kPort, kHere, 0), 0};
  listeners[1] = bound(SOCK_STREAM, kPort, kHere, port_of(listeners[0]));
  for (int i = 0; i < 2; ++i) check(listen(listeners[i], 64) == 0, "listen");
  const struct sockaddr_in address = at(kHere, port_of(listeners[0]));
  for (int i = 0; i < 64; ++i) {
    const int fd = made(SOCK_STREAM, kNone);
    check(connect(fd, (const struct sockaddr*)&address, sizeof address) == 0, "connect");
  }
  struct pollfd waits[2] = {{.fd = listeners[0], .events = POLLIN},
                            {.fd = listeners[1], .events = POLLIN}};
  return poll(waits, 2, 1000);
}

static long udp_latest_hears(void) {
  int fds[2] = {bound(SOCK_DGRAM, kAddress, kAny, 0), 0};
  fds[1] = bound(SOCK_DGRAM, kAddress, kAny, port_of(fds[0]));
  say_to(made(SOCK_DGRAM, kNone), kHere, port_of(fds[0]));
  return heard(fds, 2);
}

static long udp_latest_is_closed(void) {
  int fds[2] = {bound(SOCK_DGRAM, kAddress, kAny, 0), 0};
  fds[1] = bound(SOCK_DGRAM, kAddress, kAny, port_of(fds[0]));
  close(fds[1]);
  say_to(made(SOCK_DGRAM, kNone), kHere, port_of(fds[0]));
  return heard(fds, 1);
}

static long udp_specific_hears(void) {
  int fds[2] = {bound(SOCK_DGRAM, kAddress, kHere, 0), 0};
  fds[1] = bound(SOCK_DGRAM, kAddress, kAny, port_of(fds[0]));
  say_to(made(SOCK_DGRAM, kNone), kHere, port_of(fds[0]));
  return heard(fds, 2);
}

/// As iperf3's server does: the connected one hears its peer, the later one others.
static long udp_connected_hears(void) {
  const int client = bound(SOCK_DGRAM, kNone, kHere, 0);
  int fds[2] = {bound(SOCK_DGRAM, kAddress, kAny, 0), 0};
  const struct sockaddr_in peer = at(kHere, port_of(client));
  check(connect(fds[0], (const struct sockaddr*)&peer, sizeof peer) == 0, "connect");
  fds[1] = bound(SOCK_DGRAM, kAddress, kAny, port_of(fds[0]));
  say_to(client, kHere, port_of(fds[1]));
  const long of_peer = heard(fds, 2);
  say_to(made(SOCK_DGRAM, kNone), kHere, port_of(fds[1]));
  return of_peer * 10 + heard(fds, 2);
}

static long udp_is_spread(void) {
  int fds[2] = {bound(SOCK_DGRAM, kPort, kHere, 0), 0};
  fds[1] = bound(SOCK_DGRAM, kPort, kHere, port_of(fds[0]));
  for (int i = 0; i < 64; ++i) say_to(made(SOCK_DGRAM, kNone), kHere, port_of(fds[0]));
  return heard(fds, 2);
}

static int bound_6(int type, bool only, int port) {
  const int fd = socket(AF_INET6, type, 0);
  check(fd >= 0 && set(fd, IPPROTO_IPV6, IPV6_V6ONLY, only) == 0, "IPV6_V6ONLY");
  const struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  check(bind(fd, (const struct sockaddr*)&address, sizeof address) == 0, "bind");
  return fd;
}

static long versions_apart(void) {
  return bound_to(made(SOCK_STREAM, kNone), kAny, port_of(bound_6(SOCK_STREAM, true, 0)));
}
static long versions_together(void) {
  return bound_to(made(SOCK_STREAM, kNone), kAny, port_of(bound_6(SOCK_STREAM, false, 0)));
}

static long connected_to(int listener) {
  check(listen(listener, 1) == 0, "listen");
  const struct sockaddr_in address = at(kHere, port_of(listener));
  return connect(made(SOCK_STREAM, kNone), (const struct sockaddr*)&address, sizeof address);
}
static long versions_of_one_only(void) {
  return connected_to(bound_6(SOCK_STREAM, true, 0));
}
static long versions_of_both(void) {
  return connected_to(bound_6(SOCK_STREAM, false, 0));
}

// --- groups and broadcasts

static int group_option(int fd, int name, const char* group) {
  struct ip_mreq request;
  inet_pton(AF_INET, group, &request.imr_multiaddr);
  inet_pton(AF_INET, kHere, &request.imr_interface);
  return setsockopt(fd, IPPROTO_IP, name, &request, sizeof request);
}

static int group_sender(void) {
  const int fd = made(SOCK_DGRAM, kNone);
  struct in_addr here;
  inet_pton(AF_INET, kHere, &here);
  check(setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &here, sizeof here) == 0, "IP_MULTICAST_IF");
  return fd;
}

static int in_group(int port) {
  const int fd = bound(SOCK_DGRAM, kAddress, kAny, port);
  check(group_option(fd, IP_ADD_MEMBERSHIP, kGroup) == 0, "IP_ADD_MEMBERSHIP");
  return fd;
}

static long group_is_heard(void) {
  int fds[2] = {in_group(0), 0};
  fds[1] = in_group(port_of(fds[0]));
  say_to(group_sender(), kGroup, port_of(fds[0]));
  return heard(fds, 2);
}
static long group_of_nobody(void) {
  const int fd = bound(SOCK_DGRAM, kNone, kAny, 0);
  say_to(group_sender(), kGroup, port_of(fd));
  return heard(&fd, 1);
}
static long group_of_another_socket(void) {
  int fds[2] = {in_group(0), 0};
  fds[1] = bound(SOCK_DGRAM, kAddress, kAny, port_of(fds[0]));
  say_to(group_sender(), kGroup, port_of(fds[0]));
  return heard(fds, 2);
}
static long group_that_was_left(void) {
  const int fd = in_group(0);
  check(group_option(fd, IP_DROP_MEMBERSHIP, kGroup) == 0, "IP_DROP_MEMBERSHIP");
  say_to(group_sender(), kGroup, port_of(fd));
  return heard(&fd, 1);
}
static long group_without_loop(void) {
  const int fd = in_group(0);
  const int sender = group_sender();
  check(set(sender, IPPROTO_IP, IP_MULTICAST_LOOP, 0) == 0, "IP_MULTICAST_LOOP");
  say_to(sender, kGroup, port_of(fd));
  return heard(&fd, 1);
}
static long group_is_an_address(void) {
  const int fd = bound(SOCK_DGRAM, kAddress, kGroup, 0);
  check(group_option(fd, IP_ADD_MEMBERSHIP, kGroup) == 0, "IP_ADD_MEMBERSHIP");
  const int sender = group_sender();
  say_to(sender, kGroup, port_of(fd));
  say_to(sender, kHere, port_of(fd));
  const long first = heard(&fd, 1);
  return first * 10 + heard(&fd, 1);
}
static long group_joined_twice(void) {
  return group_option(in_group(0), IP_ADD_MEMBERSHIP, kGroup);
}
static long group_not_joined(void) {
  return group_option(made(SOCK_DGRAM, kNone), IP_DROP_MEMBERSHIP, kGroup);
}
static long group_that_is_none(void) {
  return group_option(made(SOCK_DGRAM, kNone), IP_ADD_MEMBERSHIP, "10.0.0.1");
}
static long group_of_few_bytes(void) {
  return setsockopt(made(SOCK_DGRAM, kNone), IPPROTO_IP, IP_ADD_MEMBERSHIP, "x", 1);
}

static long broadcast_without_leave(void) {
  const struct sockaddr_in all = at("255.255.255.255", 9);
  return sendto(made(SOCK_DGRAM, kNone), "x", 1, 0, (const struct sockaddr*)&all, sizeof all);
}

// --- options

static long option_of(int type, int level, int name) {
  return get(made(type, kNone), level, name);
}
static long option_nodelay(void) {
  return option_of(SOCK_STREAM, IPPROTO_TCP, TCP_NODELAY);
}
static long option_keepidle(void) {
  return option_of(SOCK_STREAM, IPPROTO_TCP, TCP_KEEPIDLE);
}
static long option_keepcnt(void) {
  return option_of(SOCK_STREAM, IPPROTO_TCP, TCP_KEEPCNT);
}
static long option_maxseg(void) {
  return option_of(SOCK_STREAM, IPPROTO_TCP, TCP_MAXSEG);
}
static long option_ttl(void) {
  return option_of(SOCK_DGRAM, IPPROTO_IP, IP_TTL);
}
static long option_group_ttl(void) {
  return option_of(SOCK_DGRAM, IPPROTO_IP, IP_MULTICAST_TTL);
}
static long option_group_loop(void) {
  return option_of(SOCK_DGRAM, IPPROTO_IP, IP_MULTICAST_LOOP);
}
static long option_shared_port(void) {
  return get(made(SOCK_DGRAM, kPort), SOL_SOCKET, SO_REUSEPORT);
}
static long option_own_port(void) {
  return option_of(SOCK_DGRAM, SOL_SOCKET, SO_REUSEPORT);
}
static long option_set(void) {
  const int fd = made(SOCK_STREAM, kNone);
  check(set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 17) == 0, "TCP_KEEPIDLE");
  return get(fd, IPPROTO_TCP, TCP_KEEPIDLE);
}
static long option_of_one_byte(void) {
  unsigned char value = 0;
  socklen_t size = 1;
  check(getsockopt(made(SOCK_DGRAM, kNone), IPPROTO_IP, IP_TTL, &value, &size) == 0, "IP_TTL");
  return value * 10 + (long)size;
}
static long option_of_no_memory(void) {
  return setsockopt(made(SOCK_STREAM, kNone), IPPROTO_TCP, TCP_NODELAY, NULL, sizeof(int));
}
static long option_for_no_memory(void) {
  socklen_t size = sizeof(int);
  return getsockopt(made(SOCK_STREAM, kNone), IPPROTO_TCP, TCP_NODELAY, NULL, &size);
}
static long option_state(void) {
  struct tcp_info info;
  socklen_t size = sizeof info;
  const int fd = bound(SOCK_STREAM, kNone, kHere, 0);
  check(listen(fd, 1) == 0 && getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0, "TCP_INFO");
  return info.tcpi_state;
}
static long option_congestion(void) {
  char name[16] = "";
  socklen_t size = sizeof name;
  const int fd = made(SOCK_STREAM, kNone);
  check(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0, "TCP_CONGESTION");
  return size;
}

static const struct one_case kCases[] = {
    CASE(udp_shares_none),
    CASE(udp_first_shares),
    CASE(udp_second_shares),
    CASE(udp_both_share),
    CASE(udp_share_ports),
    CASE(udp_share_differently),
    CASE(udp_two_addresses),
    CASE(udp_one_address),
    CASE(udp_latest_hears),
    CASE(udp_latest_is_closed),
    CASE(udp_specific_hears),
    CASE(udp_connected_hears),
    CASE(udp_is_spread),
    CASE(tcp_shares_none),
    CASE(tcp_both_share),
    CASE(tcp_two_addresses),
    CASE(tcp_of_a_listener),
    CASE(tcp_listens_second),
    CASE(tcp_listens_with_port),
    CASE(tcp_by_address),
    CASE(tcp_is_spread),
    CASE(versions_apart),
    CASE(versions_together),
    CASE(versions_of_one_only),
    CASE(versions_of_both),
    CASE(group_is_heard),
    CASE(group_of_nobody),
    CASE(group_of_another_socket),
    CASE(group_that_was_left),
    CASE(group_without_loop),
    CASE(group_is_an_address),
    CASE(group_joined_twice),
    CASE(group_not_joined),
    CASE(group_that_is_none),
    CASE(group_of_few_bytes),
    CASE(broadcast_without_leave),
    CASE(option_nodelay),
    CASE(option_keepidle),
    CASE(option_keepcnt),
    CASE(option_maxseg),
    CASE(option_ttl),
    CASE(option_group_ttl),
    CASE(option_group_loop),
    CASE(option_shared_port),
    CASE(option_own_port),
    CASE(option_set),
    CASE(option_of_one_byte),
    CASE(option_of_no_memory),
    CASE(option_for_no_memory),
    CASE(option_state),
    CASE(option_congestion),
};

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run_cases(kCases, sizeof kCases / sizeof *kCases, argv[i]);
  return 0;
}
