#!/usr/bin/env bash
# Programs of the verbs, which tell each other of their queue pairs over TCP, in virtual time, on two hosts.
. tests/simulated/lib.sh

says='here/ibv_devinfo: hca_id:.anyrdma0$'
alike the_device 'ibv_devinfo -v'

# What is in /sys of it: as the device itself says, on an interface that is there, and for nobody to write.
cat >"$work/in_sys" <<'END'
device=/sys/class/infiniband/anyrdma0
guid=$(ibv_devinfo | sed -n 's/.*node_guid:[[:space:]]*//p')
interface=$(ls $device/device/net)
differs() { echo "otherwise: $1" && exit 1; }
[ -n "$guid" ] && [ "$(cat $device/node_guid)" = "$guid" ] || differs "GUID of $guid"
[ -d "/sys/class/net/$interface" ] || differs "interface $interface"
[ "$(cat $device/ports/1/gid_attrs/ndevs/0)" = "$interface" ] || differs 'interface of the first GID'
[ "$(ls /dev/infiniband | xargs)" = 'rdma_cm uverbs0' ] || differs nodes
! sh -c "echo 0 >$device/node_guid" 2>/dev/null || differs 'what can be written'
[ "$(cat $device/ports/1/state)" = '4: ACTIVE' ] || differs state
END
says=
alike in_sys "bash $work/in_sys"
says='here/ibstat: .*Physical state: LinkUp$'
alike ibstat /usr/sbin/ibstat

says='here/starving: deregistered$'
alike 'a_thread_that_posts_without_pause_lets_others_in' "$PWD/tests/simulated/starving"
if [ -z "${MEMORIES:-}" ]; then # a weak memory makes the effects of a request later
  says='here/pacing: atomic: [0-9]+ ns each$'
  alike 'an_operation_takes_no_longer_for_the_clock_readings_of_the_library' "$PWD/tests/simulated/pacing"
fi

# A host has its device whatever environment a program gives to the one that it executes.
says='here/[a-z0-9_]*: 1 HCA found:$'
alike 'a device beside another library to load first' 'sh -c "LD_PRELOAD=libm.so.6 ibv_devinfo -l"'
alike 'a device beside other libraries to look for' 'env LD_LIBRARY_PATH=/nowhere ibv_devinfo -l'
alike 'a device in an empty environment' 'env -i /usr/bin/ibv_devinfo -l'
alike 'a device without what is loaded first' 'env -u LD_PRELOAD ibv_devinfo -l'
alike 'a device by vfork' 'python3 -c "import subprocess; subprocess.run([\"ibv_devinfo\", \"-l\"], env={\"LD_PRELOAD\": \"\"})"'
alike 'a device by putenv' 'python3 -c "import os; os.putenv(\"LD_PRELOAD\", \"libm.so.6\"); os.execv(\"/usr/bin/ibv_devinfo\", [\"ibv_devinfo\", \"-l\"])"'
says='here/[a-z]*: verify_asan_link_order=0:detect_leaks=0$'
alike 'options of AddressSanitizer' 'env ASAN_OPTIONS=detect_leaks=0 sh -c "echo $ASAN_OPTIONS"'

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

# Its sides wait for the last byte of each other's WRITE, here of one with 64 packets.
apart ib_write_lat_of_many_packets 'ib_write_lat -s 65536 -n 20 -F' 'ib_write_lat -s 65536 -n 20 -F server'
apart ib_write_bw_unreliable 'ib_write_bw -c UC -n 200 -F' 'ib_write_bw -c UC -n 200 -F server'
apart ib_send_lat_of_datagrams 'ib_send_lat -c UD -n 20 -F' 'ib_send_lat -c UD -n 20 -F server'

says='bytes +#sent'
apart fi_pingpong_dgram 'fi_pingpong -p verbs -e dgram -I 5' 'fi_pingpong -p verbs -e dgram -I 5 server'

finish
