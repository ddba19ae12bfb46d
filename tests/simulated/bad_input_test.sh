#!/usr/bin/env bash
# What `anyrdma sim` says of what cannot be, and programs that do what programs better do not.
. tests/simulated/lib.sh

odd=sim/programs/supervisor/odd

# refuses NAME STATUS SENTENCE OPTION...: it ends like that, and says so in one line
refuses() {
  local name=$1 status
  printf '  %s\n' "$name"
  cases=$((cases + 1))
  timeout -k 5 "$deadline" ${wrapper:-} tools/bin/anyrdma "${command:-sim}" "${@:4}" >"$work/said" 2>&1 </dev/null
  status=$?
  grep -qE -- "$3" "$work/said" && [ "$status" = "$2" ] && return
  printf '    FAILED: status %s, expected %s with %s; it said\n' "$status" "$2" "'$3'"
  head -n 12 "$work/said" | cut -c1-200 | sed 's/^/      /'
  failures=$((failures + 1))
}

here() { refuses "$1" "$2" "$3" --host here=10.0.0.1 --on here "$4" "${@:5}"; }

# --- programs that cannot be started ---
here not_there 127 "there is no program 'nowhere' in PATH" nowhere
here no_such_file 127 "there is no file './nowhere'" ./nowhere
touch "$work/plain"
here not_executable 126 'is not executable' "$work/plain"
{ printf '\177ELF\2\1\1' && head -c 9 /dev/zero && printf '\2\0\267\0\1\0\0\0' && head -c 40 /dev/zero; } >"$work/arm"
chmod +x "$work/arm"
here another_architecture 1 "arm' cannot be started: Exec format error" "$work/arm"
printf '#!/nowhere/at/all\n' >"$work/script"
chmod +x "$work/script"
here no_interpreter 1 "script' cannot be started: No such file or directory" "$work/script"
here no_command 2 'the command line is empty' ''
here quote 2 'a quote is not closed' "echo 'a"

# --- scenario files ---
file() { # NAME SENTENCE TEXT
  printf '%b' "$3" >"$work/scenario"
  refuses "$1" 2 "$2" "$work/scenario"
}
file unknown_word "scenario:2: there is no statement 'hots'. Statements: host, on," 'host a 10.0.0.1\nhots b 10.0.0.2\non a true\n'
file host_twice 'there is a host of that name already' 'host a 10.0.0.1\nhost a 10.0.0.2\non a true\n'
file unknown_host "scenario:2: there is no host 'b'\. Add a line 'host b ADDRESS'" 'host a 10.0.0.1\non b true\n'
file unknown_background_host "scenario:3: there is no host 'b'" 'host a 10.0.0.1\non a true\nbackground b true\n'
file host_that_is_a_path "scenario:1: '../../a' is no name of a host" 'host ../../a 10.0.0.1\non ../../a true\n'
file one_address "scenario:2: the hosts a and b have one address, 10.0.0.1" 'host a 10.0.0.1\nhost b 10.0.0.1\non a true\n'
file one_address_twice "scenario:1: the host a has the address 10.0.0.1 twice" 'host a 10.0.0.1 10.0.0.1\non a true\n'
file unknown_program "scenario:3: the scenario starts no program 'a/treu'. Programs: a/true" \
  'host a 10.0.0.1\non a true\nexpect a/treu status 1\n'
file unknown_host_in_expectation "scenario:3: the scenario starts no program 'b/true'" 'host a 10.0.0.1\non a true\nexpect b/true any end\n'
file interface_twice "scenario:1: the host a: it has two interfaces 'r0'" 'host a r0=10.0.0.1 r0=10.0.1.1\non a true\n'
file interface_without_name "the address '10.0.0.1' is before the first interface with a name" \
  'host a 10.0.0.1 r1=10.0.1.1\non a true\n'
