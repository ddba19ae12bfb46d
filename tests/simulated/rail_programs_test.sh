#!/usr/bin/env bash
# Programs that use two rails, unmodified, and what they do when one rail fails in the middle: they survive it, or end
# with an error. Where a program waits for ever, the run ends at its limit and says where. docs/support.md lists which.
. tests/simulated/lib.sh
. tests/simulated/rails.sh

hosts=(--host server=rail0=10.0.0.1/24,rail1=10.0.1.1/24 --host client=rail0=10.0.0.2/24,rail1=10.0.1.2/24)

# --- UCX: a rendezvous reads half of a message over each device

export UCX_TLS=rc,self UCX_NET_DEVICES=anyrdma0:1,anyrdma1:1 UCX_MAX_RNDV_RAILS=2
ucx_perftest=$(ucx_perftest_by_itself)
ucx() { # NAME TEST
  rails "$1" "server:$ucx_perftest" "client:$ucx_perftest 10.0.0.1 -s 1000000 -n 50 -w 5 -t $2"
}
says='client/ucx_perftest: Final: +50 '
for test in tag_bw ucp_put_lat ucp_get ucp_am_bw; do ucx "ucx_$test" "$test"; done

# Half of each message waits for as long as the rail fails, so UCX uses both; then all arrives.
says='^1\.[0-9]+ client/ucx_perftest: Final: +50 '
for fault in 'cut-rail server rail0' 'cut-rail client rail1' 'port-down client anyrdma0' 'port-down server anyrdma1'; do
  plan "on server completion RDMA_READ 30: $fault for 1s"
  ucx "ucx_survives_${fault// /_}" tag_bw
done

# What fails for longer than the retries take fails the endpoint: UCX takes no other rail. Without error handling, the
# program aborts; the other end may poll for ever.
export UCX_RC_TIMEOUT=10ms UCX_RC_RETRY_COUNT=2
expected=1
for fault in 'cut-rail server rail1' 'port-down server anyrdma1' 'remove client anyrdma1'; do
  plan "on server completion RDMA_READ 30: $fault"
  settings+=(--limit 1s)
  says='server/ucx_perftest: .*send completion with error: transport retry counter exceeded'
  ucx "ucx_aborts_after_${fault// /_}" tag_bw
done
plan 'on server completion RDMA_READ 30: remove server anyrdma1'
settings+=(--limit 1s)
says='server/ucx_perftest was ended by signal 6'
ucx ucx_aborts_after_remove_server_anyrdma1 tag_bw

# With it, both ends are told, the second one by UCX's own keepalive; ucx_perftest polls on.
export UCX_KEEPALIVE_INTERVAL=200ms
ucx_perftest+=' -e'
plan 'on server completion RDMA_READ 30: cut-rail server rail1'
settings+=(--limit 1s)
says='server/ucx_perftest: .*error handler called with status -80 '
ucx ucx_reports_to_the_reader tag_bw
says='client/ucx_perftest: .*error handler called with status -25 '
ucx ucx_reports_to_the_writer tag_bw
expected=0
settings=()
unset UCX_RC_TIMEOUT UCX_RC_RETRY_COUNT UCX_KEEPALIVE_INTERVAL

