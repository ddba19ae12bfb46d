# Within the machine: gives its Soft-RoCE device the addresses that scenarios speak of, then performs them.
# shellcheck shell=sh
set -eu
for address in 10.9.0.2 10.9.0.3; do ip address add "$address/24" dev veth0; done
# A neighbour that takes packets and says nothing.
ip neighbour add 10.9.0.9 lladdr 02:00:00:00:00:09 dev veth0
exec "$@"
