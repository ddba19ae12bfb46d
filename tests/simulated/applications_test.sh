#!/usr/bin/env bash
# Programs that people have, unmodified: servers with their clients, languages, MPI on several hosts, a machine that
# moves. Each run says the same once more, also beside a busy machine.
. tests/simulated/lib.sh

s=10.0.0.1 # of the host "server"
runs_thrice=1
has() { command -v "$1" >/dev/null; }

# in_sbin PACKAGE PROGRAM: the path of a program whose package would start a server of the machine. `./dev test` does not
# install such a package, but unpacks its files.
in_sbin() {
  local folder
  for folder in /usr/sbin "${ANYRDMA_UNPACKED:-/nowhere}/$1/usr/sbin"; do
    if [ -x "$folder/$2" ]; then echo "$folder/$2" && return; fi
  done
}

# --- measuring TCP and UDP

says='client1/iperf3: .* receiver$'
settings=(--background server 'iperf3 -s -1')
apart iperf3 iperf3\ --version "iperf3 -c $s -n 2M"
apart iperf3_reverse iperf3\ --version "iperf3 -c $s -n 2M -R -P 2"
apart iperf3_udp iperf3\ --version "iperf3 -c $s -u -b 100M -n 1M"

says='client1/sockperf: .*avg-latency'
settings=(--background server 'sockperf server --tcp -p 5001')
apart sockperf_tcp true "sockperf ping-pong --tcp -i $s -p 5001 -t 1 --mps 1000"
settings=(--background server 'sockperf server -p 5001')
apart sockperf_udp true "sockperf ping-pong -i $s -p 5001 -t 1 --mps 1000"

# --- servers

mkdir -p "$work/web/logs"
head -c 300000 /dev/zero >"$work/web/zeros"
cat >"$work/web/nginx.conf" <<END
daemon off;
user root;
worker_processes 2;
error_log stderr;
pid $work/web/pid;
events {}
http {
  access_log off;
  client_body_temp_path $work/web/body;
  proxy_temp_path $work/web/proxy;
  fastcgi_temp_path $work/web/fastcgi;
  uwsgi_temp_path $work/web/uwsgi;
  scgi_temp_path $work/web/scgi;
  server { listen 8080; listen [::]:8080; root $work/web; }
}
END
says='client1/sh: 300000'
settings=()
nginx=$(in_sbin nginx nginx)
if [ -n "$nginx" ]; then
  settings=(--background server "$nginx -c $work/web/nginx.conf -p $work/web")
  apart nginx_and_curl true "sh -c 'curl -s --retry 5 --retry-connrefused http://$s:8080/zeros | wc -c'"
else
  not_yet nginx_and_curl 'the package nginx is neither installed nor unpacked'
fi

# One binary is server and tool, by its name; the package redis-server would start a server of the machine.
ln -s "$(command -v redis-check-rdb || echo /nowhere)" "$work/redis-server"
says='client1/sh: world'
settings=(--background server "$work/redis-server --port 6379 --bind 0.0.0.0 --protected-mode no --save '' --dir $work")
apart redis redis-check-rdb\ --version \
  "sh -c 'sleep 1; redis-cli -h $s set hello world; redis-cli -h $s incr n; exec redis-cli -h $s get hello'"
settings=()

# --- languages

cat >"$work/Sum.java" <<'END'
import java.util.concurrent.*;
public class Sum {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    Future<?>[] parts = new Future<?>[100];
    for (int i = 0; i < 100; ++i) { final int n = i; parts[i] = pool.submit(() -> n); }
    int sum = 0;
    for (Future<?> part : parts) sum += (Integer) part.get();
    pool.shutdown();
    System.out.println("sum " + sum);
  }
}
END
says='here/java: sum 4950'
if has javac; then
  javac -d "$work/classes" "$work/Sum.java" || failures=1
  alike java "java -Xshare:off -cp $work/classes Sum"
else
  not_yet java 'no JDK is installed'
fi

says='here/python3: 4950'
alike multiprocessing 'python3 -c "
import multiprocessing
with multiprocessing.Pool(3) as pool: print(sum(pool.map(int, range(100))))"'