# --- Open MPI over UCX: two ranks exchange megabytes and look at each byte

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cat >"$work/agent" <<'END'
#!/bin/sh
# agent HOST COMMAND...: runs a command on another host
host=$1
shift
echo "$*" >/tmp/orders/$host.new && mv /tmp/orders/$host.new /tmp/orders/$host
while [ ! -e /tmp/orders/$host.done ]; do sleep 0.1; done
exit "$(cat /tmp/orders/$host.done)"
END
cat >"$work/obey" <<'END'
#!/bin/sh
# obey HOST: runs what the agent asks for
while [ ! -e /tmp/orders/$1 ]; do sleep 0.1; done
sh -c "$(cat /tmp/orders/$1)"
echo $? >/tmp/orders/$1.done
END
chmod +x "$work/agent" "$work/obey"
cat >"$work/exchange.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { kSize = 1000000, kRounds = 15 };
int main(int count, char** arguments) {
  int rank, wrong = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char* sent = malloc(kSize);
  unsigned char* received = malloc(kSize);
  for (int round = 0; round < kRounds; ++round) {
    memset(sent, rank + round, kSize);
    MPI_Sendrecv(sent, kSize, MPI_BYTE, 1 - rank, 0, received, kSize, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < kSize; ++i) wrong += received[i] != 1 - rank + round;
  }
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
END
cat >"$work/mpi.txt" <<END
share /tmp/orders
host server rail0=10.0.0.1/24 rail1=10.0.1.1/24
host client rail0=10.0.0.2/24 rail1=10.0.1.2/24
on server mpirun.openmpi --mca plm_rsh_agent $work/agent --host 10.0.0.1,10.0.0.2 -n 2 --mca pml ucx --mca osc ucx --mca btl ^openib,tcp -x UCX_TLS=rc,self -x UCX_NET_DEVICES=anyrdma0:1,anyrdma1:1 -x UCX_MAX_RNDV_RAILS=2 $work/exchange
on client $work/obey 10.0.0.2
limit 60s
END
mpi() { # NAME
  if command -v mpicc.openmpi >/dev/null; then
    [ -x "$work/exchange" ] || mpicc.openmpi -O1 -o "$work/exchange" "$work/exchange.c" || failures=1
    table_row "$1" mpirun.openmpi "$work/mpi.txt"
  else
    not_yet "$1" 'mpicc.openmpi is not installed'
  fi
}
says='server/mpirun.openmpi: rank 1: 0 wrong'
mpi openmpi_over_two_rails
says='^1\.[0-9]+ server/mpirun.openmpi: rank 1: 0 wrong'
plan 'on server completion RDMA_READ 15: cut-rail server rail1 for 1s'
mpi openmpi_survives_cut_rail
# All ranks end, and mpirun says which one was the first.
expected=1
says='server/mpirun.openmpi ended with status 134'
plan 'on server completion RDMA_READ 15: port-down server anyrdma1'
mpi openmpi_aborts_after_port_down
plan 'on server completion RDMA_READ 15: remove server anyrdma1'
mpi openmpi_aborts_after_remove
expected=0
settings=()

# --- libfabric: two domains, which it chooses between by getifaddrs(3)

says='client/fi_info: +domain: anyrdma1$'
rails fi_info 'client:fi_info -p verbs -t FI_EP_MSG'
pingpong='fi_pingpong -c -I 50 -S 1024 -p verbs -e msg'
domains=("server:sh -c '$pingpong -B 7000 -d anyrdma0 & $pingpong -B 7001 -d anyrdma1; wait'"
  "client:sh -c '$pingpong -P 7000 -d anyrdma0 10.0.0.1 & $pingpong -P 7001 -d anyrdma1 10.0.1.1; second=\$?; wait \$!; echo rail0 \$? rail1 \$second'")
says='client/sh: rail0 0 rail1 0'
rails fi_pingpong_on_both "${domains[@]}"
plan 'on client completion RECV 40: cut-rail server rail1 for 1s'
says='^2\.[0-9]+ client/sh: rail0 0 rail1 0'
rails fi_pingpong_survives_cut_rail "${domains[@]}"
plan 'on client completion RECV 40: remove client anyrdma1'
says='client/sh: .*cq_readerr: Work Request Flushed Error'
rails fi_pingpong_ends_after_remove "${domains[@]}"
plan 'on client completion RECV 40: port-down server anyrdma1'
says='client/sh: rail0 0 rail1 5'
rails fi_pingpong_ends_after_port_down "${domains[@]}"
settings=()
for kind in rxm rxd; do
  domain=anyrdma1
  [ $kind = rxm ] || domain+=-dgram
  says='client/fi_pingpong: 1k +50 +=50 '
  each="fi_pingpong -c -I 50 -S 1024 -p verbs;ofi_$kind -e rdm -d $domain"
  rails "fi_pingpong_$kind" "server:$each" "client:$each 10.0.1.1"
done

# --- perftest: one of each pair of programs on each device; TCP goes over rail0

on_each() { # TOOL
  programs=("server:sh -c '$1 -d anyrdma0 -p 7000 -n 400 -F & $1 -d anyrdma1 -p 7001 -n 400 -F; wait'"
    "client:sh -c '$1 -d anyrdma0 -p 7000 -n 400 -F 10.0.0.1 & $1 -d anyrdma1 -p 7001 -n 400 -F 10.0.0.1; second=\$?; wait \$!; echo rail0 \$? rail1 \$second'")
}
says='client/sh: rail0 0 rail1 0'
for tool in ib_write_bw ib_read_bw ib_send_bw; do
  on_each "$tool"
  rails "${tool}_on_both" "${programs[@]}"
done
on_each ib_write_bw
says='client/sh: rail0 0 rail1 1'
for fault in 'cut-rail server rail1' 'port-down client anyrdma1' 'remove server anyrdma1' 'remove client anyrdma1'; do
  plan "on client completion RDMA_WRITE 100: $fault"
  rails "ib_write_bw_goes_on_after_${fault// /_}" "${programs[@]}"
done
settings=()

# --- fio: a job for each rail

fio='--ioengine=rdma --bs=16k --size=2m --verify_state_save=0 --iodepth=8'
jobs=("server:fio $fio --rw=read --name=rail0 --port=7000 --name=rail1 --port=7001"
  "client:fio $fio --rw=write --verb=write --name=rail0 --hostname=10.0.0.1 --port=7000 --name=rail1 --hostname=10.0.1.1 --port=7001")
says='client/fio: +WRITE: .* io=4096KiB '
rails fio_on_both "${jobs[@]}"
for fault in 'cut-rail server rail1' 'port-down client anyrdma1'; do
  plan "on client completion RDMA_WRITE 30: $fault for 1s"
  rails "fio_survives_${fault// /_}" "${jobs[@]}"
done
# The engine waits for a completion in ibv_get_cq_event, and looks at no event of the device or of the connection.
expected=1
says='client/fio\.[0-9] waits for '
for fault in 'cut-rail server rail1' 'remove client anyrdma1'; do
  plan "on client completion RDMA_WRITE 30: $fault"
  settings+=(--limit 30s)
  rails "fio_waits_after_${fault// /_}" "${jobs[@]}"
done
expected=0
settings=()

# --- rdma-core's Python tests on the second device

tests=/usr/share/doc/rdma-core/tests
if [ -d "$tests" ] && /usr/bin/python3 -c 'import importlib.util as u, sys; sys.exit(u.find_spec("pyverbs") is None)'; then
  mkdir "$work/package"
  cp -r "$tests" "$work/package/tests"
  find "$work/package/tests" -name '*.gz' -exec gunzip {} +
  says='client/python3: OK( \(skipped=[0-9]+\))?$'
  rails pyverbs_on_the_second_device "client:/usr/bin/python3 tests/programs/pyverbs_run.py $work/package/tests $work/results --dev anyrdma1 tests.test_qpex tests.test_cqex tests.test_atomic tests.test_odp tests.test_rdmacm tests.test_mr tests.test_addr"
else
  not_yet pyverbs_on_the_second_device "rdma-core's Python tests are not installed"
fi

finish
