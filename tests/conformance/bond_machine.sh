# Within the machine: puts its Soft-RoCE device on a bond of two links, which takes the link address of the one in use,
# then performs the scenarios whose links fail over.
# shellcheck shell=sh
set -eu
rdma link delete rxe0
ip address flush dev veth0
ip link add bond0 type bond mode active-backup fail_over_mac active miimon 100
ip link add veth2 type veth peer name veth3
ip link set veth3 up
for link in veth0 veth2; do
  ip link set $link down
  ip link set $link master bond0
done
ip link set bond0 up
for address in 10.9.0.1 10.9.0.2 10.9.0.3; do ip address add "$address/24" dev bond0; done
until [ "$(cat /sys/class/net/bond0/bonding/active_slave)" = veth0 ]; do sleep 0.1; done
rdma link add rxe0 type rxe netdev bond0
until grep -qs "^0000:0000:0000:0000:0000:ffff" /sys/class/infiniband/rxe0/ports/1/gids/[0-3]; do sleep 0.1; done
exec "$@"
