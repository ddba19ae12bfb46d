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
c.recv(1)")" "$(py 'c = socket(); c.setblocking(False); f = lambda: c.connect_ex(("server", 7000))
a = f(); time.sleep(1); print(a, f(), f())')"

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
apart an_alarm_among_datagrams "$(py 's = socket(AF_INET, SOCK_DGRAM); s.bind(("", 7000)); s.settimeout(1)
try:
  while True: s.sendto(*s.recvfrom(1))
except TimeoutError: pass')" "$(py 'import signal
s = socket(AF_INET, SOCK_DGRAM); s.connect(("server", 7000)); time.sleep(0.1)
signal.signal(signal.SIGALRM, lambda *a: (print("Alarm clock"), exit())); signal.setitimer(signal.ITIMER_REAL, 0.001)
while True: s.send(b"x"); s.recv(1)')"

says='client1/python3: Alarm clock'
apart an_alarm_in_a_conversation "$(py "$accept
while b := c.recv(1): c.send(b)")" "$(py 'import signal
c = create_connection(("server", 7000)); signal.signal(signal.SIGALRM, lambda *a: (print("Alarm clock"), exit()))
signal.setitimer(signal.ITIMER_REAL, 0.001)
while True: c.send(b"x"); c.recv(1)')"

# --- on the links ---------------------------------------------------------------------------------------------------

# plan LINE...: of the cases that follow
plan() {
  printf '%s\n' "$@" >"$work/plan"
  settings=(--faults "$work/plan")
}
hello='c = create_connection(("server", 7000)); time.sleep(1.5); c.send(b"hello")'

settings=(--trace)
says='client1 -> server TCP 32768>7000 SYN seq='
apart a_connection_in_the_trace "$(py "$accept
c.recv(1)")" "$(py 'c = create_connection(("server", 7000)); c.send(b"x")')"
says='server -> client1 ICMP type=3 code=3'
apart a_refusal_in_the_trace true "$(py 's = socket(AF_INET, SOCK_DGRAM); s.sendto(b"x", ("server", 9)); time.sleep(1)')"

