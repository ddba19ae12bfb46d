#!/usr/bin/env bash
# The command itself: what it says and how it exits when it cannot do what is asked.
. tests/programs/lib.sh

# refused STATUS PATTERN ARGUMENT...: one sentence on stderr, nothing on stdout.
refused() {
  local status=$1 pattern=$2 out
  shift 2
  out=$("$anyrdma" "$@" 2>"$work/command.log")
  expect_status "anyrdma $*" "$status" $?
  [ -z "$out" ] || fail "anyrdma $* wrote to stdout: $out"
  expect_line command "$pattern"
}

case_unknown_program_is_127() {
  refused 127 "^anyrdma: there is no program 'no-such-program' in PATH\. Check" run -- no-such-program
  refused 127 "^anyrdma: there is no file './no-such-program'\. Check" run -- ./no-such-program
}

case_file_that_is_no_program_is_126() {
  refused 126 "^anyrdma: '/etc/passwd' is not executable\. Make it so" run -- /etc/passwd
}

case_wrong_usage_is_2() {
  refused 2 "^anyrdma: run needs a program: anyrdma run -- PROGRAM" run
  refused 2 "^anyrdma: run needs a program: anyrdma run -- PROGRAM" run --
  refused 2 "^anyrdma: there is no subcommand 'elucidate'\. Subcommands: run, sim, trace, check, devinfo, rxe, explore, merge, replay, explain, help" elucidate
  refused 2 "^anyrdma: '--bogus' is no option of run" run --bogus -- true
  refused 2 '^anyrdma: --fabric: 1 required' run --fabric
}

case_unknown_transport_is_2_and_the_known_ones_are_listed() {
  refused 2 "^anyrdma: There is no transport 'token-ring': choose .*fabric" run --transport token-ring -- true
  refused 2 '^anyrdma: Only a program that is linked with the simulator can use it' run --transport sim -- true
}

case_wrong_device_is_2() {
  printf 'max_qp = 3\nmax_qps = 3\n' >"$work/odd"
  refused 2 "^anyrdma: the device file '.*/odd' is invalid: line 2: a device profile has no entry 'max_qps'" run --device "$work/odd" -- true
  refused 2 "^anyrdma: there is no device profile and no readable file 'no-such'\. Profiles: anyrdma, rxe," run --device no-such -- true
  refused 2 "^anyrdma: the transport 'ucma' uses real devices, which --device cannot change" run --transport ucma --device rxe -- true
}

case_odd_device_is_what_programs_find() {
  command -v ibv_devinfo >/dev/null || { skip "ibv_devinfo is not installed"; return; }
  printf 'like minimal\nmax_cq = 7\n' >"$work/odd"
  "$anyrdma" run --device "$work/odd" -- ibv_devinfo -v >"$work/devinfo.log" 2>&1
  expect_status "ibv_devinfo" 0 $?
  expect_line devinfo 'max_qp:[[:space:]]+339$'
  expect_line devinfo 'max_cq:[[:space:]]+7$'
  expect_line devinfo 'max_srq:[[:space:]]+0$'
}

case_devinfo_shows_an_odd_device_and_refuses_a_wrong_one() {
  "$anyrdma" devinfo --device minimal >"$work/option.log"
  expect_status "devinfo --device" 0 $?
  expect_line option 'max_srq:[[:space:]]+0$'
  ANYRDMA_DEVICE=minimal "$anyrdma" devinfo >"$work/variable.log"
  expect_status "devinfo on ANYRDMA_DEVICE" 0 $?
  cmp "$work/option.log" "$work/variable.log" || fail "the option says something else than the variable"
  refused 2 "^anyrdma: there is no device profile and no readable file 'no-such'\. Profiles: anyrdma, rxe," devinfo --device no-such
  ANYRDMA_ADDRESSES=10.0.0.1/24,10.0.0.300 refused 1 \
    "^anyrdma: ANYRDMA_ADDRESSES has '10\.0\.0\.300'\. Give addresses such as 10\.0\.0\.1/24," devinfo
  ANYRDMA_ADDRESSES='10.0.0.1/24;mlx5_1=' refused 1 \
    "^anyrdma: ANYRDMA_ADDRESSES has an interface without an address\." devinfo
  export ANYRDMA_LINK_LAYER=token-ring
  refused 1 "^anyrdma: ANYRDMA_LINK_LAYER is 'token-ring'\. Use ethernet or infiniband\." devinfo
}

case_unknown_transport_of_the_environment_is_said_once() {
  command -v rping >/dev/null || { skip "rping is not installed"; return; }
  ANYRDMA_TRANSPORT=token-ring "$anyrdma" run -- rping -s -a 127.0.0.1 >"$work/rping.log" 2>&1
  [ $? != 0 ] || fail "rping found a device"
  expect_line rping "^anyrdma: no RDMA device is available\. There is no transport 'token-ring': choose .*fabric"
  [ "$(grep -c '^anyrdma:' "$work/rping.log")" = 1 ] || fail "said more than once"
  expect_line rping 'No RDMA devices were detected'
}

