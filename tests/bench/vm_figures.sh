#!/usr/bin/env bash
# vm_figures.sh BIN AWAIT_LISTENER COUNT: in a virtual machine as root (tests/bench/vm_table.sh), what unmodified
# programs measure on the kernel's rxe and, one after the other, on the drop-in in folder BIN. Gives lines
# `what|kernel|drop-in`: cmtime's microseconds per connection with COUNT connections, and perftest's figures.
set -uo pipefail
bin=$1 await_listener=$2 count=$3
work=$(mktemp -d)
patience=200 # seconds

die() { echo "vm_figures.sh: $*" >&2; exit 1; }

# shellcheck disable=SC2034 # both are used by their names
kernel=(timeout "$patience")
# shellcheck disable=SC2034
dropin=(timeout "$patience" "$bin/anyrdma" run --fabric bench --)

address_on() { if [ "$1" = kernel ]; then echo 10.9.0.1; else echo 127.0.0.1; fi; }

await() { # kernel|dropin tcp|socket PORT PID
  if [ "$2" = socket ]; then
    until grep -qi ": [0-9A-F]*:$(printf %04X "$3") 0*:0000 0A" /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done
  elif [ "$1" = kernel ]; then
    until rdma resource show cm_id | grep -q 'state LISTEN'; do sleep 0.1; done
  else
    "$await_listener" bench tcp 127.0.0.1 "$3" "$4"
  fi
}

# Gives `step|microseconds` lines. Trouble makes cmtime say more than its table.
cmtime_on() { # kernel|dropin
  local server
  local -n on=$1
  "${on[@]}" cmtime -c "$count" >/dev/null 2>&1 &
  server=$!
  await "$1" tcp 7471 "$server"
  "${on[@]}" cmtime -s "$(address_on "$1")" -c "$count" >"$work/log" || die "cmtime failed on the $1"
  kill "$server"
  wait "$server" 2>/dev/null
  ! grep -q 'event:\|failed' "$work/log" || die "cmtime met with trouble on the $1: $(grep -m1 'event:\|failed' "$work/log")"
  sed -nE 's/^([a-z]+ ?[a-z]*) *: .* ([0-9.]+)$/cmtime: \1|\2/p' "$work/log" | sed 's/ *|/|/'
}

# Gives one figure. On a busy machine perftest may not find out the processor's clock: then once more.
perftest_on() { # kernel|dropin COLUMN PROGRAM ARGUMENT...
  local where=$1 column=$2 server
  local -n on=$1
  shift 2
  for ((port = 18515; port < 18535; port++)); do
    "${on[@]}" "$@" -F -p "$port" >/dev/null 2>&1 &
    server=$!
    await "$where" socket "$port" "$server"
    "${on[@]}" "$@" -F -p "$port" "$(address_on "$where")" >"$work/log" 2>&1 || die "$* failed on the $where"
    wait "$server" || die "the server of $* failed on the $where"
    grep -q Correlation "$work/log" && continue
    awk -v column="$column" '/^ [0-9]+ +[0-9]+ / { print $column }' "$work/log"
    return
  done
  die "$*: cannot tell the processor's clock"
}

compare() { # WHAT COLUMN PROGRAM ARGUMENT...
  echo "$1|$(perftest_on kernel "${@:2}")|$(perftest_on dropin "${@:2}")"
}

cmtime_on kernel >"$work/kernel"
cmtime_on dropin >"$work/dropin"
[ -s "$work/kernel" ] && [ -s "$work/dropin" ] || exit 1
paste -d '|' "$work/kernel" "$work/dropin" | cut -d '|' -f 1,2,4
typical=5 average=4 rate=5
compare 'ib_send_lat, 2 bytes, microseconds' "$typical" ib_send_lat -s 2 -n 1000
compare 'ib_write_lat, 2 bytes, microseconds' "$typical" ib_write_lat -s 2 -n 1000
compare 'ib_read_lat, 2 bytes, microseconds' "$typical" ib_read_lat -s 2 -n 1000
compare 'ib_atomic_lat, microseconds' "$typical" ib_atomic_lat -n 1000
compare 'ib_send_bw, 8 bytes, million messages a second' "$rate" ib_send_bw -s 8 -n 5000
compare 'ib_send_bw, 64 KiB, MB a second' "$average" ib_send_bw -s 65536 -n 500
compare 'ib_write_bw, 64 KiB, MB a second' "$average" ib_write_bw -s 65536 -n 500
compare 'ib_read_bw, 64 KiB, MB a second' "$average" ib_read_bw -s 65536 -n 500
