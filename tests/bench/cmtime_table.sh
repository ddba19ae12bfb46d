#!/usr/bin/env bash
# cmtime_table.sh BIN AWAIT_LISTENER MANY FEW: what cmtime measures, step by step, as a table in Markdown:
# MANY and FEW connections on the drop-in in folder BIN, and FEW on the kernel's rxe in a virtual machine.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
bin=$1 await_listener=$2 many=$3 few=$4
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

on_dropin() { # COUNT
  local fabric=cmtime-$$-$1
  "$bin/anyrdma" run --fabric "$fabric" -- cmtime -c "$1" >/dev/null 2>&1 &
  server=$!
  "$await_listener" "$fabric" tcp 127.0.0.1 7471 "$server"
  timeout 300 "$bin/anyrdma" run --fabric "$fabric" -- cmtime -s 127.0.0.1 -c "$1"
  kill "$server"
  wait "$server" 2>/dev/null || true
  server=
}

on_kernel() { # COUNT
  tools/vm/rxe --cpus 2 --deadline 400 -- bash -c "
    cmtime -c $1 >/dev/null 2>&1 &
    until rdma resource show cm_id | grep -q 'state LISTEN'; do sleep 0.1; done
    timeout 300 cmtime -s 10.9.0.1 -c $1"
}

# From cmtime's table: `step|microseconds per connection`. Trouble makes cmtime say more than that.
figures() {
  if grep -q 'event:\|failed' "$1"; then
    echo "cmtime met with trouble: $(grep -m1 'event:\|failed' "$1")" >&2
    return 1
  fi
  sed -nE 's/^([a-z]+ ?[a-z]*) *: .* ([0-9.]+)$/\1|\2/p' "$1" | sed 's/ *|/|/'
}

kernel="$few on Linux's rxe, emulated"
on_dropin "$many" >"$work/many.log"
on_dropin "$few" >"$work/few.log"
on_kernel "$few" >"$work/kernel.log" || kernel="no machine"
for run in many few kernel; do figures "$work/$run.log" >"$work/$run"; done

echo "| microseconds per connection | $many on the drop-in | $few on the drop-in | $kernel |"
echo '|---|---|---|---|'
paste -d '|' "$work/many" "$work/few" "$work/kernel" | awk -F '|' '
  { printf "| %s | %s | %s | %s |\n", $1, $2, $4, $6; many += $2; few += $4; kernel += $6 }
  END { printf "| all steps | %.2f | %.2f | %.2f |\n", many, few, kernel }'