file device_without_number "'mlx' is no name of an RDMA device" 'host a r0/mlx=10.0.0.1\non a true\n'
file bad_address "'10.0.0' is no IP address" 'host a 10.0.0\non a true\n'
file bad_expectation "scenario:3: 'expect' is incomplete. Write 'status N...'" 'host a 10.0.0.1\non a true\nexpect a/true well\n'
file bad_status "scenario:1: '256' is no list of exit statuses. Write numbers from 0 to 255" 'expect a/true status 256\n'
file bad_limit "scenario:1: 'limit -1s' is no time" 'limit -1s\n'
file bad_patience "scenario:1: 'patience much' is no time" 'patience much\n'
file bad_memory "scenario:1: there is no memory profile 'weak'. Profiles: strict, spec, relaxed" 'memory weak\n'
file bad_strict "scenario:1: 'strict' takes no argument" 'strict yes\n'
file bad_fault 'scenario:3: ' 'host a 10.0.0.1\non a true\nfault on nonsense\n'
file bad_menu 'scenario:3: ' 'host a 10.0.0.1\non a true\nmenu on nonsense\n'
file unknown_host_in_a_fault "scenario:3: no host 'b'" 'host a 10.0.0.1\non a true\nfault at 1s: crash b\n'
file unknown_host_in_a_menu "scenario:4: no host 'b'" 'host a 10.0.0.1\non a true\nmenu at 1s: crash a\nmenu at 1s: crash b\n'
file window_backwards "scenario:3: a window ends after it begins, not 'between 2s and 1s'" \
  'host a 10.0.0.1\non a true\nmenu between 2s and 1s: crash a\n'
file no_end "scenario:3: 'restart' has no end" 'host a 10.0.0.1\non a true\nmenu at 1s: restart a for 1s\n'
file flap_without_a_period "scenario:3: 'flap' is 'flap HOST DEVICE TIME every TIME'" \
  'host a 10.0.0.1\non a true\nmenu at 1s: flap a anyrdma0 1s\n'
file name_of_nothing "scenario:2: 'name' belongs to a program" 'host a 10.0.0.1\nname b\non a true\n'
file name_that_is_a_path "scenario:3: a program's name has letters" 'host a 10.0.0.1\non a true\nname ../b\n'
file no_stdin "scenario:1: 'missing' is no file that programs could read" 'stdin missing\n'
file unknown_kind "scenario:1: the standard menu has no kind of fault 'crsh'" 'menu standard except crsh\n'
file empty 'scenario: the file starts no program' ''
file garbage 'scenario:1: ' '\177\0\1\2\377 \0 x'
file a_long_line 'scenario:1: ' "$(head -c 100000 /dev/zero | tr '\0' x) y z"
{ printf 'host a 10.0.0.1\n' && yes 'on a true' | head -n 4001; } >"$work/scenario"
refuses too_many_programs 2 'scenario:4002: the scenario starts more than 4000 programs' "$work/scenario"
for i in $(seq 0 1000); do echo "host h$i 10.0.$((i / 250)).$((i % 250 + 1))"; done >"$work/scenario"
echo 'on h0 true' >>"$work/scenario"
refuses too_many_hosts 2 'scenario:1001: the scenario has more than 1000 hosts' "$work/scenario"
refuses a_scenario_without_end 2 "the scenario file '/dev/zero' has more than 16 MiB" /dev/zero
here a_plan_without_end 2 "the fault plan '/dev/zero' has more than 16 MiB" true --faults /dev/zero

# A message is read by people, whatever somebody wrote into a file.
for line in '%s' 'fault %s' 'expect %s status 1' 'on %s true' 'on a %s' 'host %s 10.0.0.2' 'env %s' 'menu standard except %s'; do
  # shellcheck disable=SC2059 # a format
  { printf 'host a 10.0.0.1\non a true\n' && printf "$line\n" "$(head -c 100000 /dev/zero | tr '\0' x)"; } >"$work/scenario"
  status='2|127' # what is no program is one that is not there
  timeout -k 5 "$deadline" tools/bin/anyrdma sim "$work/scenario" >"$work/said" 2>&1 </dev/null
  [[ $? =~ ^($status)$ ]] && [ "$(wc -c <"$work/said")" -lt 6000 ] && continue
  echo "    FAILED: '$line' with a long word says $(wc -c <"$work/said") bytes" && failures=$((failures + 1))
