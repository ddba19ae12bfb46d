#!/usr/bin/env bash
# Calls that wait for pipes (moving.c): the program says on simulated hosts what it has said on Linux (moving.txt), and the
# wait takes as much virtual time as it should.
program=$PWD/tests/simulated/moving table=tests/simulated/moving.txt
. tests/simulated/as_linux.sh

as_on_linux 'data that the kernel moves' moved
as_on_linux 'reads and writes with flags, and in parts' read written sent
as_on_linux 'named pipes' named_pipe

finish