plan 'at 0s: slow client1<->server 5ms'
says='client1/python3: 10 10 10$' # milliseconds
apart a_round_trip "$(py "$accept
u = socket(AF_INET, SOCK_DGRAM); u.bind((\"\", 7000))
c.send(c.recv(1)); u.sendto(*u.recvfrom(1))")" "$(py 'a = time.time(); c = create_connection(("server", 7000))
b = time.time(); c.send(b"x"); c.recv(1); d = time.time()
u = socket(AF_INET, SOCK_DGRAM); u.sendto(b"x", ("server", 7000)); u.recv(1); e = time.time()
print(*(round(1000 * t) for t in (b - a, d - b, e - d)))')"

says='client1/python3: 115 114 0 106$'
apart asking_for_a_connection_before_it_is_there "$(py "$accept
c.recv(1)")" "$(py 'c = socket(); c.setblocking(False); f = lambda: c.connect_ex(("server", 7000))
a = [f(), f()]; time.sleep(1); print(*a, f(), f())')"

plan 'at 0s: slow client1<->server 50ms'
says="server/python3: \('10.0.0.2', 7001\) b'x' b'' 0\$"
both='c = socket(); c.bind(("", %d)); c.connect(("10.0.0.%d", %d)); c.send(b"x"); b = c.recv(1); c.shutdown(SHUT_WR)
print(c.getpeername(), b, c.recv(1), c.getsockopt(SOL_SOCKET, SO_ERROR))'
# shellcheck disable=SC2059 # a format
apart both_ask_for_one_connection "$(py "$(printf "$both" 7000 2 7001)")" "$(py "$(printf "$both" 7001 1 7000)")"

plan 'at 0s: cut client1->server'
says='^127\.[0-9]+ client1/python3: ETIMEDOUT'
apart cut_off_from_who_listens true "$(py '
try: create_connection(("server", 7000))
except OSError as e: print(errno.errorcode[e.errno])')"

says='^127\.[0-9]+ client1/python3: True 110 0$'
apart cut_off_without_waiting true "$(py 'c = socket(); c.setblocking(False); c.connect_ex(("server", 7000))
w = select.select([], [c], [])[1]
print(w == [c], c.getsockopt(SOL_SOCKET, SO_ERROR), c.getsockopt(SOL_SOCKET, SO_ERROR))')"

plan 'at 1s: cut client1->server' 'at 3s: mend client1->server'
says="^4\\.[0-9]+ server/python3: b'hello'"
apart held_while_the_link_is_cut "$(py "$accept
print(c.recv(9))")" "$(py "$hello")"

plan 'at 1s: cut client1->server'
says='^92[0-9]\.[0-9]+ client1/python3: ETIMEDOUT'
apart cut_off_for_good "$(py '
l = create_server(("", 7000)); c, who = l.accept(); time.sleep(1000)')" "$(py "$hello
try: c.recv(1)
except OSError as e: print(errno.errorcode[e.errno])")"

plan 'on client1->server packet 3: lose' 'on client1->server packet 4: lose'
says="^1\\.7[0-9]+ server/python3: b'hello'"
apart lost_and_sent_once_more "$(py "$accept
print(c.recv(9))")" "$(py "$hello; time.sleep(0.01)")"

plan 'on client1->server packet 3: corrupt'
apart changed_on_the_way_and_sent_once_more "$(py "$accept
print(c.recv(9))")" "$(py "$hello")"

plan 'on client1->server packet 1: lose' 'on client1->server packet 2: corrupt' 'on client1->server packet 3: duplicate'
says="server/python3: b'2' b'2' b'3'$"
apart datagrams_and_faults "$(py 's = socket(AF_INET, SOCK_DGRAM); s.bind(("", 7000))
print(*(s.recv(9) for i in range(3)))')" "$(py 'time.sleep(0.1); s = socket(AF_INET, SOCK_DGRAM)
for i in range(4): s.sendto(b"%d" % i, ("server", 7000))')"

plan 'at 1s: port-down server anyrdma0' 'at 2s: port-up server anyrdma0'
says="server/python3: b'2'$"
apart datagrams_for_a_port_that_is_down "$(py 's = socket(AF_INET, SOCK_DGRAM); s.bind(("", 7000))
print(s.recv(9))')" "$(py 's = socket(AF_INET, SOCK_DGRAM)
for i in range(2): time.sleep(1.3); s.sendto(b"%d" % (i + 1), ("server", 7000))')"

plan 'at 1s: crash server' 'at 2s: restart server'
says='^2\.[0-9]+ client1/python3: ECONNRESET EPIPE b'
apart a_peer_that_has_lost_its_power "$(py 'l = create_server(("", 7000))
if not select.select([l], [], [], 5)[0]: exit()
c, who = l.accept(); time.sleep(9)')" "$(py "$hello"'
def f(g, *a):
  try: return g(*a)
  except OSError as e: return errno.errorcode[e.errno]
print(f(c.recv, 1), f(c.send, b"x"), f(c.recv, 1))')"
settings=()

# --- ends -----------------------------------------------------------------------------------------------------------

says="server/python3: \[\(4, 17\)\] ECONNRESET b''$"
apart a_close_without_a_goodbye "$(py "$accept
p = select.poll(); p.register(c, 1); e = p.poll()
try: c.recv(1)
except OSError as x: print(e, errno.errorcode[x.errno], c.recv(1))")" "$(py 'c = create_connection(("server", 7000))
c.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0)); c.close()')"

says="client1/python3: ECONNRESET$"
apart closed_with_data_unread "$(py "$accept
time.sleep(0.1); c.close()")" "$(py 'c = create_connection(("server", 7000)); c.send(b"x")
try: c.recv(1)
except OSError as e: print(errno.errorcode[e.errno])')"

says="client1/python3: b'' 1 EPIPE$"
apart written_to_who_has_closed "$(py "$accept
c.close()")" "$(py 'c = create_connection(("server", 7000)); a = c.recv(1); b = c.send(b"x"); time.sleep(0.1)
try: c.send(b"x")
except OSError as e: print(a, b, errno.errorcode[e.errno])')"

says="client1/python3: b'all of it: 5'$"
apart one_direction_shut_down "$(py "$accept
n = 0
while b := c.recv(9): n += len(b)
c.send(b\"all of it: %d\" % n)")" "$(py 'c = create_connection(("server", 7000)); c.send(b"hello"); c.shutdown(SHUT_WR)
print(c.recv(99))')"

says='client1/python3: 5555 5555 True$'
apart one_port_for_one_connection_after_the_other "$(py 'l = create_server(("", 7000))
for i in range(2): c, who = l.accept(); c.recv(1); c.close()')" "$(py 'a = time.time(); p = []
for i in range(2):
  c = socket(); c.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1); c.bind(("", 5555)); c.connect(("server", 7000))
  p.append(c.getsockname()[1]); c.send(b"x"); c.recv(1); c.close()