done
file a_name_that_paints 'no statement .\\x1b\[31mred' 'host a 10.0.0.1\n\033[31mred x\n'

# --- trials ---
printf 'host a 10.0.0.1\non a true\n' >"$work/scenario"
command=replay refuses empty_trial 2 'the trial is empty' "$work/scenario" ' ; '
command=replay refuses two_seeds 2 "the trial is invalid: line 2: a trial has one 'seed'" "$work/scenario" 'seed 1; seed 2'

refuses no_such_scenario 2 "the scenario file '$work/no' cannot be read" "$work/no"

# --- what goes wrong without a line ---
wrong() { # NAME SENTENCE TEXT: the run goes wrong, and says so
  printf 'host a 10.0.0.1\non a sleep 5\n%b' "$3" >"$work/scenario"
  refuses "$1" 1 "$2" "$work/scenario"
}
right() {
  printf 'host a 10.0.0.1\non a sleep 5\n%b' "$3" >"$work/scenario"
  refuses "$1" 0 "$2" "$work/scenario"
}
wrong server_that_gives_up 'a/bash ended with status 3' "background a bash -c 'sleep 1; exit 3'\n"
right server_that_may_give_up '^a/bash ended with status 3' "background a bash -c 'sleep 1; exit 3'\nexpect a/bash status 3\n"
right server_that_is_told_to_end '^a/bash ended with status 3' "background a bash -c 'trap \"exit 3\" TERM; while :; do sleep 1; done'\n"
wrong server_that_does_not_give_up 'a/bash did not end by itself; status 3 was expected' \
  "background a bash -c 'sleep 99; exit 3'\nexpect a/bash status 3\n"
report='==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602'
wrong sanitizer 'a/bash: AddressSanitizer: heap-use-after-free$' "background a bash -c 'echo $report >&2'\n"
right sanitizer_that_is_expected '^a/bash ended with status 0' \
  "background a bash -c 'echo $report >&2'\nexpect a/bash output AddressSanitizer\n"
right killed_by_the_plan '^a/bash was ended by signal 9' \
  "on a bash -c 'sleep 99'\nfault at 1s: kill a/bash\n"
right surroundings ' a/bash: b c in /' "env A=b c\ndirectory /\non a bash -c 'echo \$A in \$PWD'\n"
right named '^a/second ended with status 0' "on a true\nname first\non a true\nname second\nexpect a/first status 0\n"
printf 'one\ntwo\n' >"$work/input"
right stdin_of_each ' a/second: two$' "stdin input\non a cat\nname first\non a sh -c 'sleep 1; cat'\nname second\n"
right stdin_of_a_program_that_starts_again '^3\.0[0-9]* a/cat: one$' \
  "stdin input\non a sh -c 'cat; sleep 9'\nname cat\nfault at 1s: crash a\nfault at 3s: restart a\n"
mkdir -p "$work/beside" && printf '#!/bin/sh\necho beside\n' >"$work/beside/program" && chmod +x "$work/beside/program"
right program_beside_the_file ' a/program: beside$' 'on a beside/program\n'

# --- text that a terminal would obey ---
printf 'a\033[31mred\0c\233d \302\233e \342\200\256f\n' >"$work/bytes"
here control_characters 0 '^0\.0[0-9]* here/cat: a\\x1b\[31mred\\x00c\\x9bd \\u009be \\u202ef$' "cat $work/bytes"
tools/bin/anyrdma sim --raw --host here=10.0.0.1 --on here "cat $work/bytes" >"$work/said" 2>&1
grep -qaF "$(tr -d '\0' <"$work/bytes")" <(tr -d '\0' <"$work/said") || {
  echo '    FAILED: --raw shows something else' && failures=$((failures + 1))
}

