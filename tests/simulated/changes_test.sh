#!/usr/bin/env bash
# Devices that return, ports that flap, and addresses that come and go on hosts of processes (changing.c).
. tests/simulated/lib.sh

changing=$PWD/tests/simulated/changing
hosts=(--host server=rail0/mlx5_0=10.0.0.1/24,rail1/mlx5_1=10.0.1.1/24
  --host client=rail0=10.0.0.2/24,rail1=10.0.1.2/24)

plan() {
  printf '%s\n' "$@" >"$work/plan"
  settings=(--faults "$work/plan")
}

# changes NAME OPTION...: the programs of a run
changes() {
  local name=$1
  shift
  rm -f "$work/first.log" # another case's
  table_row "$name" true "${hosts[@]}" "$@"
}

# all_say NAME PATTERN... -- OPTION...: as changes, and each pattern is said
all_say() {
  local name=$1 pattern patterns=()
  shift
  while [ "$1" != -- ]; do patterns+=("$1") && shift; done
  shift
  says=${patterns[0]}
  changes "$name" "$@"
  [ -s "$work/first.log" ] || return # another shard's
  for pattern in "${patterns[@]}"; do
    grep -qE -- "$pattern" "$work/first.log" && continue
    printf '    FAILED: nobody says %s\n' "$pattern"
    cut -c1-200 "$work/first.log" | sed 's/^/      /'
    failures=$((failures + 1))
  done
}

watch=(--on server "$changing watch 4")

# --- devices ---
plan 'at 500ms: remove server mlx5_0' 'at 2500ms: return server mlx5_0'
all_say device_returns 'server/changing: 1 s: 1 devices' 'server/changing: 3 s: 2 devices' \
  'server/changing: files: mlx5_1 ..: ACTIVE.$' 'server/changing: files: mlx5_0 ..: ACTIVE. mlx5_1 ..: ACTIVE.$' \
  'device mlx5_0: guid [0-9a-f]+ [0-9]+=::ffff:10.0.0.1' -- "${watch[@]}"
plan 'at 500ms: remove server mlx5_0 for 2s'
all_say removal_ends 'server/changing: 1 s: 1 devices' 'server/changing: 3 s: 2 devices' -- "${watch[@]}"
plan 'at 500ms: remove server mlx5_0' 'at 600ms: remove server mlx5_1' 'at 2500ms: return server mlx5_1'
all_say last_device_returns 'server/changing: 1 s: 0 devices' 'server/changing: 3 s: 1 devices' -- "${watch[@]}"
# A program that begins later sees what those before it see.
plan 'at 1ms: remove server mlx5_0' 'at 1s: return server mlx5_0 new-guid'
all_say returned_before 'server/sh: .*0 s: 2 devices' -- --on server "sh -c 'sleep 2; $changing watch 0'"
# A wildcard listener listens on it again (Fact 43), and the other rail goes on meanwhile.
plan 'at 1s: remove server mlx5_0' 'at 3s: return server mlx5_0'
all_say listener_picks_it_up 'server/changing: RDMA_CM_EVENT_ESTABLISHED 0 on mlx5_1' \
  'server/changing: RDMA_CM_EVENT_ESTABLISHED 0 on mlx5_0' 'client/sh: rail1 0' 'client/sh: rail0 0' -- \
  --on server "$changing listen 2" \
  --on client "sh -c 'sleep 2; $changing connect 10.0.1.1; echo rail1 \$?; sleep 2; $changing connect 10.0.0.1; echo rail0 \$?'"

# --- addresses ---
plan 'at 500ms: add-address server rail1 10.0.2.1/24'
all_say address_added 'event of mlx5_1: GID table change, port 1' 'interfaces: .*rail1=10.0.2.1' \
  'device mlx5_1: .*::ffff:10.0.1.1 [0-9]+=::ffff:10.0.2.1' -- "${watch[@]}"
