#!/usr/bin/env bash
# Programs that know nothing of RDMA, in virtual time.
. tests/simulated/lib.sh

says='here/date: 2026-01-01T00:00:00\+00:00'
alike the_date 'date -u -Iseconds'

says='^3000\.[0-9]+ here/bash: 2026-01-01_00:50:00$'
alike a_long_sleep 'bash -c "date +%F_%T; sleep 3000; date +%F_%T"'

says='^7200\.[0-9]+ here/bash: 2026-01-01_02:00:00$'
alike hours_of_sleep 'bash -c "date +%F_%T; sleep 7200; date +%F_%T"'

pipe=$work/pipe
says='^2\.0[0-9]+ here/sh: hello'
alike a_named_pipe "sh -c 'rm -f $pipe; mkfifo $pipe; sleep 2; echo hello >$pipe'" "sh -c 'sleep 1; cat $pipe'"

says='here/printf: no-end$'
alike words_without_an_end 'printf no-end'

says='here/bash: 3$'
alike a_pipe_of_three 'bash -c "printf \"b\\na\\nb\\nc\\n\" | sort | uniq | wc -l"'

says='^0\.5[0-9]+ here/bash: fast'
alike children_in_the_background \
  'bash -c "(sleep 2; echo slow) & (sleep 0.5; echo fast) & wait; echo both"'

# dash lends them its memory (vfork(2)), and has it back when they begin a program of their own.
says='here/sh: 300$'
alike many_children_one_after_the_other \
  'sh -c "i=0; while [ \$i -lt 300 ]; do sleep 0.001; i=\$((i + 1)); done; echo \$i"'

says='here/bash: late'
alike two_who_sleep 'bash -c "sleep 1; echo early"' 'bash -c "sleep 2; echo late"'

says='here/bash: caught it'
alike a_trapped_signal \
  'bash -c "trap \"echo caught it; exit\" TERM; (sleep 7; kill -TERM $$) & while :; do sleep 1; done"'

says='here/timeout ended with status 124'
expected=1 alike what_is_ended_after_a_while 'timeout 90 sleep 3600'

# A run keeps to one of them (sim/tracee/one_processor.h), which nobody is to see.
says='here/grep: Cpus_allowed_list:.0-1$'
alike processors_that_it_may_use 'grep Cpus_allowed_list /proc/self/status' 'sh -c "read -r _ </proc/self/status; nproc"'

says='here/bash: [0-9]+ [0-9]+$'
alike random_numbers 'bash -c "echo \$RANDOM \$SRANDOM"'

if unshare -m true 2>/dev/null || unshare -Urm true 2>/dev/null; then
  says='here/sh: 0$'
  alike no_symbols_of_this_kernel 'sh -c "wc -c </proc/kallsyms"'
  says='here/grep: MemFree: +4194304 kB$'
  alike memory_that_is_free 'grep MemFree /proc/meminfo'
  says='here/cat: 0.00 0.00 0.00 1/1 1$'
  alike load 'cat /proc/loadavg'
  says=
  alike what_the_kernel_tells 'sh -c "cat /proc/stat /proc/uptime /proc/vmstat /proc/cpuinfo /proc/version /proc/interrupts"' \
    'sh -c "cd /sys/devices/system && cat node/node0/meminfo node/node0/vmstat cpu/online cpu/possible"'
  says='here/uptime: +00:00:00 up 16 min'
  alike uptime_of_the_host 'uptime'
  says='here/cat: a4d1a000-0000-4000-8000-000000000001$'
  alike its_boot 'cat /proc/sys/kernel/random/boot_id'
else
  not_yet no_symbols_of_this_kernel 'no mount namespace can be had here'
fi

says='here/nproc: 2$'
alike processors nproc

seeds_matter=1
says='here/od: ( [0-9a-f]{2}){16}$'
alike random_bytes_of_the_device 'od -An -tx1 -N16 /dev/urandom' 'od -An -tx1 -N16 /dev/random'

says='here/python3: 8 [0-9a-f]{6} [0-9a-f]{10}$'
alike random_bytes_in_parts 'python3 -c "import os; a, b = bytearray(3), bytearray(5)
print(os.readv(os.open(\"/dev/urandom\", 0), [a, b]), a.hex(), b.hex())"'

says='here/sh: [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'
alike random_names 'sh -c "cd /proc/sys/kernel/random; cat uuid uuid"'
seeds_matter=

says='here/python3: True'
alike python_and_its_clock \
  'python3 -c "import time; a=time.monotonic(); time.sleep(100); print(100 <= time.monotonic()-a < 100.001)"'

says='here/python3: [0-9a-f]{32}'
alike random_bytes_of_python 'python3 -c "import os, uuid; print(os.urandom(16).hex(), uuid.uuid4())"'

says="here/python3: \['t0', 't1', 't2', 't3'\]"
alike threads_of_python 'python3 -c "
import threading, time
said = []
def body(i):
    time.sleep(1 + i)
    said.append(f\"t{i}\")
all = [threading.Thread(target=body, args=(i,)) for i in range(4)]
[t.start() for t in all]; [t.join() for t in all]
print(said)"'

says='here/python3: hello b.pong'
alike sockets_of_python \
  'python3 -c "
import socket
s = socket.create_server((\"10.0.0.1\", 7000)); c, who = s.accept()
print(\"hello\", c.recv(9)); c.sendall(b\"pong\"); c.close()"' \
  'python3 -c "
import socket
c = socket.create_connection((\"10.0.0.1\", 7000)); c.sendall(b\"ping\"); print(\"hello\", c.recv(9))"'

# Virtual time does not jump to a sleeper's timer while threads wait for each other by looking.
says='here/spinning: 20 hand-overs took [0-9]{1,3} us$'
alike 'threads that yield while they wait for each other' "$PWD/tests/simulated/spinning threads"
alike 'processes that spin while they wait for each other' "$PWD/tests/simulated/spinning processes"
for meanwhile in pauses counts polls looks; do
  alike "processes of which each $meanwhile while it waits for the other" "$PWD/tests/simulated/spinning processes $meanwhile"
done
says='here/polling: 20 hand-overs took [0-9]{1,2} us$'
for memory in threads inherited named memfd segment attached; do
  alike "pollers of completion queues that wait for each other by memory: $memory" \
    "$PWD/tests/simulated/polling $memory"
done

finish