# --- limits: one sentence each ---
limited() { # NAME SENTENCE LIMIT...: what a limited command says goes through a pipe, which no limit concerns
  local said
  printf '  %s\n' "$1"
  cases=$((cases + 1))
  said=$(bash -c "ulimit ${*:3}; exec timeout -k 5 $deadline tools/bin/anyrdma sim ${scenario:---host here=10.0.0.1 --on here true}" 2>&1 </dev/null)
  grep -qE -- "$2" <<<"$said" && ! grep 'terminate called' <<<"$said" && return
  printf '    FAILED: expected %s; it said\n%s\n' "'$2'" "$said"
  failures=$((failures + 1))
}
limited no_file_may_be_written '^anyrdma: .*File too large\. Raise the limit \(ulimit -f\)' -f 0
limited files_are_too_short 'Raise the limit|raise the limit|ended with status 0' -f 4
limited few_descriptors 'Too many open files\. Raise the limit \(ulimit -n\)' -n 12
limited very_few_descriptors 'Raise the limits \(ulimit -n, ulimit -u, ulimit -v\)' -n 8
{ printf 'host a 10.0.0.1\non a true\n' && head -c 16000000 /dev/zero | tr '\0' '\n'; } >"$work/empty_lines"
scenario=$work/empty_lines limited little_memory '^anyrdma: the system gives no more memory\. Raise the limit \(ulimit -v, cgroup\)' -v 300000
few_inodes() { # NUMBER
  mkdir -p "$work/few"
  unshare -m bash -c "mount -t tmpfs -o nr_inodes=$1 none '$work/few' && TMPDIR=$work/few tools/bin/anyrdma sim --host here=10.0.0.1 --on here true" 2>&1
}
if unshare -m true 2>/dev/null; then
  for number in 2 4 8 16; do
    few_inodes "$number" >"$work/said"
    grep -qE 'No space left on device\. Free space and inodes there, or let \$TMPDIR' "$work/said" && continue
    echo "    FAILED: with $number inodes it says: $(cat "$work/said")" && failures=$((failures + 1))
  done
fi

# --- directories and memory ---
here share_no_path 2 "^anyrdma: --share common is invalid: 'share' needs an absolute path" true --share common
here keep_nothing 2 "^anyrdma: --keep /tmp/no-such is invalid: there is no directory '/tmp/no-such'" true --keep /tmp/no-such
for number in 0 x 65537; do
  here "huge_pages_$number" 2 "--hugepages $number is invalid: 'hugepages' needs a number of pages" true --hugepages "$number"
done
here no_host_before_the_number 2 "^anyrdma: --processors =8 is invalid: 'processors' needs a value" true --processors =8
here no_size_after_the_host 2 "^anyrdma: --ram here= is invalid: 'ram' needs a value" true --ram here=
here two_releases 2 "^anyrdma: --kernel 5.10 6.1 7 is invalid: 'kernel' needs a value" true --kernel '5.10 6.1 7'
here ram_of_nobody 2 "--ram there=1GiB: there is no host 'there'" true --ram there=1GiB

# --- plans on the command line ---
echo '{"faults": [{"when": {"on": "time", "time": "1s"}, "then": {"do": "kill", "host": "here/sleep"}}]}' >"$work/plan.json"
here json 0 '^here/sleep was ended by signal 9' 'sleep 5' --faults "$work/plan.json"
echo '{"faults": [{"when": {}}]}' >"$work/plan.json"
here bad_json 2 "the fault plan: $work/plan.json: line 1: key 'on' is missing" 'sleep 5' --faults "$work/plan.json"

# --- strictly ---
strictly='--strict ended the run, which may be irreproducible: '
here unknown_call 0 'call 500, which anyrdma does not know: it fails with ENOSYS' "$odd unknown-call"
here processor_timers_strictly 1 "${strictly}a timer of processor time never expires" "$odd arm-processor-timers" --strict
here unknown_call_strictly 1 "${strictly}odd makes system call 500, which anyrdma does not know" \
  "$odd unknown-call" --strict
