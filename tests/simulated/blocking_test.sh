#!/usr/bin/env bash
# Calls that block in the kernel (blocking.c): they return when another process ends the wait, or at their timeout, in
# virtual time.
. tests/simulated/lib.sh

blocking=$PWD/tests/simulated/blocking

blocks() { # CALL PATTERN
  says=$2
  alike "$1 blocks in virtual time" "$blocking $1"
}

blocks msgrcv '8, no error, after 10'
blocks semop '0, no error, after 10'
blocks semtimedop '-1, Resource temporarily unavailable, after 50'
blocks mq_receive '1, no error, after 10'
blocks mq_timedreceive '-1, Connection timed out, after 50'
blocks mq_send '0, no error, after 10'
blocks mq_notify '-1, Interrupted system call, after 10'
blocks tee '3, no error, after 10'
blocks splice '3, no error, after 10'
blocks preadv2 '3, no error, after 10'
blocks connect '0, no error, after 10'

finish
