// The `anyrdma` command.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tools/check.h"
#include "tools/choice.h"
#include "tools/devinfo.h"
#include "tools/explore.h"
#include "tools/report.h"
#include "tools/run.h"
#include "tools/rxe.h"
#include "tools/sim.h"
#include "tools/trace.h"
#include "tools/version.h"
#include "transport/fault/plan/scalars.h"
#include "verbs/soft/device_profile.h"

namespace anyrdma::tools {
namespace {

constexpr const char* kFooter =
    "Example, in two terminals:\n"
    "  anyrdma run -- rping -s -a 127.0.0.1 -C 10 -v\n"
    "  anyrdma run -- rping -c -a 127.0.0.1 -C 10 -v";

/// What stands before the first `--` is ours, what follows is the program's.
struct Words {
  std::vector<std::string> ours;
  std::vector<std::string> program;
  bool separated = false;
  std::string line;  ///< all of it, for a shell
};

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789-_=./,:+@%") == std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

Words split(int argc, char** argv) {
  Words words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    words.line += " " + shell_word(word);
    if (!words.separated && word == "--") {
      words.separated = true;
    } else {
      (words.separated ? words.program : words.ours).push_back(word);
    }
  }
  return words;
}

int usage(const std::string& sentence) {
  std::fprintf(stderr, "anyrdma: %s\n", sentence.c_str());
  return static_cast<int>(Exit::kUsage);
}

std::string device_names() {
  std::string names;
  for (const std::string_view name : verbs::soft::profile_names()) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

/// A number without a sign: what CLI11 makes of -1 is the largest there is.
std::string problem_of_number(const std::string& text) {
  std::uint64_t number = 0;
  if (fault::parse_number(text, number)) return "";
  return "a number from 0 on, not '" + text + "'";
}

class Command {
 public:
  Command() {
    app_.set_version_flag("--version", version_line());
    app_.footer(kFooter);
    app_.require_subcommand(0, 1);  // behind one, `run` is a file's name
    describe_choice(*run_, options_.choice);
    CLI::Option* const faults = run_->add_option(
        "--faults", options_.faults,
        "file with a fault plan, text or JSON: what goes wrong below the program,\n"
        "see docs/faults.md; what came of it is said on stderr at the end");
    run_->add_option("--record", options_.record,
                     "a directory for a recording of each process of the program, for\n"
                     "`anyrdma trace`, see docs/recording.md; or a file for the only one");
    run_->add_option("--host", options_.host,
                     "which of the plan's hosts the program is, and what recordings call it");
    run_->add_option("--seed", options_.seed, "of the plan's chances (default: 1)")
        ->check(problem_of_number)
        ->needs(faults);
    run_->add_flag("--strict", options_.strict,
                   "exit status 3 when the program did well, but a planned fault\n"
                   "did not happen")
        ->needs(faults);
    run_->footer(
        "anyrdma run [--transport NAME] [--fabric NAME] [--device DEVICE] [--faults FILE]\n"
        "            [--record DIR] -- PROGRAM [ARGUMENT...]");
    run_->prefix_command();  // `--` may be left out when PROGRAM follows at once
    describe_choice(*devinfo_, devinfo_choice_);
    describe_rxe();
    describe_explore();
    describe_sim();
    describe_trace();
    check_->add_option("RUN", checked_, "a recording, or those of processes; a directory of them")
        ->required();
  }

  int main(const Words& words) {
    if (const std::string* unknown = unknown_command(words.ours); unknown != nullptr) {
      return usage("there is no command '" + *unknown +
                   "'. There are: run, sim, trace, check, devinfo, rxe, explore, merge, replay. See "
                   "`anyrdma --help`.");
    }
    try {
      std::vector<std::string> reversed(words.ours.rbegin(), words.ours.rend());
      app_.parse(reversed);  // CLI11 takes words from the back
    } catch (const CLI::Success& asked) {
      return app_.exit(asked);  // --help, --version
    } catch (const CLI::ParseError& error) {
      return usage(std::string(error.what()) + ". See `anyrdma --help`.");
    }
    return dispatch(words);
  }

 private:
  [[nodiscard]] static const std::string* unknown_command(const std::vector<std::string>& ours) {
    if (ours.empty() || ours.front().starts_with('-')) return nullptr;
    for (const char* known :
         {"run", "sim", "trace", "check", "devinfo", "rxe", "explore", "merge", "replay"}) {
      if (ours.front() == known) return nullptr;
    }
    return &ours.front();
  }

  static void describe_choice(CLI::App& of, Choice& choice) {
    of.add_option("--fabric", choice.fabric,
                  "name of the fabric to join; programs on one fabric reach each other\n"
                  "(default: $ANYRDMA_FABRIC, else 'default')");
    of.add_option("--transport", choice.transport,
                  "what connections go over, see docs/transports.md\n"
                  "(default: $ANYRDMA_TRANSPORT, else 'fabric')");
    of.add_option("--link-layer", choice.link,
                  "what the fabric's device says it is: ethernet, or infiniband for programs\n"
                  "that know LIDs but no GIDs, as qperf (default: $ANYRDMA_LINK_LAYER, else\n"
                  "ethernet)")
        ->check(CLI::IsMember({"ethernet", "infiniband"}));
    of.add_option("--device", choice.device,
                  "limits of the device, and what it lacks: a file, or one of\n" + device_names() +
                      ", see docs/devices.md");
  }

  void describe_explore() {
    explore_->add_option("SCENARIO", explore_options_.scenario, "or all; without, they are listed");
    explore_
        ->add_option("--seeds", explore_options_.seeds,
                     "how many runs (default: 1000; with --budget, as many as it allows)")
        ->check(problem_of_number);
    explore_->add_option("--first-seed", explore_options_.first_seed, "of the first (default: 1)")
        ->check(problem_of_number);
    explore_->add_option("--faults", explore_options_.faults,
                         "a file with faults to draw from, text or JSON, see docs/sim.md;\n"
                         "or none (default: standard, the scenario's own)");
    explore_->add_option("--faults-max", explore_options_.faults_max, "in a run (default: 4)")
        ->check(problem_of_number);
    explore_
        ->add_option("--steps", explore_options_.steps,
                     "before the seeds: remove devices at every step, up to so many in a run")
        ->check(problem_of_number);
    explore_->add_option(
        "--schedule", explore_options_.schedule,
        "the order of ready work, or how runs learn from earlier ones: fifo, random,\n"
        "pct, branching, coverage (default: mixed)");
    explore_->add_option("--memory", explore_options_.memory,
                         "what devices promise about memory: strict, spec, relaxed, unordered,\n"
                         "see docs/memory.md (default: half of the runs spec)");
    explore_->add_option("--jobs", explore_options_.jobs, "processes (default: one per core)")
        ->check(problem_of_number);
    explore_->add_option("--budget", explore_options_.budget, "ends it after a time such as 60s");
    explore_->add_option("--set", explore_options_.sizes, "a size of the scenario, NAME=NUMBER");
    explore_->add_flag("--keep-going", explore_options_.keep_going,
                       "after a failure, and collect their kinds");
    explore_->add_option("--only", explore_options_.only,
                         "goes on until a failure says this TEXT; others are counted");
    explore_->add_flag("--strict", explore_options_.strict,
                       "of programs: what may not repeat is a failure, too");
    explore_->add_flag("--must-see", explore_options_.must_see,
                       "a rare situation that never occurred is a failure, too");
    explore_->add_option(
        "--shard", explore_options_.shard,
        "I/N: only this part of the runs, from 0/N on (default: as Bazel, a Slurm\n"
        "job array or a Kubernetes job says, see docs/explore.md)");
    explore_->add_option("--shards", explore_options_.shards,
                         "of how many, where JOB_COMPLETION_INDEX says which");
    explore_->add_option("--results", explore_options_.results,
                         "a directory for a file of what was found, for `anyrdma merge`");
    explore_->add_option("--record", explore_options_.record,
                         "a directory for the recording of the failure, for `anyrdma trace`\n"
                         "(default: $TEST_UNDECLARED_OUTPUTS_DIR, else that of --results, else\n"
                         "here)");
    merge_->add_option("PATH", merge_options_.paths, "a file of results, or a directory of them")
        ->required();
    merge_->add_flag("--partial", merge_options_.partial,
                     "do with what is there, though shards are missing or were interrupted");
    merge_->add_flag("--must-see", merge_options_.must_see,
                     "a rare situation that never occurred is a failure, too");
    replay_->add_option("SCENARIO", replay_options_.scenario)->required();
    replay_->add_option("TRIAL", replay_options_.trial, "as explore printed it")->required();
    replay_->add_option("--record", replay_options_.record,
                        "a file for all that happens, for `anyrdma trace`");
    replay_->add_option("--memory", replay_options_.memory,
                        "strict, spec, relaxed or unordered instead of the trial's");
    replay_->add_flag("--trace", replay_options_.trace, "print what happened, line by line");
    replay_->add_flag("--strict", replay_options_.strict,
                      "of programs: what may not repeat ends the run");
    replay_->add_flag("--calls", replay_options_.calls,
                      "of programs, print the system calls that wait or tell the time");
  }

  void describe_sim() {
    sim_->add_option("SCENARIO", sim_options_.file, "a file, see docs/programs.md; or:");
    sim_->add_option("--host", sim_options_.hosts, "a host, NAME=ADDRESS[,ADDRESS...]");
    sim_->add_option("--on", sim_options_.programs,
                     "what runs on a host: its name, and a command line in quotes");
    sim_->add_option("--background", sim_options_.background,
                     "the same of a server, which is ended once all others have");
    sim_->add_option("--seed", sim_options_.seed, "of all chance (default: 1)")
        ->check(problem_of_number);
    sim_->add_option("--faults", sim_options_.faults,
                     "a file with a fault plan, text or JSON, see docs/sim.md");
    sim_->add_option("--memory", sim_options_.memory,
                     "what devices promise about memory: strict, spec, relaxed, unordered, see\n"
                     "docs/memory.md (default: the file's, else strict)");
    sim_->add_option("--capture", sim_options_.capture,
                     "a file for all packets between hosts, as Wireshark reads it");
    sim_->add_option("--record", sim_options_.record,
                     "a file for all that happens, for `anyrdma trace`");
    sim_->add_option("--limit", sim_options_.limit,
                     "of virtual time, such as 10s (default: a day)");
    sim_->add_option("--call-cost", sim_options_.call_cost,
                     "virtual time that a system call takes (default: 200ns)");
    sim_->add_option("--patience", sim_options_.patience,
                     "of a processor's time, with a program that makes no system call\n"
                     "(default: 60s)");
    sim_->add_option("--output", sim_options_.output,
                     "a directory: what programs say goes to files there, HOST.PROGRAM.out\n"
                     "and HOST.PROGRAM.err");
    sim_->add_flag("--strict", sim_options_.strict,
                   "what is only remarked on without, because the run may not repeat, ends it");
    sim_->add_flag("--trace", sim_options_.trace, "print what happened, line by line");
    sim_->add_flag("--calls", sim_options_.calls,
                   "print the system calls that wait or tell the time, as they are made");
    sim_->add_flag("--quiet", sim_options_.quiet, "nothing but what the programs say");
  }

  void describe_trace() {
    trace_->add_option("FILE", trace_options_.file, "a recording; see docs/recording.md");
    trace_->add_option("--host", trace_options_.hosts, "only what touches this host");
    trace_->add_option("--id", trace_options_.ids, "only what touches this id, such as client#1");
    trace_->add_option("--qp", trace_options_.queue_pairs,
                       "only what touches this queue pair, such as client#qp0x11 or 0x11");
    trace_->add_option("--kind", trace_options_.kinds,
                       "only message, call, state, event, completion, wait, fault, note, finding");
    trace_->add_option("--from", trace_options_.from, "of the recording's time, such as 10ms");
    trace_->add_option("--to", trace_options_.to, "not later than that");
    trace_->add_flag("--json", trace_options_.json, "JSON, a line each");
    trace_->add_option("--pcapng", trace_options_.pcapng, "a file to write for Wireshark instead");
    trace_->add_option("--perfetto", trace_options_.perfetto,
                       "a file to write for https://ui.perfetto.dev instead");
    trace_->add_option("--html", trace_options_.html, "a page to write for any browser instead");
    summary_->add_option("FILE", summary_file_)->required();
    diff_->add_option("FILE", diff_left_)->required();
    diff_->add_option("OTHER", diff_right_)->required();
    diff_->add_option("--html", diff_html_, "a page to write, too, of both beside each other");
    merge_trace_->add_option("OUT", merged_, "the file to write")->required();
    merge_trace_->add_option("FILE", merged_files_, "a recording, or a directory of them")
        ->required();
    trace_->footer(
        "anyrdma trace FILE\nanyrdma trace summary FILE\nanyrdma trace diff FILE OTHER\n"
        "anyrdma trace merge OUT FILE...");
  }

  int dispatch_trace() const {
    if (summary_->parsed()) return trace_summary(summary_file_);
    if (merge_trace_->parsed()) return trace_merge(merged_, merged_files_);
    if (diff_->parsed()) return trace_diff(diff_left_, diff_right_, diff_html_);
    if (trace_options_.file.empty()) return usage("trace what? Say: anyrdma trace FILE");
    return trace(trace_options_);
  }

  void describe_rxe() {
    rxe_->require_subcommand(1);
    rxe_->add_subcommand("show", "Lists the links.");
    rxe_add_->add_option("NAME", rxe_options_.link, "of the new RDMA device")->required();
    rxe_add_->add_option("INTERFACE", rxe_options_.interface, "for example eth0")->required();
    rxe_del_->add_option("NAME", rxe_options_.link, "of the RDMA device")->required();
  }

  Exit dispatch_rxe() const {
    if (rxe_add_->parsed()) return rxe_add(rxe_options_);
    if (rxe_del_->parsed()) return rxe_del(rxe_options_);
    return rxe_show();
  }

  int dispatch(const Words& words) {
    if (rxe_->parsed()) {
      if (words.separated) return usage("rxe starts no program, so nothing comes after `--`.");
      return static_cast<int>(dispatch_rxe());
    }
    if (sim_->parsed()) {
      if (words.separated)
        return usage("sim takes its programs by --on: nothing comes after `--`.");
      sim_options_.command = "anyrdma" + words.line;
      return simulate(sim_options_);
    }
    if (check_->parsed()) return check(checked_);
    if (trace_->parsed()) {
      if (words.separated) return usage("trace starts no program: nothing comes after `--`.");
      return dispatch_trace();
    }
    if (devinfo_->parsed()) {
      if (words.separated) return usage("devinfo starts no program: nothing comes after `--`.");
      return static_cast<int>(devinfo(devinfo_choice_));
    }
    if (explore_->parsed() || merge_->parsed() || replay_->parsed()) {
      if (words.separated) return usage("nothing comes after `--` here.");
      replay_options_.command = "anyrdma" + words.line;
      if (merge_->parsed()) return static_cast<int>(merge(merge_options_));
      return static_cast<int>(explore_->parsed() ? explore(explore_options_)
                                                 : replay(replay_options_));
    }
    if (!run_->parsed()) {
      std::fputs(app_.help().c_str(), stderr);
      return static_cast<int>(Exit::kUsage);
    }
    options_.command = run_->remaining();
    if (!options_.command.empty() && words.separated) {
      return usage("'" + options_.command.front() +
                   "' is no option of run. What belongs to the program comes after `--`.");
    }
    if (words.separated) options_.command = words.program;
    if (options_.command.empty() || options_.command.front().empty()) {
      return usage("run what? Say: anyrdma run -- PROGRAM [ARGUMENT...]");
    }
    if (!options_.host.empty() && options_.faults.empty() && options_.record.empty()) {
      return usage(
          "--host says who the program is in a fault plan or a recording: it requires "
          "--faults or --record.");
    }
    return run(options_);
  }

  CLI::App app_{"Runs RDMA programs where there is no RDMA.", "anyrdma"};
  CLI::App* run_ = app_.add_subcommand(
      "run", "Starts an unmodified program on anyrdma's libibverbs and librdmacm.");
  RunOptions options_;
  CLI::App* sim_ = app_.add_subcommand(
      "sim", "Runs unmodified programs on simulated hosts, in virtual time, the same every time.");
  SimOptions sim_options_;
  CLI::App* trace_ = app_.add_subcommand("trace", "Shows what a recording has.");
  TraceOptions trace_options_;
  CLI::App* check_ = app_.add_subcommand("check", "Judges recordings: what no run may show.");
  std::vector<std::string> checked_;
  CLI::App* summary_ = trace_->add_subcommand("summary", "Who, how many, how long, what was lost.");
  std::string summary_file_;
  CLI::App* diff_ = trace_->add_subcommand("diff", "Where two recordings part.");
  std::string diff_left_;
  std::string diff_right_;
  std::string diff_html_;
  CLI::App* merge_trace_ = trace_->add_subcommand(
      "merge", "Makes one recording of those that processes wrote in real time.");
  std::string merged_;
  std::vector<std::string> merged_files_;
  CLI::App* devinfo_ = app_.add_subcommand(
      "devinfo", "Shows the devices that programs find, as ibv_devinfo -v does.");
  Choice devinfo_choice_;
  CLI::App* rxe_ =
      app_.add_subcommand("rxe", "The kernel's Soft-RoCE links: RDMA over any network interface.");
  CLI::App* rxe_add_ = rxe_->add_subcommand("add", "Makes a link (as root).");
  CLI::App* rxe_del_ = rxe_->add_subcommand("del", "Removes a link (as root).");
  RxeOptions rxe_options_;
  CLI::App* explore_ = app_.add_subcommand(
      "explore", "Looks for seeds, faults and orders that break a standard scenario.");
  ExploreCommand explore_options_;
  CLI::App* merge_ = app_.add_subcommand(
      "merge", "Makes one report of the results of all shards that explored something.");
  MergeCommand merge_options_;
  CLI::App* replay_ = app_.add_subcommand("replay", "Repeats one run that explore has found.");
  ReplayCommand replay_options_;
};

}  // namespace
}  // namespace anyrdma::tools

int main(int argc, char** argv) {
  try {
    anyrdma::tools::Command command;
    return command.main(anyrdma::tools::split(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "anyrdma: %s\n", error.what());
    return static_cast<int>(anyrdma::tools::Exit::kFailed);
  }
}
