#!/usr/bin/env bash
# Ports that sockets share, groups, broadcasts and options (sharing.c): a program says on simulated hosts what it has said
# on Linux (sharing.txt), and hosts hear each other's groups and broadcasts.
program=$PWD/tests/simulated/sharing table=tests/simulated/sharing.txt
. tests/simulated/as_linux.sh

as_on_linux 'ports of UDP' udp
as_on_linux 'ports of TCP' tcp versions
as_on_linux 'groups' group broadcast
as_on_linux 'options' option

# hears ADDRESS [GROUP]: two datagrams, or what has come within a second
hears() {
  cat <<END
python3 -c "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('$1', 5000))
for group in '${2:-}'.split():
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton('0.0.0.0'))
s.settimeout(1)
for _ in range(2):
    try: print('heard', *s.recvfrom(10))
    except TimeoutError: print('heard nothing')
"
END
}

says_to() { # ADDRESS
  cat <<END
python3 -c "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
time.sleep(0.5)
s.sendto(b'hello', ('$1', 5000))
"
END
}

# As many hosts as have heard it say so.
heard_by() { # LOG COUNT
  [ -f "$work/$1.log" ] || return
  local count
  count=$(grep -c "python3: heard b'hello'" "$work/$1.log")
  [ "$count" = "$2" ] && return
  fail "$count hosts have heard it, not $2: $(grep heard "$work/$1.log")"
  failures=$((failures + 1))
}

says='client2/python3: heard nothing'
rm -f "$work/first.log"
apart 'a group of two of four hosts' "$(says_to 239.1.2.3)" "$(hears 0.0.0.0 239.1.2.3)" "$(hears 0.0.0.0 239.1.2.4)" \
  "$(hears 239.1.2.3 239.1.2.3)"
heard_by first 2
says='client1/python3: heard '
for address in 255.255.255.255 10.0.0.255; do
  rm -f "$work/first.log"
  apart "a broadcast to $address" "$(says_to $address)" "$(hears 0.0.0.0)" "$(hears 0.0.0.0)"
  heard_by first 2
done

finish