# The same program in three languages: threads that connect and exchange messages by librdmacm and libibverbs.
sources=$PWD/tests/simulated/languages
answers() { # NAME COMPILER COMMAND...: makes the program $work/NAME
  local name=$1 compiler=$2
  shift 2
  if ! has "$compiler"; then
    not_yet "$name" "$compiler is not installed"
    return
  fi
  ! is_mine_next || env "$@" || failures=1
  apart "$name" "$work/$name serve" "$work/$name ask $s"
}
says='client1/[a-z_0-9]*: the sum of the answers is 280'
answers tsan gcc gcc -O1 -g -fsanitize=thread -o "$work/tsan" "$sources/answers.c" -lrdmacm -libverbs -lpthread
answers rust rustc rustc -O -o "$work/rust" "$sources/answers.rs"
# Debian's gccgo, which ./dev installs, has a command of its own beside Google's.
gccgo=$(compgen -c go- | grep -x 'go-[0-9]*' | sort | tail -n 1)
for go in go "${gccgo:-gccgo}"; do
  answers "${go//-/_}" "$go" GOCACHE="$work/cache" GO111MODULE=off "$go" build -o "$work/${go//-/_}" "$sources/answers.go"
done

says='here/valgrind: .*ERROR SUMMARY: 0 errors'
alike valgrind 'valgrind --error-exitcode=3 ibv_devinfo'

