# Two hosts with two interfaces each, for tables of lib.sh: sourced after it.
# shellcheck shell=bash

hosts=(--host server=rail0/mlx5_0=10.0.0.1/24,rail1/mlx5_1=10.0.1.1/24
  --host client=rail0=10.0.0.2/24,rail1=10.0.1.2/24)

# rails NAME PROGRAM...: PROGRAM is HOST:COMMAND, or +HOST:COMMAND for one that runs in the background
rails() {
  local name=$1 each options=("${hosts[@]}") commands=()
  shift
  for each in "$@"; do
    local where=--on
    [[ $each != +* ]] || { where=--background && each=${each#+}; }
    options+=("$where" "${each%%:*}" "${each#*:}")
    commands+=("${each#*:}")
  done
  table_row "$name" "${commands[*]@Q}" "${options[@]}"
}

# plan LINE...: the faults of the rows that follow
plan() {
  printf '%s\n' "$@" >"$work/plan"
  settings=(--faults "$work/plan")
}
