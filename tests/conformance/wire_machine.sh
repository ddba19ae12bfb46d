# Within the machine: puts the other end of its wire into a network namespace of its own, then performs
# the scenarios across it.
# shellcheck shell=sh
set -eu
ip address flush dev veth0 scope global to 10.9.0.2
ip address show dev veth0 | grep -q 10.9.0.3 || ip address add 10.9.0.3/24 dev veth0
ip netns add peer
ip link set veth1 netns peer
ip -n peer link set veth1 up
ip -n peer link set lo up
# The kernel's connection manager deals with no other message while it asks where a peer's neighbour is, up to
# a second for each: were they not known, requests would overtake each other.
link_address=$(ip netns exec peer cat /sys/class/net/veth1/address)
for client in $(seq 32 47); do
  ip -n peer address add "10.9.0.$client/24" dev veth1
  ip neighbor add "10.9.0.$client" lladdr "$link_address" dev veth0
done
exec "$@"
