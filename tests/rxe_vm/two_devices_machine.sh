# two_devices_machine.sh COMMAND [ARGUMENT...], within the machine: gives it a second wire with a device, rxe1.
# shellcheck shell=sh
set -eu
ip link add rail1 type veth peer name rail1p
ip link set rail1p up
ip link set rail1 up
ip address add 10.9.5.1/24 dev rail1
rdma link add rxe1 type rxe netdev rail1
until grep -qs "^0000:0000:0000:0000:0000:ffff" /sys/class/infiniband/rxe1/ports/1/gids/[0-3]; do sleep 0.1; done
exec "$@"