print(*p, time.time() - a < 1)')"

# The reader sleeps for two seconds; who writes waits for it, and nothing is changed on the way.
says='client1/python3: True True$'
apart more_than_there_is_room_for "$(py "$accept
import hashlib
time.sleep(2); h = hashlib.md5()
while b := c.recv(9999): h.update(b)
c.send(h.digest())")" "$(py 'import hashlib
c = create_connection(("server", 7000)); d = bytes(i * i % 251 for i in range(3000000)); a = time.time()
c.sendall(d); b = time.time(); c.shutdown(SHUT_WR); print(b - a > 1.9, c.recv(99) == hashlib.md5(d).digest())')"

says='client1/python3: 3000000 True$'
apart more_than_there_is_room_for_without_waiting "$(py "$accept
time.sleep(2); n = 0
while b := c.recv(9999): n += len(b)
print(n)")" "$(py 'c = create_connection(("server", 7000)); c.setblocking(False); d = bytes(100000); n = 0; w = 0
while n < 3000000:
  try: n += c.send(d[:3000000 - n])
  except BlockingIOError: w += 1; select.select([], [c], [])
print(n, w > 0)')"

says='client1/python3: 0 0 3$' # seconds
apart more_than_want_to_be_accepted "$(py 'l = socket(); l.bind(("", 7000)); l.listen(0); time.sleep(2)
for i in range(3): c, who = l.accept(); c.recv(1)')" "$(py 'def f():
  a = time.time(); c = create_connection(("server", 7000)); all.append(c); return int(time.time() - a)
all = []; print(f(), f(), f())')"

says="client1/python3: b'HELLO'$"
apart a_child_that_has_the_connection "$(py "$accept
if os.fork(): c.close(); os.wait()
else: os.dup2(c.fileno(), 0); os.dup2(c.fileno(), 1); os.execv(\"/usr/bin/tr\", [\"tr\", \"a-z\", \"A-Z\"])")" "$(py '
c = create_connection(("server", 7000)); c.send(b"hello"); c.shutdown(SHUT_WR); print(c.recv(9)); print(c.recv(9))')"

says='server/python3: 60 60000$'
apart more_datagrams_than_anybody_reads "$(py 's = socket(AF_INET, SOCK_DGRAM); s.bind(("", 7000)); time.sleep(1)
a = [len(s.recv(99999)) for i in range(61)]; print(sum(n == 1 for n in a), max(a))')" "$(py 'time.sleep(0.1); s = socket(AF_INET, SOCK_DGRAM)
s.sendto(bytes(60000), ("server", 7000))
for i in range(60): s.sendto(b"x", ("server", 7000))')"

says='client1/python3: True True 111 False$'
apart a_refusal_wakes_who_polls true "$(py 's = socket(AF_INET, SOCK_DGRAM); s.connect(("server", 9)); s.send(b"x"); a = time.time()
r = select.select([s], [], [], 5)[0]; print(r == [s], time.time() - a < 1, s.getsockopt(SOL_SOCKET, SO_ERROR), end=" ")
print(select.select([s], [], [], 1)[0] == [s])')"

says="client1/python3: b'tcp' b'udp' \('fd00::1', 7000, 0, 0\) 9000$"
table_row over_ipv6 "$python" --host server=fd00::1 --host client1=fd00::2 --on server "$(py '
l = create_server(("fd00::1", 7000), family=AF_INET6); s = socket(AF_INET6, SOCK_DGRAM); s.bind(("fd00::1", 7000))
c, who = l.accept(); c.send(b"tcp"); b, who = s.recvfrom(9999); s.sendto(b"udp", who); s.sendto(bytes(9000), who)')" \
  --on client1 "$(py 'c = create_connection(("fd00::1", 7000)); s = socket(AF_INET6, SOCK_DGRAM)
s.sendto(b"hello", ("fd00::1", 7000)); b, who = s.recvfrom(9); print(c.recv(9), b, who, len(s.recv(9999)))')"

says="server/python3: \['eth0', 'lo'\] \[\(1, 'lo'\), \(2, 'eth0'\)\] 10.0.0.1$"
needs_network interfaces "$(py 'import fcntl
s = socket(); a = fcntl.ioctl(s, 0x8915, struct.pack("256s", b"eth0"))[20:24]
print(sorted(os.listdir("/sys/class/net")), if_nameindex(), inet_ntoa(a))')"

finish