case_unknown_link_layer_is_refused_before_the_program_and_said_by_the_libraries() {
  refused 2 '^anyrdma: --link-layer: token-ring not in ' run --link-layer token-ring -- touch "$work/started"
  [ ! -e "$work/started" ] || fail "the program was started"
  command -v ibv_devices >/dev/null || { skip "ibv_devices is not installed"; return; }
  ANYRDMA_LINK_LAYER=token-ring "$anyrdma" run -- ibv_devices >"$work/devices.log" 2>&1
  expect_line devices "^anyrdma: no RDMA device is available\. ANYRDMA_LINK_LAYER is 'token-ring'\. Use ethernet or infiniband\."
}

case_rails_are_devices_and_their_number_is_checked() {
  refused 2 '^anyrdma: --rails: ' run --rails 17 -- touch "$work/started"
  refused 2 "^anyrdma: --rails gives devices to the transport 'fabric' only\. " \
    run --transport udp --rails 2 -- touch "$work/started"
  [ ! -e "$work/started" ] || fail "the program was started"
  command -v ibv_devices >/dev/null || { skip "ibv_devices is not installed"; return; }
  "$anyrdma" run --rails 3 -- ibv_devices >"$work/devices.log" 2>&1 || fail "ibv_devices: $?"
  for device in anyrdma0 anyrdma1 anyrdma2; do expect_line devices "^ *$device"; done
  ANYRDMA_RAILS=none "$anyrdma" run -- ibv_devices >"$work/devices.log" 2>&1
  expect_line devices "ANYRDMA_RAILS is 'none'\. Give a number of devices from 1 to 16\."
}

case_help_prints_the_reference_of_a_topic() {
  "$anyrdma" help scenario >"$work/topic.log" 2>&1 || fail "help scenario: $?"
  expect_line topic '^SCENARIO FILES$'
  expect_line topic '^  background HOST COMMAND LINE  starts a server'
  "$anyrdma" help faults >"$work/topic.log" 2>&1 || fail "help faults: $?"
  expect_line topic '^HOW LONG$'
  "$anyrdma" help >"$work/topic.log" 2>&1 || fail "help: $?"
  expect_line topic '^  faults    Reference of fault plans'
  "$anyrdma" help sim >"$work/topic.log" 2>&1 || fail "help sim: $?"
  cmp -s "$work/topic.log" <("$anyrdma" sim --help) || fail "help sim differs from sim --help"
}

case_help_of_an_unknown_topic_names_the_topics() {
  refused 2 "^anyrdma: there is no help topic 'scenarios'\. Topics: scenario, faults\. Subcommands have help, too: run, sim, trace" \
    help scenarios
}

case_wrong_usage_of_devinfo_is_2() {
  refused 2 '^anyrdma: only `anyrdma run` takes a program after `--`; devinfo does not' devinfo -- true
  refused 2 "^anyrdma: There is no transport 'token-ring': choose " devinfo --transport token-ring
  refused 1 "^anyrdma: 'a/b' cannot name a fabric: " devinfo --fabric a/b
}

case_wrong_usage_of_rxe_is_2() {
  refused 2 '^anyrdma: .*subcommand is required' rxe
  refused 2 '^anyrdma: .*INTERFACE is required' rxe add rxe0
  refused 2 '^anyrdma: .*NAME is required' rxe del
  refused 2 '^anyrdma: ' rxe mend rxe0
  refused 2 '^anyrdma: only `anyrdma run` takes a program after `--`; rxe does not' rxe show -- true
  refused 1 "^anyrdma: 'a/b' cannot name an RDMA device" rxe add a/b lo
}

