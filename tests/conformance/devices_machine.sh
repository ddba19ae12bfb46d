# devices_machine.sh PROGRAM [ARGUMENT...], within the machine: gives the client a device of its own, of the same type as
# the server's, and performs the scenarios across the wire between the two. Their interfaces are SERVER_LINK and
# CLIENT_LINK, in want of which they are the two ends of the machine's wire.
#
# All addresses are this machine's; yet what is sent to one of the other side's takes the wire, and what comes from
# there is taken in.
# shellcheck shell=sh
set -eu
server=${SERVER_LINK:-veth0} client=${CLIENT_LINK:-veth1}
ip address show dev "$server" | grep -q 10.9.0.3 || ip address add 10.9.0.3/24 dev "$server"
ip address add 10.9.1.1/24 dev "$client"
for link in all "$server" "$client"; do
  echo 1 >"/proc/sys/net/ipv4/conf/$link/accept_local"
  echo 0 >"/proc/sys/net/ipv4/conf/$link/rp_filter"
done

# Before the table of this machine's addresses come two of their own: for what is sent (iif lo), and for when the kernel
# asks by which interface a peer is reached (oif).
ip rule add pref 100 lookup local
ip rule del pref 0
ip route add 10.9.0.0/24 dev "$client" src 10.9.1.1 table 101
ip route add 10.9.1.0/24 dev "$server" src 10.9.0.1 table 102
ip rule add pref 10 iif lo to 10.9.0.0/24 lookup 101
ip rule add pref 10 iif lo to 10.9.1.0/24 lookup 102
ip rule add pref 11 oif "$client" to 10.9.0.0/24 lookup 101
ip rule add pref 11 oif "$server" to 10.9.1.0/24 lookup 102

case "$(rdma link)" in
*siw0/*) rdma link add siw1 type siw netdev "$client" ;;
*)
  rdma link add rxe1 type rxe netdev "$client"
  until grep -qs "^0000:0000:0000:0000:0000:ffff" /sys/class/infiniband/rxe1/ports/1/gids/[0-3]; do sleep 0.1; done
  ;;
esac
exec "$@"
