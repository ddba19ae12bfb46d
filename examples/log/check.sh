#!/bin/sh
# Whether each number that the leader has acknowledged is in the log that the follower shows afterwards.
log=" $(sed -n 's/^log//p' client.log.out) "
for number in $(sed -n 's/^acknowledged //p' client.log.out); do
  case $log in
  *" $number "*) ;;
  *) echo "acknowledged, and not in the log: $number" && exit 1 ;;
  esac
done
