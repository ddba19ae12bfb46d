#!/usr/bin/env bash
# Programs of the verbs, which tell each other of their queue pairs over TCP, in virtual time.
. tests/simulated/lib.sh

s='127.0.0.1' # of the host that all are on

says='here/ibv_devinfo: hca_id:.anyrdma0$'
alike the_device 'ibv_devinfo -v'

says='[0-9]+ iters in [0-9.]+ seconds'
for kind in rc uc ud srq; do
  alike "ibv_${kind}_pingpong" "ibv_${kind}_pingpong -g 1 -n 50" "ibv_${kind}_pingpong -g 1 -n 50 $s"
  alike "ibv_${kind}_pingpong_with_events" "ibv_${kind}_pingpong -e -g 1 -n 50" "ibv_${kind}_pingpong -e -g 1 -n 50 $s"
done

says='here/ib_.* ended with status 0'
for what in send write read; do
  alike "ib_${what}_lat" "ib_${what}_lat -n 20 -F" "ib_${what}_lat -n 20 -F $s"
  alike "ib_${what}_bw" "ib_${what}_bw -n 200 -F" "ib_${what}_bw -n 200 -F $s"
  [ "$what" = write ] || # perftest has none there
    alike "ib_${what}_lat_with_events" "ib_${what}_lat -e -n 20 -F" "ib_${what}_lat -e -n 20 -F $s"
  alike "ib_${what}_bw_connected" "ib_${what}_bw -R -n 200 -F" "ib_${what}_bw -R -n 200 -F $s"
done

says='bytes +#sent'
alike fi_pingpong_dgram 'fi_pingpong -p verbs -e dgram -I 5' "fi_pingpong -p verbs -e dgram -I 5 $s"

finish