case_wrong_usage_of_explore_and_replay_is_2() {
  refused 2 "^anyrdma: there is no scenario file and no built-in scenario 'lunch'\. Built-in scenarios: connect, clients, late" explore lunch
  refused 2 "^anyrdma: there is no schedule 'fair'\. Schedules: fifo, random, pct, branching, coverage, mixed" explore connect --schedule fair
  refused 2 "^anyrdma: --budget 'soon' is no time\. Write a time such as 60s" explore connect --budget soon
  refused 2 "^anyrdma: the fault plan '/no/file' cannot be read\. Check the path\. --faults takes a file, standard or none" explore connect --faults /no/file
  refused 2 "^anyrdma: --set 'beds=2' sets no size of the scenario connect" explore connect --set beds=2
  refused 2 "^anyrdma: --set 'messages=many' sets no size of the scenario connect" explore connect --set messages=many
  refused 2 "^anyrdma: --seeds: 'few' is no number; give a whole number, 0 or more" explore connect --seeds few
  refused 2 "^anyrdma: --seeds: '-1' is no number; give a whole number, 0 or more" explore connect --seeds -1
  refused 2 "^anyrdma: --steps: '-5' is no number; give a whole number, 0 or more" explore connect --steps -5
  refused 2 "^anyrdma: --jobs: '-2' is no number; give a whole number, 0 or more" explore connect --jobs -2
  refused 2 "^anyrdma: --seed: '99999999999999999999' is no number; give a whole number, 0 or more" sim --seed 99999999999999999999
  printf 'at 1ms: crash sever\n' >"$work/nobody"
  refused 2 "^anyrdma: the plan is refused: line 1: no host 'sever'\.$" explore connect --faults "$work/nobody"
  refused 2 "^anyrdma: the plan is refused: line 1: no host 'sever'\.$" replay connect 'seed 1; at 1ms: crash sever'
  refused 2 '^anyrdma: only `anyrdma run` takes a program after `--`; explore does not' explore connect -- true
  refused 2 '^anyrdma: .*TRIAL is required' replay connect
  refused 2 "^anyrdma: there is no scenario file and no built-in scenario 'lunch'" replay lunch 'seed 1'
  refused 2 '^anyrdma: the trial is invalid: line 2: ' replay connect 'seed 1; at 1s: explode'
  echo 'at 1s: explode' >"$work/plan"
  refused 2 "^anyrdma: .*/plan: line 1: " explore connect --faults "$work/plan"
}

case_explore_lists_scenarios_and_runs_them() {
  "$anyrdma" explore >"$work/list.log"
  expect_status explore 0 $?
  expect_line list '^connect  *a client talks to a server'
  "$anyrdma" explore all --seeds 60 --jobs 2 >"$work/explore.log"
  expect_status 'explore all' 0 $?
  expect_line explore '^multicast: 60 runs'
  expect_line explore '^in [1-9][0-9]* of 60 runs: DISCONNECTED seen'
  "$anyrdma" explore late --seeds 20 --faults none --must-see >"$work/unseen.log" 2>&1
  expect_status 'explore --must-see' 1 $?
  expect_line unseen '^anyrdma: --must-see: some marked situations never occurred'
}

case_a_failure_is_repeated_by_the_command_it_prints() {
  local again
  printf 'host one 10.0.0.1\non one false\n' >"$work/scenario"
  "$anyrdma" explore "$work/scenario" --seeds 9 >"$work/failure.log"
  expect_status 'explore' 1 $?
  again=$(sed -n "s/^again: anyrdma //p" "$work/failure.log")
  eval "$anyrdma $again" >"$work/again.log"
  expect_status "$again" 1 $?
  expect_line again '^one/false ended with status 1$'
}

case_replay_shows_the_trace() {
  "$anyrdma" replay connect 'seed 7; set messages 1' --trace >"$work/trace.log"
  expect_status replay 0 $?
  expect_line trace '^0\.000004000 client -> server REQ'
  expect_line trace '^the run succeeded$'
}

case_rxe_says_what_is_missing() {
  if "$anyrdma" rxe show >"$work/show.log" 2>&1; then
    skip "this kernel has RDMA"
    return
  fi
  refused 1 '^anyrdma: This kernel has no RDMA: load' rxe show
  refused 1 '^anyrdma: This kernel has no RDMA: load' rxe del rxe0
}

# NCCL and others open the libraries by themselves, by the names that are for linkers elsewhere.
case_libraries_that_a_program_opens_by_itself_are_ours_and_there_once() {
  "$anyrdma" run -- python3 -c '
import ctypes
for name, function in ("ibverbs", "ibv_get_device_list"), ("rdmacm", "rdma_create_id"):
    both = [ctypes.CDLL("lib%s.so%s" % (name, end)) for end in ("", ".1")]
    places = {ctypes.cast(getattr(one, function), ctypes.c_void_p).value for one in both}
    print(function, len(places), "place")
print(sorted({line.split("/")[-1].strip() for line in open("/proc/self/maps") if "lib/libanyrdma.so" in line}))
' >"$work/open.log" 2>&1
  expect_line open '^ibv_get_device_list 1 place$'
  expect_line open '^rdma_create_id 1 place$'
  expect_line open "^\['libanyrdma.so'\]\$"
}

case_missing_library_is_named() {
  mv "$work/bin/lib/librdmacm.so.1" "$work/away"
  refused 1 "^anyrdma: the drop-in libraries are not complete: .*/bin/lib lacks librdmacm.so.1\. Build" run -- true
  mv "$work/away" "$work/bin/lib/librdmacm.so.1"
}

