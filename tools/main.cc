// The `anyrdma` command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tools/check.h"
#include "tools/choice.h"
#include "tools/devinfo.h"
#include "tools/explain.h"
#include "tools/explore.h"
#include "tools/help_topic.h"
#include "tools/limits.h"
#include "tools/report.h"
#include "tools/run.h"
#include "tools/rxe.h"
#include "tools/sim.h"
#include "tools/simulator_options.h"
#include "tools/start.h"
#include "tools/terminal_page.h"
#include "tools/trace.h"
#include "tools/version.h"
#include "tools/words.h"
#include "verbs/soft/device_profile.h"

namespace anyrdma::tools {
namespace {

constexpr const char* kFooter =
    "Example, in two terminals:\n"
    "  anyrdma run -- rping -s -a 127.0.0.1 -C 10 -v\n"
    "  anyrdma run -- rping -c -a 127.0.0.1 -C 10 -v";

/// The command line: words before the first `--` are ours, words after it are the program's.
struct Words {
  std::vector<std::string> ours;
  std::vector<std::string> program;
  bool separated = false;
  std::string line;  ///< the whole command line, quoted for a shell
};

Words take_words(int argc, char** argv) {
  Words words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    words.line += " " + anyrdma::tools::shell_word(word);
    if (!words.separated && word == "--") {
      words.separated = true;
    } else {
      (words.separated ? words.program : words.ours).push_back(word);
    }
  }
  return words;
}

int usage(const std::string& sentence) {
  anyrdma::tools::say(sentence);
  return static_cast<int>(Exit::kUsage);
}

std::string device_names() {
  std::string names;
  for (const std::string_view name : verbs::soft::profile_names()) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

/// An option that may be repeated takes one value each time: the word behind it may be a file.
void take_single_values(CLI::App& command) {
  const auto is_named = [](const CLI::Option* option) { return !option->get_positional(); };
  for (CLI::Option* const each : command.get_options(is_named)) each->allow_extra_args(false);
}

class Command {
 public:
  Command() {
    app_.set_version_flag("--version", version_line());
    app_.footer(kFooter);
    app_.require_subcommand(0, 1);  // behind one, `run` is a file's name
    describe_run();
    describe_choice(*devinfo_, devinfo_choice_);
    describe_rxe();
    describe(*explore_, explore_options_);
    describe(*replay_, replay_options_);
    describe(*explain_, explain_options_);
    describe(*merge_, merge_options_);
    describe(*sim_, sim_options_);
    describe_trace();
    check_->add_option("RUN", checked_, "a recording, or those of processes; a directory of them")
        ->required();
    describe_help();
    for (CLI::App* const each : {explore_, sim_, trace_}) take_single_values(*each);
  }

  int main(const Words& words) {
    if (!words.ours.empty() && !words.ours.front().starts_with('-') &&
        find_subcommand(words.ours.front()) == nullptr) {
      return usage("there is no subcommand '" + words.ours.front() +
                   "'. Subcommands: " + subcommand_names() + ". See `anyrdma --help`.");
    }
    try {
      std::vector<std::string> reversed(words.ours.rbegin(), words.ours.rend());
      app_.parse(reversed);  // CLI11 takes words from the back
    } catch (const CLI::Success& asked) {
      return app_.exit(asked);  // --help, --version
    } catch (const CLI::ParseError& error) {
      return usage(std::string(error.what()) + ". See `anyrdma" + subcommand_of(words.ours) +
                   " --help`.");
    }
    return dispatch(words);
  }

 private:
  [[nodiscard]] const CLI::App* find_subcommand(const std::string& name) const {
    const auto all =
        app_.get_subcommands([&](const CLI::App* each) { return each->check_name(name); });
    return all.empty() ? nullptr : all.front();
  }

  [[nodiscard]] std::string subcommand_names() const {
    std::string names;
    for (const CLI::App* each : app_.get_subcommands([](const CLI::App*) { return true; }))
      names += (names.empty() ? "" : ", ") + each->get_name();
    return names;
  }

  /// " run", for an error of that subcommand.
  [[nodiscard]] static std::string subcommand_of(const std::vector<std::string>& ours) {
    return ours.empty() || ours.front().starts_with('-') ? "" : " " + ours.front();
  }

  void describe_run() {
    describe_choice(*run_, options_.choice);
    CLI::Option* const faults =
        run_->add_option("--faults", options_.faults,
                         "a fault plan, as text or JSON: faults below the program,\n"
                         "see docs/faults.md; a report follows on stderr at the end")
            ->type_name("FILE");
    run_->add_option("--record", options_.record,
                     "writes a recording of each process into this directory, or of the\n"
                     "only process into this file; for `anyrdma trace`")
        ->type_name("PATH");
    run_->add_flag("--check", options_.check,
                   "judges the processes when the program has ended, see docs/checkers.md:\n"
                   "findings are printed on stderr, and the status is 1");
    run_->add_option("--host", options_.host,
                     "which host of the fault plan this program is, and its name in\n"
                     "recordings")
        ->type_name("NAME");
    run_->add_option("--seed", options_.seed,
                     "seed of the fault plan's random numbers (default: 1)")
        ->type_name("NUMBER")
        ->check(problem_of_number)
        ->needs(faults);
    run_->add_flag("--strict", options_.strict,
                   "exits with 3 if the program succeeded but a planned fault did not\n"
                   "happen")
        ->needs(faults);
    run_->footer(
        "anyrdma run [--transport NAME] [--fabric NAME] [--device DEVICE] [--rails N]\n"
        "            [--faults FILE] [--record PATH] [--check] -- PROGRAM [ARGUMENT...]");
    run_->prefix_command();  // `--` may be left out when PROGRAM follows at once
  }

  static void describe_choice(CLI::App& of, Choice& choice) {
    of.add_option("--fabric", choice.fabric,
                  "joins this group of processes; only processes of one fabric can\n"
                  "connect (default: $ANYRDMA_FABRIC, else 'default')")
        ->type_name("NAME");
    of.add_option("--transport", choice.transport,
                  "how connections are carried, see docs/transports.md\n"
                  "(default: $ANYRDMA_TRANSPORT, else 'fabric')")
        ->type_name("NAME");
    of.add_option("--link-layer", choice.link,
                  "the link layer that the device of 'fabric' reports; infiniband is for\n"
                  "programs that use LIDs and no GIDs, such as qperf\n"
                  "(default: $ANYRDMA_LINK_LAYER, else ethernet)")
        ->type_name("LAYER")
        ->check(CLI::IsMember({"ethernet", "infiniband"}));
    of.add_option("--rails", choice.rails,
                  "the number of devices (default: $ANYRDMA_RAILS, else 1); those after the\n"
                  "first have the addresses 127.0.1.1, 127.0.2.1 and so on")
        ->type_name("N")
        ->check(CLI::Range(1, 16));
    of.add_option("--device", choice.device,
                  "limits and missing features of the device: a file, or one of\n" +
                      device_names() + "; see docs/devices.md")
        ->type_name("DEVICE");
  }

  void describe_trace() {
    trace_->add_option("FILE", trace_options_.file, "a recording, see docs/recording.md")
        ->type_name("");
    trace_->add_option("--host", trace_options_.hosts, "prints only records of this host")
        ->type_name("NAME");
    trace_
        ->add_option("--id", trace_options_.ids, "prints only records of this id, such as client#1")
        ->type_name("ID");
    trace_
        ->add_option("--qp", trace_options_.queue_pairs,
                     "prints only records of this queue pair: client#qp0x11, or 0x11")
        ->type_name("QP");
    trace_
        ->add_option("--kind", trace_options_.kinds,
                     "prints only records of this kind: message, call, state, event,\n"
                     "completion, wait, fault, note or finding")
        ->type_name("KIND");
    trace_
        ->add_option("--from", trace_options_.from,
                     "prints only records from this time of the recording on, such as 10ms")
        ->type_name("TIME");
    trace_
        ->add_option("--to", trace_options_.to,
                     "prints only records up to this time of the recording")
        ->type_name("TIME");
    trace_->add_flag("--numbers", trace_options_.numbers,
                     "prints the number of each record, as the page shows it");
    trace_->add_flag("--json", trace_options_.json, "prints one JSON object a line");
    trace_->add_flag("--raw", trace_options_.raw, "does not escape control characters");
    trace_
        ->add_option("--pcapng", trace_options_.pcapng,
                     "writes the packets to this file, for Wireshark")
        ->type_name("FILE");
    trace_
        ->add_option("--perfetto", trace_options_.perfetto,
                     "writes a trace to this file, for https://ui.perfetto.dev")
        ->type_name("FILE");
    trace_->add_option("--html", trace_options_.html, "writes a page to this file, for any browser")
        ->type_name("FILE");
    summary_->add_option("FILE", summary_file_, "a recording")->type_name("")->required();
    diff_->add_option("FILE", diff_left_, "the first recording")->type_name("")->required();
    diff_->add_option("OTHER", diff_right_, "the second recording")->type_name("")->required();
    diff_->add_option("--html", diff_html_, "also writes a page of both runs side by side")
        ->type_name("FILE");
    merge_trace_->add_option("OUT", merged_, "the recording to write")->type_name("")->required();
    merge_trace_->add_option("FILE", merged_files_, "recordings, or directories that contain them")
        ->type_name("")
        ->required();
    trace_->footer(
        "anyrdma trace FILE\nanyrdma trace summary FILE\nanyrdma trace diff FILE OTHER\n"
        "anyrdma trace merge OUT FILE...");
  }

  void describe_help() {
    help_->add_option("TOPIC", help_topic_, "a topic, or a subcommand")->type_name("");
    std::string topics = "Topics:\n";
    for (const HelpTopic& topic : help_topics()) {
      std::string name(topic.name);
      name.resize(std::max<std::size_t>(name.size(), 10), ' ');
      topics += "  " + name + std::string(topic.summary) + "\n";
    }
    help_->footer(topics);
  }

  [[nodiscard]] int show_help() const {
    if (help_topic_.empty()) {
      std::fputs(help_->help("anyrdma").c_str(), stdout);
    } else if (const HelpTopic* topic = find_help_topic(help_topic_); topic != nullptr) {
      std::fputs(terminal_page(topic->markdown).c_str(), stdout);
    } else if (const CLI::App* of = find_subcommand(help_topic_); of != nullptr) {
      std::fputs(of->help("anyrdma").c_str(), stdout);
    } else {
      return usage("there is no help topic '" + help_topic_ + "'. Topics: " + help_topic_names() +
                   ". Subcommands have help, too: " + subcommand_names() + ".");
    }
    return static_cast<int>(Exit::kOk);
  }

  int dispatch_trace() const {
    if (summary_->parsed()) return trace_summary(summary_file_);
    if (merge_trace_->parsed()) return trace_merge(merged_, merged_files_);
    if (diff_->parsed()) return trace_diff(diff_left_, diff_right_, diff_html_);
    if (trace_options_.file.empty()) return usage("trace needs a recording: anyrdma trace FILE.");
    return trace(trace_options_);
  }

  void describe_rxe() {
    rxe_->require_subcommand(1);
    rxe_->add_subcommand("show", "Lists the Soft-RoCE links.");
    rxe_add_->add_option("NAME", rxe_options_.link, "name of the new RDMA device")
        ->type_name("")
        ->required();
    rxe_add_->add_option("INTERFACE", rxe_options_.interface, "network interface, such as eth0")
        ->type_name("")
        ->required();
    rxe_del_->add_option("NAME", rxe_options_.link, "name of the RDMA device")
        ->type_name("")
        ->required();
  }

  Exit dispatch_rxe() const {
    if (rxe_add_->parsed()) return rxe_add(rxe_options_);
    if (rxe_del_->parsed()) return rxe_del(rxe_options_);
    return rxe_show();
  }

  int dispatch(const Words& words) {
    if (words.separated && !run_->parsed()) {
      return usage(subcommand_of(words.ours).empty()
                       ? "only `anyrdma run` takes a program after `--`."
                       : "only `anyrdma run` takes a program after `--`;" +
                             subcommand_of(words.ours) + " does not." +
                             (sim_->parsed() ? " Use --on HOST COMMAND." : ""));
    }
    if (help_->parsed()) return show_help();
    if (rxe_->parsed()) return static_cast<int>(dispatch_rxe());
    if (sim_->parsed()) {
      sim_options_.command = "anyrdma" + words.line;
      sim_options_.gdb = sim_->count("--gdb") != 0;
      return simulate(sim_options_);
    }
    if (check_->parsed()) return check(checked_);
    if (trace_->parsed()) return dispatch_trace();
    if (devinfo_->parsed()) return static_cast<int>(devinfo(devinfo_choice_));
    if (merge_->parsed()) return static_cast<int>(merge(merge_options_));
    if (explore_->parsed()) return static_cast<int>(explore(explore_options_));
    if (explain_->parsed()) return static_cast<int>(explain(explain_options_));
    if (replay_->parsed()) {
      replay_options_.command = "anyrdma" + words.line;
      replay_options_.gdb = replay_->count("--gdb") != 0;
      return static_cast<int>(replay(replay_options_));
    }
    if (!run_->parsed()) {
      std::fputs(app_.help().c_str(), stderr);
      return static_cast<int>(Exit::kUsage);
    }
    options_.command = run_->remaining();
    if (!options_.command.empty() && words.separated) {
      return usage("'" + options_.command.front() +
                   "' is no option of run. Put the program and its arguments after `--`.");
    }
    if (words.separated) options_.command = words.program;
    if (options_.command.empty() || options_.command.front().empty()) {
      return usage("run needs a program: anyrdma run -- PROGRAM [ARGUMENT...].");
    }
    if (!options_.host.empty() && options_.faults.empty() && options_.record.empty() &&
        !options_.check) {
      return usage(
          "--host has no effect without --faults, --record or --check. Add one of them, or remove "
          "--host.");
    }
    return run(options_);
  }

  CLI::App app_{"Runs RDMA programs without RDMA hardware, and searches them for bugs.", "anyrdma"};
  CLI::App* run_ = app_.add_subcommand(
      "run", "Runs an unmodified program on anyrdma's libibverbs and librdmacm, in real time.");
  RunOptions options_;
  CLI::App* sim_ = app_.add_subcommand(
      "sim", "Runs unmodified programs on simulated hosts, in virtual time, reproducibly.");
  SimOptions sim_options_;
  CLI::App* trace_ = app_.add_subcommand("trace", "Prints a recording, or converts it.");
  TraceOptions trace_options_;
  CLI::App* check_ = app_.add_subcommand("check", "Judges recordings: what no run may show.");
  std::vector<std::string> checked_;
  CLI::App* summary_ =
      trace_->add_subcommand("summary", "Sums up a recording: objects, durations, losses.");
  std::string summary_file_;
  CLI::App* diff_ =
      trace_->add_subcommand("diff", "Finds the first difference between two recordings.");
  std::string diff_left_;
  std::string diff_right_;
  std::string diff_html_;
  CLI::App* merge_trace_ = trace_->add_subcommand(
      "merge", "Merges the recordings of processes that `anyrdma run` started.");
  std::string merged_;
  std::vector<std::string> merged_files_;
  CLI::App* devinfo_ = app_.add_subcommand(
      "devinfo", "Prints the devices that programs find, as ibv_devinfo -v does.");
  Choice devinfo_choice_;
  CLI::App* rxe_ = app_.add_subcommand(
      "rxe", "Manages the kernel's Soft-RoCE links: RDMA over a network interface.");
  CLI::App* rxe_add_ = rxe_->add_subcommand("add", "Creates a link; needs root.");
  CLI::App* rxe_del_ = rxe_->add_subcommand("del", "Removes a link; needs root.");
  RxeOptions rxe_options_;
  CLI::App* explore_ = app_.add_subcommand(
      "explore", "Searches seeds, faults and schedules for a run in which a scenario fails.");
  ExploreCommand explore_options_;
  CLI::App* merge_ =
      app_.add_subcommand("merge", "Merges the results of all shards of a search into one report.");
  MergeCommand merge_options_;
  CLI::App* replay_ = app_.add_subcommand("replay", "Reproduces one run that explore has found.");
  ReplayCommand replay_options_;
  CLI::App* explain_ =
      app_.add_subcommand("explain", "Says why a trial fails that explore has found.");
  ExplainCommand explain_options_;
  CLI::App* help_ =
      app_.add_subcommand("help", "Prints the reference of a topic: " + help_topic_names() + ".");
  std::string help_topic_;
};

}  // namespace
}  // namespace anyrdma::tools

int main(int argc, char** argv) {
  anyrdma::tools::end_at_limits();
  try {
    anyrdma::tools::Command command;
    return command.main(anyrdma::tools::take_words(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "anyrdma: %s\n", error.what());
    return static_cast<int>(anyrdma::tools::Exit::kFailed);
  }
}