printf 'host a 10.0.0.1\non a %s unknown-call\nstrict\n' "$odd" >"$work/scenario"
refuses strict_in_a_file 1 "$strictly" "$work/scenario"
sed -i '/strict/d' "$work/scenario"
command=explore refuses explore 0 ': 2 runs in ' "$work/scenario" --seeds 2
command=explore refuses explore_strictly 1 "again: anyrdma replay --strict $work/scenario 'seed 1'" "$work/scenario" --seeds 2 --strict
command=replay refuses replay_strictly 1 "$strictly" "$work/scenario" 'seed 1' --strict
here nothing_to_say_of_it 0 'here/date ended with status 0' date --strict
here a_static_binary_strictly 1 "${strictly}'/sbin/ldconfig' cannot use anyrdma: it is linked statically" \
  '/sbin/ldconfig --version' --strict

# --- output in files ---
here output_nowhere 2 "is not usable as a directory: No such file or directory" date --output /nowhere/at/all
here output_no_directory 2 'is not usable as a directory' date --output "$work/plain"
refuses output 0 '^here/bash ended with status 0$' --host here=10.0.0.1 --output "$work/output" \
  --on here 'bash -c "echo one; echo two >&2"' --on here 'bash -c "echo three"'
grep -qE 'one|two|three' "$work/said" && failures=$((failures + 1)) && echo '    FAILED: it is on the terminal, too'
for expected_file in here.bash.out:one here.bash.err:two here.bash.2.out:three here.bash.2.err:; do
  [ "$(cat "$work/output/${expected_file%%:*}")" = "${expected_file#*:}" ] && continue
  printf '    FAILED: %s\n' "$expected_file"
  failures=$((failures + 1))
done

# --- programs that never end ---
here computes_for_ever 1 'here/odd computes without end: it has used a processor for 1 s without a system call' \
  "$odd compute-for-ever" --patience 1s
grep -q 'odd' "$work/said" && grep -q 'at this place:$' "$work/said" || failures=$((failures + 1))
here sleeps_for_ever 1 'deadlock: no event is pending at 0.0' 'sleep infinity'
here sleeps_for_long 1 'the limit of virtual time is reached at 10.0' 'sleep 100' --limit 10s

# --- where it may not be done ---
wrapper="$odd without-ptrace" here no_ptrace 1 'refuses ptrace\(2\) or seccomp\(2\).*--cap-add SYS_PTRACE' date
wrapper="$odd without-seccomp" here no_seccomp 1 'refuses ptrace\(2\) or seccomp\(2\)' date

numbers='process ids differ from run to run: the system refuses a PID namespace'
wrapper="$odd without-namespaces" here no_namespaces 0 "$numbers" date
wrapper="$odd without-namespaces" here no_namespaces_strictly 1 "$strictly$numbers" date --strict

# --- output without an end ---
flood() { # DEED: what we need of memory does not grow with it
  local most
  printf '  %s\n' "$1"
  most=$(python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' tools/bin/anyrdma sim --host here=10.0.0.1 --on here "$odd $1")
  [ "${most:-1000000}" -lt 40000 ] && return
  echo "    FAILED: $most kB" && failures=$((failures + 1))
}
flood flood
flood flood-a-line

# --- programs that make it hard ---
odd() { alike "$1" "$odd $1"; }
says='here/odd: closed$' odd close-all
says='here/odd: refused 5$' odd use-privileges
says='here/odd: refused$' odd share-what-cannot-be-shared
expected=1 says='here/odd ended with status 21$' odd handle-signals
says='here/odd: slept 1 s$' odd block-signals
says='^2\.[0-9]+ here/odd: the daemon is up$' alike become-daemon "$odd become-daemon" 'sleep 5'
says='here/odd: still here$' odd exit-in-thread
expected=1 says='here/odd ended with status 7$' odd exit-group-in-thread
expected=1 says='here/odd was ended by signal 11$' odd overrun-stack
expected=1 says='here/odd (was ended by signal 31|ended with status 3)$' odd filter-calls

finish
