# two_devices_changes.sh NUMBER, within the machine: makes a change of two_devices.c.
# shellcheck shell=sh
set -eu
case $1 in
1) ip address add 10.9.6.1/24 dev rail1 ;;
2) ip address del 10.9.5.1/24 dev rail1 ;;
3) ip address add 10.9.7.1/24 dev rail1 ;;
4) ip address add 10.9.5.1/24 dev veth0 ;;
5) ip link set rail1p down ;;
6) ip link set rail1p up ;;
esac
sleep 1 # the kernel changes tables of GIDs a little later, and says to nobody when
