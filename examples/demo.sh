#!/usr/bin/env bash
# What anyrdma does, in four parts. `./dev demo` builds what this needs and runs it.
# demo.sh [--seed N] [--record DIR]: with recordings of all that is simulated, for `anyrdma trace`
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
record="" seeded=()
while [ $# -gt 0 ]; do
  if [ "$1" = --record ] && [ $# -gt 1 ]; then
    mkdir -p "$2" && record=$(readlink -f "$2") || exit 1
    shift
  else
    seeded+=("$1")
  fi
  shift
done

limit=60 # seconds for each program; it needs a fraction of one
work=$(mktemp -d "${TMPDIR:-/tmp}/anyrdma-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
recordings=$work/recordings
mkdir -m 777 "$recordings"
recorded=() # NAME: what makes a command record
to_record() { [ -z "$record" ] || recorded=(--record "$recordings/$1"); }

say() { printf '\n== %s\n' "$*"; }
fact() { printf '  %-16s%s\n' "$1" "$2"; }
prefixed() { sed "s/^/  $1 | /" "$2"; }

# --- Part 1: an unmodified program, two processes ----------------------------------------------

# As root we step down to `nobody`, so that what follows is seen to need no rights.
as_user=() user=$(id -un) anyrdma=bin/anyrdma
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  mkdir "$work/own" && chown nobody "$work/own"
  as_user=(env -C "$work/own" setpriv --reuid=nobody --regid=nogroup --clear-groups) # who may not enter root's own directories
  user="nobody (this script runs as root and steps down)"
  cp -r bin "$work" # where nobody may read it
  chmod -R a+rX "$work/bin"
  anyrdma=$work/bin/anyrdma
fi

describe_machine() {
  local rping package sum devices modules
  rping=$(command -v rping)
  package=$(dpkg-query -S "$(readlink -f "$rping")" 2>/dev/null | cut -d: -f1)
  fact "program" "$rping, of package $package $(dpkg-query -W -f='${Version}' "$package" 2>/dev/null)"
  sum=/var/lib/dpkg/info/$package.md5sums
  if grep ' usr/bin/rping$' "$sum" 2>/dev/null | (cd / && md5sum --status -c -); then
    fact "unmodified" "its MD5 sum is the one in $sum"
  else
    fact "unmodified" "not known: its MD5 sum is not the one in $sum"
  fi
  devices=$(ls /sys/class/infiniband 2>/dev/null | xargs)
  if [ -d /sys/class/infiniband ]; then
    fact "RDMA devices" "${devices:-none}: /sys/class/infiniband (anyrdma uses none of them)"
  else
    fact "RDMA devices" "none: there is no /sys/class/infiniband"
  fi
  modules=$(grep -oE '^(ib_|rdma_|iw_|mlx[45]_|siw|irdma|bnxt_re)[a-z0-9_]*' /proc/modules 2>/dev/null | xargs)
  fact "kernel modules" "${modules:-none} for RDMA in /proc/modules"
  fact "user" "$user"
}

# Each rping on this run's own fabric, its output by the line.
rping=(${as_user[@]+"${as_user[@]}"} timeout "$limit" stdbuf -oL
  "$anyrdma" run --fabric "demo-$$" -- rping -a 127.0.0.1 -C 3 -v -V)

# While nobody listens yet, a client is told so (REJECTED, reason 8) and tries again.
client_until_served() {
  local status give_up=$((SECONDS + limit))
  while true; do
    "${rping[@]}" -c >"$work/client.log" 2>&1 </dev/null
    status=$?
    if [ "$status" = 0 ] || [ "$SECONDS" -ge "$give_up" ] ||
      ! kill -0 "$server" 2>/dev/null || ! grep -qE 'REJECTED, error:? 8$' "$work/client.log"; then
      return "$status"
    fi
  done
}

say "1. rping, a program nobody recompiled: client and server as two processes, without RDMA"
describe_machine
echo
echo '  $ anyrdma run -- rping -a 127.0.0.1 -C 3 -v -V -s &'
echo '  $ anyrdma run -- rping -a 127.0.0.1 -C 3 -v -V -c'
"${rping[@]}" -s >"$work/server.log" 2>&1 </dev/null &
server=$!
client_until_served
client_status=$?
[ "$client_status" = 0 ] || kill "$server" 2>/dev/null # nobody will come any more
wait "$server"
server_status=$?
prefixed server "$work/server.log"
prefixed client "$work/client.log"
fact "exit status" "server $server_status, client $client_status"

# --- Part 2: the same program on simulated hosts ---------------------------------------------------

echo 'on client->server REQ 1: cut client<->server' >"$work/cut"
chmod a+r "$work/cut"
simulated=(${as_user[@]+"${as_user[@]}"} timeout "$limit" "$anyrdma" sim --host server=10.0.0.1 --host client=10.0.0.2)
say "2. The same rping on two simulated hosts, in virtual time"
echo "  \$ anyrdma sim --host server=10.0.0.1 --host client=10.0.0.2 --on server 'rping -s ...' --on client 'rping -c ...'"
for turn in 1 2; do
  to_record rping.recording
  "${simulated[@]}" ${recorded[@]+"${recorded[@]}"} --on server 'rping -s -a 10.0.0.1 -C 3 -v' --on client 'rping -c -a server -C 3 -v' >"$work/sim.$turn" 2>&1
  sim_status=$?
done
prefixed sim "$work/sim.1"
cmp -s "$work/sim.1" "$work/sim.2" || sim_status="another run than before"
fact "again" "exit status $sim_status, $(tail -n 1 "$work/sim.2")"
echo "  and cut off as soon as it has asked for a connection:"
to_record cut.recording
"${simulated[@]}" ${recorded[@]+"${recorded[@]}"} --faults "$work/cut" --background server 'rping -s -a 10.0.0.1' --on client 'rping -c -a 10.0.0.1' >"$work/cut.log" 2>&1
prefixed sim "$work/cut.log"
grep -q '^102\..*RDMA_CM_EVENT_UNREACHABLE' "$work/cut.log" || sim_status="no timeout"

# --- Part 3: a bug of somebody else's ---------------------------------------------------------------

cat >"$work/pingpong.txt" <<'END'
host server 10.0.0.1
host client 10.0.0.2
on server ibv_rc_pingpong -g 0 -t -e -n 10
on client ibv_rc_pingpong -g 0 -t -e -n 10 server
END
chmod a+r "$work/pingpong.txt"
searched=(${as_user[@]+"${as_user[@]}"} timeout "$((5 * limit))" "$anyrdma") # some hundred runs
say "3. ibv_rc_pingpong -t -e, of Debian's ibverbs-utils: which order of threads and packets does it not survive?"
prefixed "pingpong.txt" "$work/pingpong.txt"
echo "  \$ anyrdma explore pingpong.txt --schedule pct --seeds 200"
"${searched[@]}" explore "$work/pingpong.txt" --schedule pct --seeds 200 --record "$recordings" >"$work/explore.log" 2>&1
prefixed explore "$work/explore.log"
trial=$(sed -n "s/^again: .* '\(.*\)'$/\1/p" "$work/explore.log" | head -n 1)
echo "  and again:"
to_record replay.recording
"${searched[@]}" replay ${recorded[@]+"${recorded[@]}"} "$work/pingpong.txt" "$trial" >"$work/replay.log" 2>&1
prefixed replay "$work/replay.log"
bug_status=0
grep -q 'poll CQ failed' "$work/replay.log" || bug_status="it was not found again"

# --- Part 4: a seeded run ------------------------------------------------------------------------

say "4. Two simulated hosts: the same seed, the same events; clean, then with each of four faults"
recorded=()
[ -z "$record" ] || recorded=(--record "$recordings")
bin/examples/seeded_run ${seeded[@]+"${seeded[@]}"} ${recorded[@]+"${recorded[@]}"}
run_status=$?
[ -z "$record" ] || cp "$recordings"/*.recording "$record"

# --- Summary ---------------------------------------------------------------------------------------

if [ "$server_status$client_status$sim_status$bug_status$run_status" = 00000 ]; then
  say "All parts went as they should: rping exited with 0 on both sides; every run and every trace came twice, the bug, too."
  exit 0
fi
say "FAILED: rping's server exited with $server_status, its client with $client_status; on simulated hosts: $sim_status; the bug: $bug_status; the seeded run with $run_status."
exit 1
