# hub_machine.sh PROGRAM [ARGUMENT...], within the machine after bond_machine.sh: the client has a device and a bond of its
# own, and a hub is between the two, which loses what it is told to (losing_hub.py).
# shellcheck shell=sh
set -eu
ip link add bond1 type bond mode active-backup fail_over_mac active miimon 100
ip link add veth4 type veth peer name veth5
ip link add veth6 type veth peer name veth7
for link in veth5 veth7; do ip link set $link up; done
for link in veth4 veth6; do ip link set $link master bond1; done
ip link set bond1 up
until [ "$(cat /sys/class/net/bond1/bonding/active_slave)" = veth4 ]; do sleep 0.1; done

# Performances side by side are told apart by the address that the client asks for.
for number in $(seq 100 199); do ip address add "10.9.0.$number/24" dev bond0; done
# The hub's own ends would answer for the addresses of the machine.
for link in veth1 veth3 veth5 veth7; do echo 1 >/proc/sys/net/ipv4/conf/$link/arp_ignore; done
python3 tests/conformance/losing_hub.py /run/hub veth1 veth3 veth5 veth7 &
until [ -S /run/hub ]; do sleep 0.1; done
SERVER_LINK=bond0 CLIENT_LINK=bond1 exec sh tests/conformance/devices_machine.sh "$@"
