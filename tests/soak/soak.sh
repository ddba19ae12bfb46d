#!/usr/bin/env bash
# soak.sh [--minutes N] [--seed N] [--leg LEG] [--turns N] [--busy N] [--logs DIRECTORY]
#
# Takes turns at programs that check what they are sent, on the drop-in and beside N busy loops (one per processor), until
# the time is over: a checker of ours, and the cases of tests/programs that compare data, or kill one side. Each turn has a
# seed, which is the run's plus its number. A finding is a line with how to repeat it, and its log stays. Ends with what was
# done, at Ctrl-C as well; status 1 if there was a finding.
set -uo pipefail

minutes=10 seed=$((EPOCHSECONDS % 1000000)) only='' turns=0 busy=$(nproc)
logs=${BUILD_WORKSPACE_DIRECTORY:-$PWD}/bin/soak
while [ $# -gt 0 ]; do
  [ $# -gt 1 ] || { echo "soak: $1 wants a value" >&2; exit 2; }
  case $1 in
    --minutes) minutes=$2 ;;
    --seed) seed=$2 ;;
    --leg) only=$2 ;;
    --turns) turns=$2 ;;
    --busy) busy=$2 ;;
    --logs) logs=$2 ;;
    *) echo "soak: there is no option $1" >&2; exit 2 ;;
  esac
  shift 2
done

# --- what takes turns ----------------------------------------------------------------------------

# A leg is a function that is given a seed; what it says is the log.
legs=(checker checker_calm io_demo ucx libfabric rping rsockets killed fio qemu)

checker_() { # SEED OPTION...
  local fabric=soak-$$-$1
  # shellcheck disable=SC2086 # several options
  timeout 300 tools/bin/anyrdma run --fabric "$fabric" -- tests/soak/soak_checker --seed "$1" --seconds "${CHECKER_SECONDS:-20}" \
    --workers $((1 + $1 % 3)) ${CHECKER_OPTIONS:-} "${@:2}"
}
leg_checker() { checker_ "$1"; }
leg_checker_calm() { checker_ "$1" --calm; }

# suite NAME CASE...: of tests/programs; each has a deadline for each step, and says which one failed
suite() {
  local name=$1
  shift
  bash "tests/programs/${name}_test.sh" "$@"
}
leg_io_demo() { suite ucx the_connection_manager; }
leg_ucx() { suite ucx messages_over_reliable_connections remote_memory atomics; }
leg_libfabric() { suite libfabric connected_endpoints datagrams reliable_datagrams_over_connections tagged_messages; }
leg_rping() { suite rping both_sides_exit_0 largest_messages_work own_queue_pairs_work persistent_server_serves_five_clients_at_once; }
leg_rsockets() { SEED=$1 suite rsockets streams_of_a_seed lossy_streams_of_a_seed mapped_buffers datagrams; }
leg_killed() { SEED=$1 PAIRS=3 suite killed rping ib_write_bw; }
leg_fio() { suite fio; }
leg_qemu() { suite qemu; }

# A program that is not there is no finding; its leg says so once.
possible() {
  case $1 in
    io_demo) command -v io_demo ;;
    ucx) command -v ucx_perftest ;;
    libfabric) command -v fi_pingpong ;;
    rping | killed) command -v rping ib_write_bw ;;
    rsockets) command -v rstream riostream udpong ;;
    fio) command -v fio ;;
    qemu) command -v qemu-system-x86_64 ;;
  esac >/dev/null
}

# --- turns ---------------------------------------------------------------------------------------

loops=() findings=0 done_=0 current='' over=''
declare -A count
started=$EPOCHSECONDS

end_loops() { [ ${#loops[@]} = 0 ] || kill "${loops[@]}" 2>/dev/null; loops=(); }

summary() {
  local leg text=
  for leg in "${!count[@]}"; do text+=", $leg ${count[$leg]}"; done
  [ ! -t 1 ] || printf '\r\033[K'
  printf 'soak: %d turns in %d min %d s beside %d busy loops from seed %d (%s): %d findings\n' "$done_" \
    $(((EPOCHSECONDS - started) / 60)) $(((EPOCHSECONDS - started) % 60)) "$busy" "$seed" "${text#, }" "$findings"
}

told=$started every=${SOAK_LOG_SECONDS:-300} # in a log, which somebody reads tomorrow
progress() {
  local passed=$((EPOCHSECONDS - started)) left=$((end - EPOCHSECONDS)) text
  ((left >= 0)) || left=0
  text=$(printf '%02d:%02d passed, %02d:%02d left, %s (seed %d), %d turns, %d findings' $((passed / 60)) $((passed % 60)) \
    $((left / 60)) $((left % 60)) "$1" "$2" "$done_" "$findings")
  if [ -t 1 ]; then
    printf '\r\033[K%s' "$text"
  elif ((EPOCHSECONDS - told >= every)); then
    told=$EPOCHSECONDS
    echo "soak: $text"
  fi
}

turn() { # LEG SEED
  local log=$logs/$1-$2.log status=0
  progress "$1" "$2"
  # A session of its own, so that Ctrl-C reaches us first.
  setsid bash -c "$(declare -f); leg_$1 $2" >"$log" 2>&1 </dev/null &
  current=$!
  wait "$current" || status=$?
  [ -z "$over" ] || return
  current=''
  done_=$((done_ + 1)) count[$1]=$((${count[$1]:-0} + 1))
  if [ "$status" = 0 ]; then
    case $1 in checker*) grep '^seed ' "$log" >>"$logs/figures" ;; esac
    rm -f "$log"
    return
  fi
  findings=$((findings + 1))
  [ ! -t 1 ] || printf '\r\033[K'
  printf 'FINDING in %s: status %d, log %s; again: ./dev soak --leg %s --seed %d --turns 1\n' "$1" "$status" "$log" "$1" "$2"
  grep -m3 -E 'WRONG|HANGS|FINDING|FAILED|ended:' "$log" | sed 's/^/    /'
}

interrupt() {
  over=1
  # Programs that were started there may be in groups of their own.
  [ -z "$current" ] || pkill -KILL -s "$current"
}
trap interrupt INT TERM
trap end_loops EXIT

mkdir -p "$logs"
chosen=()
for leg in "${legs[@]}"; do
  [ -z "$only" ] || [ "$only" = "$leg" ] || continue
  if [[ $leg == checker* ]] || possible "$leg"; then chosen+=("$leg"); else echo "soak: no $leg, its program is not installed"; fi
done
[ ${#chosen[@]} != 0 ] || { echo "soak: no leg ${only:-at all}; there are ${legs[*]}" >&2; exit 2; }
for ((i = 0; i < busy; i++)); do
  sh -c 'while :; do :; done' &
  loops+=($!)
done

end=$((started + minutes * 60))
for ((number = 0; EPOCHSECONDS < end && (turns == 0 || number < turns); number++)); do
  [ -z "$over" ] || break
  turn "${chosen[number % ${#chosen[@]}]}" $((seed + number))
done
end_loops 2>/dev/null
summary
[ "$findings" = 0 ]
