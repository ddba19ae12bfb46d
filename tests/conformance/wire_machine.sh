# Within the machine: puts the other end of its wire into a network namespace of its own, then performs
# the scenarios across it.
# shellcheck shell=sh
set -eu
ip address flush dev veth0 scope global to 10.9.0.2
ip address show dev veth0 | grep -q 10.9.0.3 || ip address add 10.9.0.3/24 dev veth0
ip netns add peer
ip link set veth1 netns peer
for client in $(seq 32 47); do ip -n peer address add "10.9.0.$client/24" dev veth1; done
ip -n peer link set veth1 up
ip -n peer link set lo up
exec "$@"
