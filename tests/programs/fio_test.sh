#!/usr/bin/env bash
# fio's rdma engine: a server and a client, each verb.
. tests/programs/lib.sh
need fio stdbuf flock
together=3
size=256 # KiB

# transfer VERB [verified]: fio says what it has moved. To its rdma engine `rw=read` means the server, `rw=write` the client.
# The server's depth holds every message: fio asks for no RNR retry, and waits for ever when a SEND finds no receive.
transfer() {
  local server write=() read=()
  # The client puts a sum into each block, and the server looks at it.
  [ $# = 1 ] || write=(--verify=crc32c --do_verify=0) read=(--verify=crc32c --verify_fatal=1)
  take_port
  mkdir "$work"/{server,client}
  start_server server "$host:$port" env -C "$work/server" fio --name=server --ioengine=rdma --port="$port" \
    --rw=read --bs=16k --size="${size}k" --iodepth=16 ${read[@]+"${read[@]}"}
  server=$pid
  run client env -C "$work/client" fio --name=client --ioengine=rdma --hostname="$host" --port="$port" \
    --verb="$1" --rw=write --bs=16k --size="${size}k" --iodepth=8 ${write[@]+"${write[@]}"}
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_line client "^ +WRITE: .* io=${size}KiB "
  expect_line client 'err= 0:'
  expect_line server 'err= 0:'
}

case_rdma_write() { transfer write; }

case_rdma_read() { transfer read; }

case_send_and_receive() {
  transfer send
  expect_line server "^ +READ: .* io=${size}KiB "
}

case_what_is_sent_and_received_is_verified() { transfer send verified; }

run_cases "$@"
