#include "tools/simulator_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "transport/fault/plan/scalars.h"

namespace anyrdma::tools {

std::string problem_of_number(const std::string& text) {
  std::uint64_t number = 0;
  if (fault::parse_number(text, number)) return "";
  return "'" + text + "' is no number; give a whole number, 0 or more";
}

namespace {

void describe_gdb(CLI::App& of, std::string& socket, std::string& destination) {
  of.add_option("--gdb", socket,
                "debugs all programs with gdb, which connects to this socket; without SOCKET,\n"
                "starts gdb (docs/debugging.md)")
      ->type_name("[SOCKET]")
      ->expected(0, 1);
  of.add_option("--goto", destination,
                "with --gdb: stops the run there first; a virtual time such as 10.5ms,\n"
                "'record 123' of its recording, or failure")
      ->type_name("PLACE");
}

void describe_cores(CLI::App& of, std::string& cores) {
  of.add_option("--core", cores,
                "writes core files of all programs into this directory when the run first\n"
                "fails, for gdb: HOST-PROGRAM-PID.core")
      ->type_name("DIR");
}

void describe_buffered(CLI::App& of, bool& buffered) {
  of.add_flag("--buffered", buffered,
              "lets programs buffer their standard output as for a pipe; without it, each\n"
              "line is written when it is printed");
}

void describe_runs(CLI::App& of, unsigned& jobs, std::string& budget, const char* what_budget) {
  of.add_option("--jobs", jobs, "number of processes that search (default: one per processor)")
      ->type_name("NUMBER")
      ->check(problem_of_number);
  of.add_option("--budget", budget, what_budget)->type_name("TIME");
}

void describe_junit(CLI::App& of, std::string& junit) {
  of.add_option("--junit", junit,
                "writes the result to this file as a JUnit report, for CI systems")
      ->type_name("FILE");
}

void describe_search(CLI::App& explore, ExploreCommand& command) {
  explore
      .add_option("SCENARIO", command.scenario,
                  "a scenario file (`anyrdma help scenario`), a built-in scenario, or all\n"
                  "for all built-in ones; without it, explore lists the built-in ones")
      ->type_name("");
  explore
      .add_option("--seeds", command.seeds,
                  "number of runs (default: 1000; with --budget, until it is used up)")
      ->type_name("NUMBER")
      ->check(problem_of_number);
  explore.add_option("--first-seed", command.first_seed, "first seed (default: 1)")
      ->type_name("NUMBER")
      ->check(problem_of_number);
  explore
      .add_option("--faults", command.faults,
                  "candidate faults: a fault plan, as text or JSON (`anyrdma help\n"
                  "faults`), or none (default: standard, those of the scenario)")
      ->type_name("FILE");
  explore
      .add_option("--faults-max", command.faults_max,
                  "largest number of faults in one run (default: 4)")
      ->type_name("NUMBER")
      ->check(problem_of_number);
  explore
      .add_option("--steps", command.steps,
                  "before the seeds, removes a device at every step of a run; at most\n"
                  "this many devices in one run")
      ->type_name("NUMBER")
      ->check(problem_of_number);
  explore
      .add_option("--schedule", command.schedule,
                  "order of ready threads and packets: fifo, random or pct; branching and\n"
                  "coverage choose runs by earlier runs (default: mixed)")
      ->type_name("POLICY");
  explore
      .add_option("--memory", command.memory,
                  "memory order that devices guarantee: strict, spec, relaxed or unordered,\n"
                  "see docs/memory.md (default: spec in half of the runs)")
      ->type_name("PROFILE");
  describe_runs(explore, command.jobs, command.budget,
                "ends the search after this time, such as 60s");
  explore
      .add_option("--set", command.sizes,
                  "sets a size of a built-in scenario, such as connections=2")
      ->type_name("NAME=NUMBER");
}

/// Adds the options about the directories, the memory and the hardware of hosts.
void describe_hosts(CLI::App& sim, SimOptions& command) {
  sim.add_option("--share", command.shared,
                 "a directory that is common to all hosts, empty at first, gone at the end")
      ->type_name("PATH");
  sim.add_option("--keep", command.kept,
                 "a directory of the machine that programs see, also below /tmp, /dev/shm\n"
                 "or /run, where each host has its own files")
      ->type_name("PATH");
  sim.add_option("--hugepages", command.huge_pages,
                 "huge pages of 2 MiB of each host (default: none)")
      ->type_name("NUMBER");
  sim.add_option("--processors", command.hardware[0],
                 "number of processors of all hosts, or of one (default: 2)")
      ->type_name("[HOST=]NUMBER");
  sim.add_option("--ram", command.hardware[1],
                 "memory that all hosts have for their programs to see, or one (default: 8GiB)")
      ->type_name("[HOST=]SIZE");
  sim.add_option("--kernel", command.hardware[2],
                 "release of the kernel of all hosts, or of one, as `uname -r` prints it\n"
                 "(default: 6.1.0-anyrdma)")
      ->type_name("[HOST=]RELEASE");
}

}  // namespace

void describe(CLI::App& explore, ExploreCommand& command) {
  describe_search(explore, command);
  explore.add_flag("--keep-going", command.keep_going,
                   "continues after a failure, and counts each kind of failure");
  explore
      .add_option("--only", command.only,
                  "continues until a failure contains TEXT; only counts other failures")
      ->type_name("TEXT");
  describe_junit(explore, command.junit);
  describe_buffered(explore, command.buffered);
  explore.add_flag("--strict", command.strict,
                   "what may make a run of programs irreproducible is a failure, too");
  explore.add_flag("--must-see", command.must_see,
                   "fails if a rare situation that a program marks never occurred");
  explore
      .add_option("--shard", command.shard,
                  "runs only shard I of N, I from 0 to N-1 (default: as Bazel, a Slurm job\n"
                  "array or a Kubernetes job says in its variables, see docs/explore.md)")
      ->type_name("I/N");
  explore
      .add_option("--shards", command.shards,
                  "the number of shards, if JOB_COMPLETION_INDEX says which one this is")
      ->type_name("N");
  explore
      .add_option("--results", command.results,
                  "writes a file of results into this directory, for `anyrdma merge`")
      ->type_name("DIR");
  explore
      .add_option("--record", command.record,
                  "writes the failure's recording into this directory, for\n"
                  "`anyrdma trace` (default: $TEST_UNDECLARED_OUTPUTS_DIR, else the\n"
                  "directory of --results, else the current one)")
      ->type_name("DIR");
}
void describe(CLI::App& replay, ReplayCommand& command) {
  replay
      .add_option("SCENARIO", command.scenario,
                  "the scenario file or built-in scenario that explore was given, or a bundle")
      ->type_name("")
      ->required();
  replay
      .add_option("TRIAL", command.trial, "the trial, as explore printed it; a bundle has its own")
      ->type_name("");
  replay
      .add_option("--record", command.record,
                  "writes a recording to this file, for `anyrdma trace`")
      ->type_name("FILE");
  replay
      .add_option("--bundle", command.bundle,
                  "writes the scenario, the trial, the programs, a recording and its page\n"
                  "to this archive, for `anyrdma replay FILE` elsewhere")
      ->type_name("FILE");
  replay
      .add_option("--memory", command.memory,
                  "replaces the trial's memory order: strict, spec, relaxed or unordered")
      ->type_name("PROFILE");
  replay.add_flag("--trace", command.trace, "prints each packet and event");
  describe_junit(replay, command.junit);
  describe_buffered(replay, command.buffered);
  replay.add_flag("--strict", command.strict,
                  "ends the run when a program does something irreproducible");
  replay.add_flag("--calls", command.calls,
                  "prints the programs' system calls that wait or read a clock");
  replay.add_flag("--raw", command.raw,
                  "does not escape control characters in the programs' output");
  describe_cores(replay, command.cores);
  describe_gdb(replay, command.socket, command.destination);
}

void describe(CLI::App& explain, ExplainCommand& command) {
  explain.add_option("FILE", command.scenario, "the scenario file that explore was given")
      ->type_name("")
      ->required();
  explain.add_option("TRIAL", command.trial, "the trial, as explore printed it")
      ->type_name("")
      ->required();
  explain
      .add_option("--memory", command.memory,
                  "replaces the trial's memory order: strict, spec, relaxed or unordered")
      ->type_name("PROFILE");
  describe_buffered(explain, command.buffered);
  describe_runs(explain, command.jobs, command.budget,
                "ends the search after this time (default: 60s)");
  explain.add_flag("--json", command.json, "prints JSON, see docs/explain.md");
  explain
      .add_option("--html", command.html,
                  "writes the page of both runs to this file, with the explanation")
      ->type_name("FILE");
}

void describe(CLI::App& merge, MergeCommand& command) {
  merge.add_option("PATH", command.paths, "files of results, or directories that contain them")
      ->type_name("")
      ->required();
  describe_junit(merge, command.junit);
  merge.add_flag("--partial", command.partial, "accepts missing and interrupted shards");
  merge.add_flag("--must-see", command.must_see,
                 "fails if a rare situation that a program marks never occurred");
}

void describe(CLI::App& sim, SimOptions& command) {
  sim.add_option("SCENARIO", command.file,
                 "a scenario file (`anyrdma help scenario`), instead of --host and --on")
      ->type_name("");
  sim.add_option("--host", command.hosts,
                 "adds a host with its IPv4 or IPv6 addresses, or with several interfaces: "
                 "node0=rail0=10.0.0.1,rail1=10.0.1.1")
      ->type_name("NAME=ADDRESS[,ADDRESS...]");
  sim.add_option("--on", command.programs,
                 "starts a program on a host; its command line is one word, in quotes")
      ->type_name("HOST COMMAND");
  sim.add_option("--background", command.background,
                 "starts a program that gets SIGTERM when those of --on have ended")
      ->type_name("HOST COMMAND");
  sim.add_option("--seed", command.seed, "seed of all random numbers (default: 1)")
      ->type_name("NUMBER")
      ->check(problem_of_number);
  sim.add_option("--faults", command.faults, "a fault plan, as text or JSON: `anyrdma help faults`")
      ->type_name("FILE");
  sim.add_option("--memory", command.memory,
                 "memory order that devices guarantee: strict, spec, relaxed or unordered,\n"
                 "see docs/memory.md (default: as the file says, else strict)")
      ->type_name("PROFILE");
  sim.add_option("--capture", command.capture,
                 "writes all packets between hosts to this file, for Wireshark")
      ->type_name("FILE");
  sim.add_option("--record", command.record, "writes a recording to this file, for `anyrdma trace`")
      ->type_name("FILE");
  describe_hosts(sim, command);
  sim.add_option("--limit", command.limit,
                 "largest virtual time of the run, such as 10s (default: one day)")
      ->type_name("TIME");
  sim.add_option("--call-cost", command.call_cost,
                 "virtual time of one system call (default: 200ns)")
      ->type_name("TIME");
  sim.add_option("--patience", command.patience,
                 "largest processor time that a program may use without a system call\n"
                 "(default: 60s)")
      ->type_name("TIME");
  sim.add_option("--output", command.output,
                 "writes the programs' output into this directory: HOST.PROGRAM.out and\n"
                 "HOST.PROGRAM.err")
      ->type_name("DIR");
  sim.add_flag("--times", command.times,
               "with --output: the virtual time precedes each line in these files");
  describe_junit(sim, command.junit);
  describe_buffered(sim, command.buffered);
  sim.add_flag("--strict", command.strict,
               "ends the run when a program does something irreproducible; without it,\n"
               "sim prints a remark");
  sim.add_flag("--trace", command.trace, "prints each packet and event");
  sim.add_flag("--calls", command.calls,
               "prints the programs' system calls that wait or read a clock");
  sim.add_flag("--quiet", command.quiet, "prints only the output of the programs");
  sim.add_flag("--raw", command.raw, "does not escape control characters in the programs' output");
  describe_cores(sim, command.cores);
  describe_gdb(sim, command.socket, command.destination);
}

}  // namespace anyrdma::tools
