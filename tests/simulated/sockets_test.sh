#!/usr/bin/env bash
# TCP and UDP between simulated hosts: what sockets answer, as between real ones.
. tests/simulated/lib.sh

python=/usr/bin/python3

# Some lines of Python.
py() { printf "%s -c '%s'" "$python" "import errno, os, select, socket, struct, time
from socket import *
$1"; }

accept='l = create_server(("", 7000)); c, who = l.accept()'

says="client1/python3: \('10.0.0.2', 32768\) \('10.0.0.1', 7000\)$"
apart names_of_a_connection "$(py "$accept
print(c.getsockname(), c.getpeername() == who, who)
c.recv(9)")" "$(py 'c = create_connection(("server", 7000))
print(c.getsockname(), c.getpeername())
c.send(b"x")')"

says="server/python3: \('10.0.0.1', 7000\) True \('10.0.0.2', 32768\)$"
apart names_of_an_accepted_connection "$(py "$accept
print(c.getsockname(), c.getpeername() == who, who)
c.recv(9)")" "$(py 'c = create_connection(("server", 7000)); c.send(b"x"); c.recv(1)')"

says="server/python3: \('127.0.0.1', 7000\) \('127.0.0.1', [0-9]+\)$"
apart names_within_a_host "$(py 'l = create_server(("", 7000))
c = create_connection(("localhost", 7000)); a, who = l.accept()
print(a.getsockname(), who); print(c.getpeername() == a.getsockname(), c.getsockname() == who)')"

says="client1/python3: \('::ffff:10.0.0.2', 7001, 0, 0\)"
apart names_of_both_families "$(py 'l = create_server(("", 7000), family=AF_INET6, dualstack_ipv6=True); a, who = l.accept()
print(who[0]); a.recv(1)')" "$(py 'c = socket(AF_INET6); c.bind(("::", 7001)); c.connect(("::ffff:10.0.0.1", 7000))
print(c.getsockname()); c.send(b"x")')"

says="client1/python3: ECONNREFUSED"
for where in '"server", 7001' '"localhost", 7001' '"server", 0'; do
  apart "refused_at_${where//[^a-z0-9]/}" true "$(py "
try: create_connection(($where))
except OSError as e: print(errno.errorcode[e.errno])")"
done

# Who listens to its loopback address is nobody to others.
apart refused_by_who_listens_inside "$(py 'l = create_server(("127.0.0.1", 7000)); time.sleep(1)')" "$(py '
try: create_connection(("server", 7000))
except OSError as e: print(errno.errorcode[e.errno])')"

says='^3\.[0-9]+ client1/python3: EHOSTUNREACH'
apart nobody_has_the_address true "$(py '
try: create_connection(("10.0.0.77", 7000))
except OSError as e: print(errno.errorcode[e.errno])')"

says='client1/python3: ENETUNREACH'
apart no_way_there true "$(py '
try: create_connection(("192.0.2.1", 7000))
except OSError as e: print(errno.errorcode[e.errno])')"

says='client1/python3: 115 True 0 106$'
apart connecting_without_waiting "$(py "$accept
c.recv(1)")" "$(py 'c = socket(); c.setblocking(False); e = c.connect_ex(("server", 7000))
w = select.select([], [c], [])[1]
print(e, w == [c], c.getsockopt(SOL_SOCKET, SO_ERROR), c.connect_ex(("server", 7000)))
c.send(b"x")')"

says='client1/python3: 115 True 111 0$'
apart refused_without_waiting true "$(py 'c = socket(); c.setblocking(False); e = c.connect_ex(("server", 7000))
w = select.select([], [c], [])[1]
print(e, w == [c], c.getsockopt(SOL_SOCKET, SO_ERROR), c.getsockopt(SOL_SOCKET, SO_ERROR))')"

says='client1/python3: 115 0 106$'
apart asking_for_a_connection_once_more "$(py "$accept
c.recv(1)")" "$(py 'c = socket(); c.setblocking(False)
print(*(c.connect_ex(("server", 7000)) for i in range(3)))')"

says='server/python3: EADDRINUSE EADDRNOTAVAIL 7000$'
apart bound_twice "$(py 'def f(where):
  try: s = socket(); s.bind(where); return s
  except OSError as e: return errno.errorcode[e.errno]
a = f(("", 7000)); b = f(("", 7000)); c = f(("10.0.0.2", 7000)); a.close()
print(b, c, f(("", 7000)).getsockname()[1])')"

# The usual way to ask for one's own address.
says='client1/python3: 10.0.0.2 10.0.0.1$'
apart own_address_of_a_datagram_socket true "$(py 's = socket(AF_INET, SOCK_DGRAM); s.connect(("server", 9))
print(s.getsockname()[0], s.getpeername()[0])')"

says='client1/python3: ECONNREFUSED$'
apart a_datagram_that_nobody_takes true "$(py 's = socket(AF_INET, SOCK_DGRAM); s.connect(("server", 9)); s.send(b"x")
try: s.recv(1)
except OSError as e: print(errno.errorcode[e.errno])')"

says="client1/python3: b'from the server' \('10.0.0.1', 7000\)$"
apart datagrams_there_and_back "$(py 's = socket(AF_INET, SOCK_DGRAM); s.bind(("", 7000))
b, who = s.recvfrom(99); print(b, who); s.sendto(b"from the server", who)')" "$(py '
time.sleep(0.1); s = socket(AF_INET, SOCK_DGRAM); s.sendto(b"hello", ("server", 7000)); print(*s.recvfrom(99))')"

says="client1/python3: b'right'$"
apart a_connected_socket_hears_its_peer_alone "$(py 's = socket(AF_INET, SOCK_DGRAM); s.bind(("", 7000))
b, who = s.recvfrom(99); t = socket(AF_INET, SOCK_DGRAM); t.sendto(b"wrong", who); s.sendto(b"right", who)')" "$(py '
time.sleep(0.1); s = socket(AF_INET, SOCK_DGRAM); s.connect(("server", 7000)); os.write(s.fileno(), b"hello")
print(s.recv(99))')"

# Whoever asks again and again without waiting lets others go on.
says="server/python3: b'hi' True$"
for ask in 'c.recv(9, MSG_DONTWAIT)' 'select.select([c], [], [], 0)[0]' 'p.poll(0)' 'e.poll(0)'; do
  apart "asking_${ask//[^a-z]/}_in_vain" "$(py "$accept
p = select.poll(); p.register(c, 1); e = select.epoll(); e.register(c, 1); a = time.time(); b = None
while not b:
  try: b = $ask
  except BlockingIOError: pass
print(b if type(b) is bytes else c.recv(9), time.time() - a < 0.11)")" "$(py '
c = create_connection(("server", 7000)); time.sleep(0.1); c.send(b"hi")')"
done

# So does who writes and reads without a pause: an alarm comes.
says='client1/python3: Alarm clock'
apart an_alarm_in_a_conversation "$(py "$accept
while b := c.recv(1): c.send(b)")" "$(py 'import signal
c = create_connection(("server", 7000)); signal.signal(signal.SIGALRM, lambda *a: (print("Alarm clock"), exit()))
signal.setitimer(signal.ITIMER_REAL, 0.001)
while True: c.send(b"x"); c.recv(1)')"

says="server/python3: \['eth0', 'lo'\] \[\(1, 'lo'\), \(2, 'eth0'\)\] 10.0.0.1$"
needs_network interfaces "$(py 'import fcntl
s = socket(); a = fcntl.ioctl(s, 0x8915, struct.pack("256s", b"eth0"))[20:24]
print(sorted(os.listdir("/sys/class/net")), if_nameindex(), inet_ntoa(a))')"

finish
