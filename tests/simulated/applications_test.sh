#!/usr/bin/env bash
# Programs that people have, unmodified: servers with their clients, languages, MPI on several hosts, a machine that
# moves. Each run says the same once more, also beside a busy machine.
. tests/simulated/lib.sh

s=10.0.0.1 # of the host "server"
has() { command -v "$1" >/dev/null; }

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
# Debian's package would start a server of the machine, so ./dev does not install it.
if [ -x /usr/sbin/nginx ]; then
  settings=(--background server "/usr/sbin/nginx -c $work/web/nginx.conf -p $work/web")
  apart nginx_and_curl true "sh -c 'curl -s --retry 5 --retry-connrefused http://$s:8080/zeros | wc -c'"
else
  not_yet nginx_and_curl 'nginx is not installed'
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
int main(int count, char** arguments) {
  int rank, ranks, sum = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank != 0) MPI_Recv(&sum, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ++sum;
  MPI_Send(&sum, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) printf("ring of %d: %d\n", ranks, sum);
  MPI_Finalize();
  return 0;
}
END

# on_four NAME COMPILER STARTER...: the program of the MPI that has this COMPILER
on_four() {
  local name=$1 compiler=$2 host
  shift 2
  if ! has "$compiler"; then
    not_yet "$name" "$compiler is not installed"
    return
  fi
  [ -x "$work/ring.$compiler" ] || "$compiler" -o "$work/ring.$compiler" "$work/ring.c" || failures=1
  printf 'share /tmp/orders\nhost a 10.0.0.1\non a %s %s\n' "$*" "$work/ring.$compiler" >"$work/$name.txt"
  for host in b:2 c:3 d:4; do
    printf 'host %s 10.0.0.%s\non %s %s 10.0.0.%s\n' "${host%:*}" "${host#*:}" "${host%:*}" "$work/obey" "${host#*:}"
  done >>"$work/$name.txt"
  table_row "$name" "'$1'" "$work/$name.txt"
}

all=10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4
says='a/mpi[a-z.]*: ring of 4: 4'
openmpi="mpirun.openmpi --mca plm_rsh_agent $work/agent --host $all -n 4"
on_four openmpi_over_tcp mpicc.openmpi "$openmpi" --mca pml ob1 --mca btl self,tcp
on_four openmpi_over_ucx mpicc.openmpi "$openmpi" --mca pml ucx --mca osc ucx --mca btl '^openib,tcp' \
  -x UCX_TLS=rc,self -x UCX_NET_DEVICES=anyrdma0:1
on_four mpich mpicc.mpich "mpiexec.mpich -launcher rsh -launcher-exec $work/agent -hosts $all -n 4"

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