case_static_program_is_started_with_a_warning() {
  echo 'int main(void) { return 7; }' | gcc -static -x c -o "$work/static" - 2>/dev/null ||
    { skip "no static C library here"; return; }
  refused 7 "^anyrdma: '.*/static' cannot use anyrdma: it is linked statically" run -- "$work/static"
}

case_setuid_program_is_started_with_a_warning() {
  if [ "$(id -u)" != 0 ]; then skip "only root can make a program of another user"; return; fi
  install -o nobody -m 4755 /bin/true "$work/setuid"
  refused 0 "^anyrdma: '.*/setuid' cannot use anyrdma: it is set up to gain rights" run -- "$work/setuid"
}

case_a_program_with_address_sanitizer_runs() {
  echo 'int main(void) { return 7; }' | gcc -fsanitize=address -x c -o "$work/checked" - 2>/dev/null ||
    { skip "no AddressSanitizer here"; return; }
  "$anyrdma" run -- "$work/checked" >"$work/checked.log" 2>&1
  expect_status checked 7 $?
}

case_environment_is_set_and_kept() {
  LD_LIBRARY_PATH=/somewhere "$anyrdma" run --fabric mine -- env >"$work/env.log"
  expect_line env "^LD_LIBRARY_PATH=$work/bin/lib:/somewhere\$"
  expect_line env '^ANYRDMA_FABRIC=mine$'
  ANYRDMA_FABRIC=theirs "$anyrdma" run -- env >"$work/env.log"
  expect_line env '^ANYRDMA_FABRIC=theirs$'
  "$anyrdma" run --transport fabric -- env >"$work/env.log"
  expect_line env '^ANYRDMA_TRANSPORT=fabric$'
  ANYRDMA_TRANSPORT=theirs "$anyrdma" run -- env >"$work/env.log"
  expect_line env '^ANYRDMA_TRANSPORT=theirs$'
  LD_PRELOAD=libm.so.6 ASAN_OPTIONS=color=never UCX_UD_VERBS_ETH_DGID_CHECK=y "$anyrdma" run -- env >"$work/env.log"
  expect_line env "^LD_PRELOAD=$work/bin/lib/libanyrdma-nodes.so:libm.so.6\$"
  expect_line env '^ASAN_OPTIONS=verify_asan_link_order=0:color=never$'
  expect_line env '^UCX_UD_VERBS_ETH_DGID_CHECK=y$'
}

case_arguments_and_status_are_the_programs() {
  local out
  out=$("$anyrdma" run -- sh -c 'echo "$0 $1"; exit 5' one -- two)
  expect_status sh 5 $?
  [ "$out" = "one --" ] || fail "arguments arrived as '$out'"
  out=$("$anyrdma" run echo --fabric)
  [ "$out" = "--fabric" ] || fail "without -- the arguments arrived as '$out'"
}

case_a_directory_that_cannot_be_entered_is_named() {
  if [ "$(id -u)" != 0 ]; then skip "only root can be somewhere and start a program as a user who cannot"; return; fi
  mkdir -p -m 755 "$work/closed/in"
  chmod 700 "$work/closed"
  (cd "$work/closed/in" && setpriv --reuid=nobody --regid=nogroup --clear-groups \
    "$anyrdma" sim --host a=10.0.0.1 --on a true) >"$work/closed.log" 2>&1
  expect_status "sim in a closed directory" 1 $?
  expect_line closed "^anyrdma: '.*/true' cannot be started: this user may not enter '$work/closed/in'"
}

case_what_it_says_is_for_pipes_without_colours_and_ends_with_its_reader() {
  local statuses
  printf 'host one 10.0.0.1\non one echo hello\n' >"$work/scenario"
  env -u NO_COLOR TERM=xterm-256color CLICOLOR_FORCE=1 "$anyrdma" sim "$work/scenario" >"$work/plain.log" 2>&1
  NO_COLOR=1 "$anyrdma" sim "$work/scenario" >"$work/uncoloured.log" 2>&1
  ! grep -q $'\033' "$work/plain.log" || fail "there are colours"
  cmp -s "$work/plain.log" "$work/uncoloured.log" || fail "NO_COLOR changes what is said"
  "$anyrdma" explore all --seeds 400 --jobs 1 2>"$work/pipe.log" | true
  statuses=("${PIPESTATUS[@]}")
  [ "${statuses[0]}" = 141 ] || [ "${statuses[0]}" = 0 ] || fail "with a closed pipe it ends with ${statuses[0]}"
  [ ! -s "$work/pipe.log" ] || fail "with a closed pipe it says something"
}

case_version_and_help() {
  "$anyrdma" --version >"$work/version.log"
  expect_line version '^anyrdma [0-9]+\.[0-9]+\.[0-9]+( \([0-9a-f]+(-dirty)?\))?, a drop-in for rdma-core 44$'
  "$anyrdma" --help >"$work/help.log"
  expect_line help 'anyrdma run -- rping'
}

run_cases "$@"
