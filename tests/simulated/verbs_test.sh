#!/usr/bin/env bash
# Programs of the verbs, which tell each other of their queue pairs over TCP, in virtual time, on two hosts.
. tests/simulated/lib.sh

says='here/ibv_devinfo: hca_id:.anyrdma0$'
alike the_device 'ibv_devinfo -v'

# What is in /sys of it: as the device itself says, and on an interface that is there.
cat >"$work/in_sys" <<'END'
guid=$(ibv_devinfo | sed -n 's/.*node_guid:[[:space:]]*//p')
[ -n "$guid" ] && [ "$guid" = "$(cat /sys/class/infiniband/anyrdma0/node_guid)" ] && echo 'one GUID'
for each in /sys/class/infiniband/anyrdma0/device/net/*; do ls -d "/sys/class/net/${each##*/}"; done
for number in 0 1; do cat "/sys/class/infiniband/anyrdma0/ports/1/gid_attrs/ndevs/$number"; done
ls /dev/infiniband
sh -c 'echo 0 >/sys/class/infiniband/anyrdma0/node_guid' || cat /sys/class/infiniband/anyrdma0/ports/1/state
END
says='here/bash: one GUID$'
alike in_sys "bash $work/in_sys"
says='here/bash: uverbs0$'
alike in_dev "bash $work/in_sys"
says='here/bash: 4: ACTIVE$'
alike not_writable "bash $work/in_sys"
says='here/ibstat: .*Physical state: LinkUp$'
alike ibstat /usr/sbin/ibstat

seeds_matter=1

says='client1/ibv_.*: ([0-9]+ iters in [0-9.]+ seconds|success)'
for kind in rc uc ud srq xsrq; do
  server="ibv_${kind}_pingpong -g 1 -n 50"
  apart "ibv_${kind}_pingpong" "$server" "$server server"
  apart "ibv_${kind}_pingpong_with_events" "$server -e" "$server -e server"
done

says='client1/ib_.* ended with status 0'
for what in send write read; do
  apart "ib_${what}_lat" "ib_${what}_lat -n 20 -F" "ib_${what}_lat -n 20 -F server"
  apart "ib_${what}_bw" "ib_${what}_bw -n 200 -F" "ib_${what}_bw -n 200 -F server"
  [ "$what" = write ] || # perftest has none there
    apart "ib_${what}_lat_with_events" "ib_${what}_lat -e -n 20 -F" "ib_${what}_lat -e -n 20 -F server"
  apart "ib_${what}_bw_connected" "ib_${what}_bw -R -n 200 -F" "ib_${what}_bw -R -n 200 -F server"
done

says='bytes +#sent'
apart fi_pingpong_dgram 'fi_pingpong -p verbs -e dgram -I 5' 'fi_pingpong -p verbs -e dgram -I 5 server'

finish