# Its index stays empty until another address takes it.
plan 'at 500ms: drop-address server rail0 10.0.0.1' 'at 2500ms: add-address server rail0 10.0.0.9/24'
all_say address_dropped 'event of mlx5_0: GID table change, port 1' 'interfaces: lo=127.0.0.1 rail1=10.0.1.1$' \
  'interfaces: lo=127.0.0.1 rail0=10.0.0.9 ' -- "${watch[@]}"
plan 'at 1ms: add-address server rail1 10.0.2.1/24' 'at 2ms: drop-address server rail1 10.0.1.1'
all_say addresses_changed_before '(::ffff:10.0.2.1)' -- --on server "sh -c 'sleep 1; $changing watch 0'"
plan 'at 1s: add-address server rail1 10.0.1.77/24'
all_say address_answers 'client/sh: new 0' -- --on server "$changing listen 1" \
  --on client "sh -c 'sleep 2; $changing connect 10.0.1.77; echo new \$?'"
plan 'at 1s: add-address client rail1 10.0.7.2/24' 'at 1s: add-address server rail1 10.0.7.1/24'
all_say address_is_a_route 'client/sh: new 0' -- --on server "$changing listen 1" \
  --on client "sh -c 'sleep 2; $changing connect 10.0.7.1 10.0.7.2; echo new \$?'"
plan 'at 1s: drop-address server rail0 10.0.0.1'
all_say dropped_address_does_not_answer 'RDMA_CM_EVENT_ADDR_ERROR -110' 'client/sh: gone 1' -- --on server 'sleep 3' \
  --on client "sh -c 'sleep 2; $changing connect 10.0.0.1; echo gone \$?'"

# --- routes ---
plan 'on client routing 1: unrouted ETIMEDOUT'
all_say route_times_out 'RDMA_CM_EVENT_ROUTE_ERROR -110' '15[0-9][0-9] ms' -- --on server 'sleep 3' \
  --on client "sh -c '$changing route 10.0.0.1; true'"
plan 'on client routing 1: unrouted EINVAL'
all_say route_is_refused 'RDMA_CM_EVENT_ROUTE_ERROR -22' -- --on server 'sleep 3' \
  --on client "sh -c '$changing route 10.0.0.1; true'"

# --- ports ---
plan 'at 500ms: flap server mlx5_1/1 200ms every 1s for 3s'
all_say port_flaps 'event of mlx5_1: port error, port 1' 'event of mlx5_1: port active, port 1' -- "${watch[@]}"
count_of() { # PATTERN COUNT
  [ -s "$work/first.log" ] || return
  [ "$(grep -cE -- "$1" "$work/first.log")" = "$2" ] && return
  printf '    FAILED: not %s times: %s\n' "$2" "$1"
  failures=$((failures + 1))
}
count_of 'event of mlx5_1: port error, port 1' 3
count_of 'event of mlx5_1: port active, port 1' 3
plan 'on server call create_qp 1: flap server mlx5_0 1ms every 5ms for 12ms'
all_say port_flaps_after_a_call 'client/sh: RDMA_CM_EVENT_DISCONNECTED 0 on anyrdma0' \
  'fired 1, observed 1: on server call create_qp 1: flap' -- \
  --on server "$changing listen 1" --on client "sh -c 'sleep 1; $changing connect 10.0.0.1'"

# --- one rail ---
plan 'on client/rail1->server packet all: lose'
all_say loss_of_one_rail 'client/sh: rail0 0' 'client/sh: rail1 1' -- --on server "$changing listen 1" \
  --on client "sh -c '$changing connect 10.0.1.1; echo rail1 \$?; $changing connect 10.0.0.1; echo rail0 \$?'"
plan 'at 0s: slow-rail client rail1 20ms'
all_say one_rail_is_slow 'rail0 quick' 'rail1 slow' -- --on server "$changing listen 2" \
  --on client "sh -c 'sleep 1; for rail in 0 1; do begun=\$(date +%s%N); $changing connect 10.0.\$rail.1 >/dev/null; took=\$((\$(date +%s%N) - begun)); [ \$took -gt 40000000 ] && echo rail\$rail slow || echo rail\$rail quick; done'"
settings=()

finish
