#!/usr/bin/env bash
# What others build upon: fio's rdma engine, UCX, libfabric, qperf, on several hosts in virtual time.
. tests/simulated/lib.sh
seeds_matter=1

s=10.0.0.1 # of the host "server"

# To fio's rdma engine `rw=read` means the server. Its depth holds every message (tests/programs/fio_test.sh).
fio='--ioengine=rdma --port=7000 --bs=16k --size=256k --verify_state_save=0'
says='client1/fio: +WRITE: .* io=256KiB '
for verb in write read send; do
  apart "fio_$verb" "fio --name=server $fio --rw=read --iodepth=16" \
    "fio --name=client $fio --rw=write --iodepth=8 --hostname=$s --verb=$verb"
done

# The client puts a sum into each block, and the server looks at it.
says='server/fio: +READ: .* io=256KiB '
apart fio_verified "fio --name=server $fio --rw=read --iodepth=16 --verify=crc32c --verify_fatal=1" \
  "fio --name=client $fio --rw=write --iodepth=8 --hostname=$s --verb=send --verify=crc32c --do_verify=0"

says='client1/ucx_perftest: Final: +100 '
ucx_perftest=$(ucx_perftest_by_itself)
export UCX_NET_DEVICES=anyrdma0:1 # not shared memory, nor TCP
for test in tag_lat 'tag_bw -s 65536' 'stream_bw -s 4096' ucp_am_lat ucp_put_lat 'ucp_get -s 65536' ucp_fadd; do
  export UCX_TLS=rc
  apart "ucx_${test// /_}" "$ucx_perftest" "$ucx_perftest -n 100 -w 10 $s -t $test"
done
for test in tag_lat 'tag_bw -s 65536'; do
  export UCX_TLS=ud
  apart "ucx_ud_${test// /_}" "$ucx_perftest" "$ucx_perftest -n 100 -w 10 $s -t $test"
done
unset UCX_TLS
ucx_perftest+=' -d anyrdma0:1 -x rc_verbs'
apart ucx_uct_am_lat "$ucx_perftest" "$ucx_perftest -n 100 -w 10 -t am_lat $s"
apart ucx_uct_fadd "$ucx_perftest" "$ucx_perftest -n 100 -w 10 -t fadd $s"

# The client checks what it reads, the server what it is sent.
export UCX_TLS=rc UCX_SOCKADDR_TLS_PRIORITY=rdmacm
says="client1/.*: .*Client exit with status 'OK'"
settings=(--background server 'io_demo -q -d 64:65536')
# It tries once, and UCX 1.18's server listens later than its client begins.
apart ucx_io_demo true "sh -c 'sleep 1; exec io_demo -q -c 1 -i 50 -d 64:65536 -o read,write $s'"
settings=()
unset UCX_TLS UCX_SOCKADDR_TLS_PRIORITY UCX_NET_DEVICES

says='client1/ib_.* ended with status 0'
apart ib_atomic_lat 'ib_atomic_lat -n 20 -F' "ib_atomic_lat -n 20 -F $s"
apart ib_atomic_bw 'ib_atomic_bw -n 100 -F' "ib_atomic_bw -n 100 -F $s"
apart ib_atomic_lat_connected 'ib_atomic_lat -R -n 20 -F' "ib_atomic_lat -R -n 20 -F $s"
apart ib_atomic_bw_with_events 'ib_atomic_bw -e -n 100 -F' "ib_atomic_bw -e -n 100 -F $s"

# libfabric asks getifaddrs(3) for the host's addresses.
says='client1/fi_pingpong: 1m +5 +=5 '
for kind in '-p verbs -e msg' "-p 'verbs;ofi_rxm' -e rdm" "-p 'verbs;ofi_rxd' -e rdm" "-p 'verbs;ofi_rxm' -e rdm -m tagged"; do
  needs_network "fi_pingpong${kind//[^a-z]/_}" "fi_pingpong -c -I 5 $kind" "fi_pingpong -c -I 5 $kind $s"
done

# A test of qperf's takes a second, of which a system call takes enough that it does not become a million of them.
for test in tcp_lat tcp_bw udp_lat; do
  says="client1/qperf: +(latency|bw|send_bw) +=  "
  settings=(--call-cost 400us --background server qperf)
  apart "qperf_$test" true "qperf -t 1 $s $test"
done
for test in rc_lat rc_bw rc_rdma_write_bw rc_rdma_read_lat rc_fetch_add_mr; do
  says="client1/qperf: +(latency|bw|msg_rate) +=  "
  # The server deregisters its memory while READs of the client are on the way (docs/memory.md).
  wrong_under=
  [ $test != rc_rdma_read_lat ] || wrong_under='spec relaxed unordered'
  apart "qperf_$test" true "qperf -t 1 -cm 1 $s $test"
done
wrong_under=
settings=()

finish
