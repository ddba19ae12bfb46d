#!/usr/bin/env bash
# Programs that people have, unmodified: servers and clients over TCP and UDP, languages, MPI, and others. Each says the
# same when it runs again, also beside a busy machine.
. tests/simulated/lib.sh

s=10.0.0.1 # of the host "server"
settings=()

# The client ends what has none by itself: it says so to a shell that waits for it.
says='client1/iperf3: .* receiver$'
settings=(--background server 'iperf3 -s -1')
apart iperf3 true "iperf3 -c $s -n 2M"
apart iperf3_reverse true "iperf3 -c $s -n 2M -R -P 2"
apart iperf3_udp true "iperf3 -c $s -u -b 100M -n 1M"

says='client1/sockperf: .*avg-latency'
settings=(--background server 'sockperf server --tcp -p 5001')
apart sockperf_tcp true "sockperf ping-pong --tcp -i $s -p 5001 -t 1 --mps 1000"
settings=(--background server 'sockperf server -p 5001')
apart sockperf_udp true "sockperf ping-pong -i $s -p 5001 -t 1 --mps 1000"

# --- nginx and curl
mkdir "$work/web" "$work/web/logs"
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
  server { listen 8080; root $work/web; }
}
END
says='client1/sh: 300000'
settings=(--background server "nginx -c $work/web/nginx.conf -p $work/web")
apart nginx_and_curl true "sh -c 'curl -s --retry 5 --retry-connrefused http://$s:8080/zeros | wc -c'"

# --- redis
says='client1/redis-cli: "?world'
settings=(--background server "redis-server --port 6379 --bind 0.0.0.0 --protected-mode no --save '' --dir $work")
apart redis true "sh -c 'sleep 1; redis-cli -h $s set hello world; redis-cli -h $s incr n; exec redis-cli -h $s get hello'"
settings=()

finish