# --- MPI on four hosts: what ssh would do, a directory that the hosts share does

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cat >"$work/agent" <<END
#!/bin/sh
# agent HOST COMMAND...: runs a command on another host
host=\$1
shift
echo "\$*" >/tmp/orders/\$host.new && mv /tmp/orders/\$host.new /tmp/orders/\$host
while [ ! -e /tmp/orders/\$host.done ]; do sleep 0.1; done
exit "\$(cat /tmp/orders/\$host.done)"
END
cat >"$work/obey" <<END
#!/bin/sh
# obey HOST: runs what the agent asks for
while [ ! -e /tmp/orders/\$1 ]; do sleep 0.1; done
sh -c "\$(cat /tmp/orders/\$1)"
echo \$? >/tmp/orders/\$1.done
END
chmod +x "$work/agent" "$work/obey"
cat >"$work/ring.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { kMany = 1 << 18 };
int main(int count, char** arguments) {
  int rank, ranks, level, sum = 0, *window;
  MPI_Win shared;
  const int on_one_host = count > 1;
  MPI_Init_thread(&count, &arguments, on_one_host ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank != 0) MPI_Recv(&sum, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ++sum;
  MPI_Send(&sum, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  // A megabyte, to which each rank adds its own.
  int *mine = malloc(kMany * sizeof *mine), *all = malloc(kMany * sizeof *all);
  for (int i = 0; i < kMany; ++i) mine[i] = rank + i;
  MPI_Allreduce(mine, all, kMany, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kMany; ++i)
    if (all[i] != ranks * (ranks - 1) / 2 + ranks * i) MPI_Abort(MPI_COMM_WORLD, 3);
  if (on_one_host) {  // over TCP alone, Open MPI 4 has no windows
    MPI_Win_allocate(sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &shared);
    *window = -1;
    MPI_Win_fence(0, shared);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, shared);
    MPI_Win_fence(0, shared);
    if (*window != (rank + ranks - 1) % ranks) MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Win_free(&shared);
  }
  if (rank == 0) printf("ring of %d: %d\n", ranks, sum);
  MPI_Finalize();
  return 0;
}
END

ring_of() { # COMPILER: of the program that it makes
  [ -x "$work/ring.$1" ] || "$1" -o "$work/ring.$1" "$work/ring.c" || failures=1
  echo "$work/ring.$1"
}

# on_four NAME COMPILER STARTER...: the program of the MPI that has this COMPILER
on_four() {
  local name=$1 compiler=$2 host
  shift 2
  if ! has "$compiler"; then
    not_yet "$name" "$compiler is not installed"
    return
  fi
  printf 'share /tmp/orders\nhost a 10.0.0.1\non a %s %s\n' "$*" "$(ring_of "$compiler")" >"$work/$name.txt"
  for host in b:2 c:3 d:4; do
    printf 'host %s 10.0.0.%s\non %s %s 10.0.0.%s\n' "${host%:*}" "${host#*:}" "${host%:*}" "$work/obey" "${host#*:}"
  done >>"$work/$name.txt"
  table_row "$name" "'$1'" "$work/$name.txt"
}

all=10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4
says='a/mpi[a-z.]*: ring of 4: 4'
openmpi="mpirun.openmpi --mca plm_rsh_agent $work/agent --host $all -n 4"
by_tcp='--mca pml ob1 --mca btl self,tcp'
by_ucx='--mca pml ucx --mca osc ucx --mca btl ^openib,tcp'
on_four openmpi_over_tcp mpicc.openmpi "$openmpi" "$by_tcp"
on_four openmpi_over_ucx mpicc.openmpi "$openmpi" "$by_ucx" -x UCX_TLS=rc,self -x UCX_NET_DEVICES=anyrdma0:1
on_four mpich mpicc.mpich "mpiexec.mpich -launcher rsh -launcher-exec $work/agent -hosts $all -n 4"

# --- MPI on one host, where UCX takes shared memory beside the device

if has mpicc.openmpi; then
  for ranks in 2 4; do
    says="here/mpirun[a-z.]*: ring of $ranks: $ranks"
    starter="mpirun.openmpi --oversubscribe -n $ranks"
    alike "openmpi_of_${ranks}_over_tcp" "$starter $by_tcp $(ring_of mpicc.openmpi) on_one_host"
    alike "openmpi_of_${ranks}_over_ucx" "$starter $by_ucx $(ring_of mpicc.openmpi) on_one_host"
  done
else
  not_yet openmpi_on_one_host 'mpicc.openmpi is not installed'
fi

# --- UCX as it chooses for itself, with threads, and with sleeping instead of polling

says='client1/ucx_perftest: Final: +(100|20) '
ucx_perftest=$(ucx_perftest_by_itself)
ucx_client="$ucx_perftest -n 100 -w 10 $s -t"
apart ucx "$ucx_perftest" "$ucx_client tag_lat"
apart ucx_of_much "$ucx_perftest" "$ucx_client tag_bw -s 65536"
apart ucx_with_threads "$ucx_perftest" "$ucx_client tag_lat -T 4 -n 20 -w 2 -M multi"
apart ucx_with_threads_in_turns "$ucx_perftest" "$ucx_client tag_bw -T 2 -n 20 -w 2 -M serialized"
# UCX does not look once more after it has asked for an event. What arrives between its last look and the request
# wakes nobody by the rules of verbs (docs/found.md). Where calls take next to no time, nothing arrives there.
settings=(--call-cost 1ns)
apart ucx_with_wakeup "$ucx_perftest" "$ucx_client tag_lat -E sleep"
UCX_TLS=rc UCX_NET_DEVICES=anyrdma0:1 apart ucx_rc_with_wakeup "$ucx_perftest" "$ucx_client tag_lat -E sleep"
settings=()
UCX_TLS=ud UCX_NET_DEVICES=anyrdma0:1 apart ucx_ud_with_wakeup "$ucx_perftest" "$ucx_client tag_lat -E sleep"

# --- a disk by iSER

tgtd=$(in_sbin tgt tgtd)
tgtadm=$(in_sbin tgt tgtadm)
disk=iqn.2026-01.org.example:disk
cat >"$work/disk.sh" <<END
head -c 1M /dev/zero >/tmp/disk
$tgtd -f --iser pool_sz_mb=16 &
until $tgtadm --lld iser --mode sys --op show >/dev/null 2>&1; do sleep 0.1; done
$tgtadm --lld iser --mode target --op new --tid 1 -T $disk
$tgtadm --lld iser --mode logicalunit --op new --tid 1 --lun 1 -b /tmp/disk
# Up to 1.0.94, a target by iSER wants to know both the address and the name of who comes.
$tgtadm --lld iser --mode target --op bind --tid 1 -I ALL
for name in inq readcapacity16 own; do
  $tgtadm --lld iser --mode target --op bind --tid 1 -Q iqn.2007-10.com.github:sahlberg:libiscsi:iscsi-\$name
done
wait
END
cat >"$work/blocks.c" <<'END'
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <stdio.h>
#include <string.h>
enum { kBlock = 512, kBlocks = 128 };
static unsigned char text[kBlock * kBlocks];
static int fail(struct iscsi_context* iscsi, const char* what) {
  printf("%s: %s\n", what, iscsi_get_error(iscsi));
  return 1;
}
int main(int count, char** arguments) {
  struct iscsi_context* iscsi = iscsi_create_context("iqn.2007-10.com.github:sahlberg:libiscsi:iscsi-own");
  struct iscsi_url* url = count > 1 ? iscsi_parse_full_url(iscsi, arguments[1]) : NULL;
  if (url == NULL || iscsi_init_transport(iscsi, url->transport) != 0) return fail(iscsi, "the address");
  iscsi_set_session_type(iscsi, ISCSI_SESSION_NORMAL);
  if (iscsi_full_connect_sync(iscsi, url->portal, url->lun) != 0) return fail(iscsi, "the connection");
  for (unsigned i = 0; i < sizeof text; ++i) text[i] = (unsigned char)(i * 7 + i / kBlock);
  struct scsi_task* task = iscsi_write10_sync(iscsi, url->lun, 64, text, sizeof text, kBlock, 0, 0, 0, 0, 0);
  if (task == NULL || task->status != SCSI_STATUS_GOOD) return fail(iscsi, "writing");
  scsi_free_scsi_task(task);
  task = iscsi_read10_sync(iscsi, url->lun, 64, sizeof text, kBlock, 0, 0, 0, 0, 0);
  if (task == NULL || task->status != SCSI_STATUS_GOOD) return fail(iscsi, "reading");
  if (task->datain.size != sizeof text || memcmp(task->datain.data, text, sizeof text) != 0)
    return fail(iscsi, "what was read is not what was written");
  printf("%d blocks read as written\n", kBlocks);
  scsi_free_scsi_task(task);
  iscsi_logout_sync(iscsi);
  iscsi_destroy_context(iscsi);
  return 0;
}
END
if [ -z "$tgtd" ] || ! has iscsi-inq; then
  not_yet iser_target 'the package tgt is neither installed nor unpacked, or libiscsi-bin is not installed'
else
  settings=(--background server "sh $work/disk.sh")
  says='client1/sh: Vendor:IET'
  apart iser_inquiry true "sh -c 'sleep 1; exec iscsi-inq iser://$s/$disk/1'"
  says='client1/sh: .*size:1048576'
  apart iser_capacity true "sh -c 'sleep 1; exec iscsi-readcapacity16 iser://$s/$disk/1'"
  if gcc -o "$work/blocks" "$work/blocks.c" -liscsi 2>/dev/null; then
    says='client1/sh: 128 blocks read as written'
    apart iser_blocks true "sh -c 'sleep 1; exec $work/blocks iser://$s/$disk/1'"
  else
    not_yet iser_blocks 'libiscsi-dev is not installed'
  fi
  settings=()
fi

# --- a machine that moves

head -c $((8 << 20)) /dev/zero | tr '\0' 'a' | cat -n >"$work/pages" # no page like another
qemu='qemu-system-x86_64 -machine pc,accel=tcg -m 64 -nodefaults -display none -S -monitor stdio'
cat >"$work/arrive" <<END
(echo 'migrate_incoming rdma:10.0.0.2:4444'; sleep 20; echo 'pmemsave 0 67108864 "/tmp/machines/there"'; echo quit) |
  $qemu -incoming defer >/dev/null
END
cat >"$work/leave" <<END
(sleep 1; echo 'migrate rdma:10.0.0.2:4444'; sleep 15; echo 'pmemsave 0 67108864 "/tmp/machines/here"'; echo quit) |
  $qemu -device loader,file=$work/pages,addr=0x1000000,force-raw=on >/dev/null
sleep 10
cmp /tmp/machines/here /tmp/machines/there && echo the same memory
END
cat >"$work/moves.txt" <<END
share /tmp/machines
host a 10.0.0.1
host b 10.0.0.2
on a sh $work/leave
on b sh $work/arrive
END
says='a/sh: the same memory'
table_row qemu_moves qemu-system-x86_64 "$work/moves.txt"

finish
