#!/usr/bin/env bash
# Semaphores, backlogs, inotify, pidfd, seals, queued signals, locks and futexes (kinds.c), and what is refused
# (refusing.c): the programs say on simulated hosts what their tables expect, and the wait takes as much virtual time as it
# should.
program=$PWD/tests/simulated/kinds table=tests/simulated/kinds.txt
. tests/simulated/as_linux.sh

as_on_linux 'POSIX semaphores' semaphore
as_on_linux 'full backlogs of Unix sockets' backlog
as_on_linux 'inotify' watched
as_on_linux 'descriptors of processes' process
as_on_linux 'sealed memory' sealed
as_on_linux 'signals that are queued' queued
as_on_linux 'robust locks, and locks with priority inheritance' lock
as_on_linux 'several futexes at once' words

program=$PWD/tests/simulated/refusing table=tests/simulated/refusing.txt
as_on_linux 'calls that are refused' ring requests marks refused
as_on_linux 'what programs use instead' instead

finish
