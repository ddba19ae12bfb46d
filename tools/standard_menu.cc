#include "tools/standard_menu.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "sim/machines/host_interfaces.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::tools {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 26> kKinds{
    "lose",      "delay",     "duplicate", "corrupt",    "reorder",      "reject", "stale",
    "overflow",  "ignore",    "mra",       "unresolved", "complete",     "fail",   "qp-error",
    "crash",     "kill",      "pause",     "cut",        "cut-rail",     "clog",   "slow",
    "slow-rail", "port-down", "flap",      "remove",     "slow-consumer"};

/// An outage that no retries outlast: those of the CM take 64 s, those of a queue pair a few.
constexpr verbs::Duration kOutage = 100s;
/// A stop that a queue pair's do not outlast. Programs wait longer than that for one that is slow.
constexpr verbs::Duration kStop = 10s;

/// How long a port that flaps has no link: a switch takes no longer to train it anew.
constexpr verbs::Duration kFlap = 2s;

/// More hosts than these are named by `*`, or their pairs would be most of the menu.
constexpr std::size_t kPairsOfHostsMax = 4;

/// A window or a duration has whole microseconds.
std::string text_of(verbs::Duration time) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time);
  return fault::word_of(verbs::Duration(std::max(micros, std::chrono::microseconds(1))));
}

/// Writes the lines of one scenario.
class Menu {
 public:
  Menu(const ProgramScenario& scenario, verbs::Duration length, verbs::Duration busy)
      : scenario_(scenario),
        window_("between 0s and " + text_of(std::max<verbs::Duration>(length, 1ms)) + ": ") {
    const verbs::Duration usual = std::max<verbs::Duration>(busy, 1ms);
    outage_ = up_to(usual, kOutage);
    stop_ = up_to(usual, kStop);
    delays_ = {text_of(20us), text_of(std::clamp<verbs::Duration>(usual / 20, 50us, 500ms)),
               text_of(std::min<verbs::Duration>(usual * 2, 1s))};
    flaps_ = {usual / 20, std::min<verbs::Duration>(usual * 2, kFlap)};
    for (const PlacedHost& host : scenario.hosts) {
      if (!fault::is_name(host.name)) continue;
      hosts_.push_back(host.name);
      auto parsed = sim::parse_interfaces(host.addresses);
      if (parsed) interfaces_[host.name] = std::move(*parsed);
    }
  }

  [[nodiscard]] std::string write() {
    for (const auto& [from, to] : ways()) of_way(from + "->" + to);
    for (const std::string& host : hosts_) of_host(host);
    of_programs();
    if (hosts_.size() > 1) of_paths();
    if (hosts_.size() > 1) of_messages();
    return std::move(text_);
  }

 private:
  void add(std::string_view kind, const std::string& when, const std::string& what = "") {
    const auto& except = scenario_.standard->except;
    if (std::ranges::find(except, kind) != except.end()) return;
    text_ += when + std::string(kind) + (what.empty() ? "" : " " + what) + "\n";
  }
  /// At an instant of the run, for a time.
  void add_outage(std::string_view kind, const std::string& what) {
    add(kind, window_, what + outage_);
  }
  void add_stop(std::string_view kind, const std::string& what) {
    add(kind, window_, what + stop_);
  }
  [[nodiscard]] std::string up_to(verbs::Duration usual, verbs::Duration at_least) const {
    const verbs::Duration longest = std::min(std::max(usual * 20, at_least), scenario_.limit / 4);
    return " for " + text_of(std::min(usual / 100, longest)) + " to " + text_of(longest);
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> ways() const {
    if (hosts_.size() > kPairsOfHostsMax) return {{"*", "*"}};
    std::vector<std::pair<std::string, std::string>> all;
    for (const std::string& from : hosts_) {
      for (const std::string& to : hosts_) {
        if (from != to) all.emplace_back(from, to);
      }
    }
    return all;
  }

  void of_way(const std::string& way) {
    const std::string on = "on " + way + " ";
    add("lose", on + "packet 1%: ");
    add("lose", on + "packet 10%: ");
    for (const std::string& delay : delays_) add("delay", on + "packet 3%: ", delay);
    add("duplicate", on + "packet 5%: ");
    add("reorder", on + "packet 5%: ");
    add("corrupt", on + "packet 2%: ");
    for (const char* message : {"REQ", "REP", "RTU", "REJ", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP"})
      add("lose", on + message + " 30%: ");
    for (const char* message : {"REP", "RTU", "DREQ"}) {
      for (const std::string& delay : delays_) add("delay", on + message + " 30%: ", delay);
      add("duplicate", on + message + " 30%: ");
    }
  }

  void of_host(const std::string& host) {
    const std::string request = "on " + host + " request 20%: ";
    add("reject", request, "28");
    add("stale", request);
    add("overflow", request);
    add("ignore", request);
    add("mra", request, "20");
    add("unresolved", "on " + host + " resolving 20%: ", "EHOSTUNREACH");
    of_work(host);
    of_calls(host);
    add_stop("crash", host);
    add_stop("pause", host);
    for (const std::string& port : names_of(host, sim::port_name))
      add_outage("port-down", host + " " + port);
    for (const std::string& delay : delays_) add_stop("slow-consumer", host + " " + delay);
    for (const std::string& device : names_of(host, device_of_first_port))
      add("remove", window_, host + " " + device);
    if (interfaces_[host].size() > 1) of_rails(host);
  }

  /// What a program with several rails may survive.
  void of_rails(const std::string& host) {
    for (const std::string& device : names_of(host, device_of_first_port))
      add_stop("remove", host + " " + device);
    for (const std::string& port : names_of(host, sim::port_name)) {
      for (const verbs::Duration down : flaps_)
        add("flap", window_,
            host + " " + port + " " + text_of(down) + " every " + text_of(3 * down));
    }
    for (const std::string& interface : names_of(host, sim::interface_name)) {
      for (const std::string& delay : delays_)
        add_outage("slow-rail", host + " " + interface + " " + delay);
      for (const std::string& way :
           {host + "/" + interface + "->*", "*->" + host + "/" + interface})
        add("lose", "on " + way + " packet 10%: ");
    }
  }

  /// Empty: the interface carries another port.
  static std::string device_of_first_port(const sim::InterfaceOptions& interface,
                                          std::size_t index) {
    return interface.port == 1 ? sim::rdma_name(interface, index) : "";
  }

  /// The names of a host's interfaces, ports or devices, of those that a plan can name.
  [[nodiscard]] std::vector<std::string> names_of(const std::string& host,
                                                  std::string (*name)(const sim::InterfaceOptions&,
                                                                      std::size_t)) const {
    std::vector<std::string> names;
    const auto found = interfaces_.find(host);
    if (found == interfaces_.end()) return names;
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      std::string each = name(found->second[i], i);
      if (fault::is_name(each)) names.push_back(std::move(each));
    }
    return names;
  }

  void of_work(const std::string& host) {
    for (const char* opcode : {"SEND", "RDMA_WRITE", "RDMA_READ", "COMP_SWAP", "FETCH_ADD"})
      add("complete", "on " + host + " completion " + opcode + " 5%: ", "RETRY_EXC_ERR");
    add("qp-error", "on " + host + " completion RECV 5%: ", host + "#qp1 QP_FATAL");
    add("qp-error", window_, host + "#qp1 QP_FATAL");
  }

  void of_calls(const std::string& host) {
    const std::string call = "on " + host + " call ";
    add("fail", call + "any_allocation 10%: ", "ENOMEM");
    for (const char* name : {"connect", "accept", "post_send", "post_recv", "create_qp", "reg_mr"})
      add("fail", call + name + " 10%: ", "ENOMEM");
  }

  /// Each that a plan can name.
  void of_programs() {
    std::map<std::string, unsigned> numbers;
    for (const auto* all : {&scenario_.background, &scenario_.programs}) {
      for (const Placed& program : *all) {
        std::string name = name_of(program);
        const unsigned number = ++numbers[name];
        if (!fault::is_name(name) || std::ranges::count(name, '/') != 1) continue;
        if (number > 1) name += "#" + std::to_string(number);
        add("kill", window_, name);
        add_stop("pause", name);
        programs_.push_back(name);
      }
    }
  }

  void of_paths() {
    for (const std::string& host : hosts_) {
      add_outage("cut", host + "<->*");
      for (const std::string& interface : names_of(host, sim::interface_name))
        add_outage("cut-rail", host + " " + interface);
    }
    for (const auto& [from, to] : ways()) {
      add_outage("cut", from + "->" + to);
      add_outage("clog", from + "->" + to);
      for (const std::string& delay : delays_) add_outage("slow", from + "->" + to + " " + delay);
      if (from < to) add_outage("cut", from + "<->" + to);
    }
  }

  /// What stops while a message is under way to it or from it has done half of something. That time
  /// is short: few instants of a window are in it.
  void of_messages() {
    for (const std::string& host : hosts_) {
      for (const std::string& way : {"*->" + host, host + "->*"}) {
        for (const char* chance : {"1%", "10%"}) {
          const std::string packet = "on " + way + " packet " + chance + ": ";
          add("crash", packet, host + stop_);
          add("pause", packet, host + stop_);
          for (const std::string& program : programs_) {
            if (program.starts_with(host + "/")) add("pause", packet, program + stop_);
          }
        }
      }
    }
  }

  const ProgramScenario& scenario_;
  std::vector<std::string> hosts_;                                        ///< that a plan can name
  std::map<std::string, std::vector<sim::InterfaceOptions>> interfaces_;  ///< by their hosts
  std::vector<std::string> programs_;  ///< likewise, with their hosts
  std::string window_;
  std::string outage_;  ///< how long, of what is between hosts
  std::string stop_;    ///< the same, of hosts and programs
  std::array<std::string, 3> delays_;
  std::array<verbs::Duration, 2> flaps_{};
  std::string text_;
};

}  // namespace

bool is_standard_kind(std::string_view kind) {
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

std::string standard_kinds() {
  std::string text;
  for (const std::string_view kind : kKinds) text += (text.empty() ? "" : ", ") + std::string(kind);
  return text;
}

std::string standard_menu(const ProgramScenario& scenario, verbs::Duration length,
                          verbs::Duration busy) {
  return scenario.standard ? Menu(scenario, length, busy).write() : "";
}

}  // namespace anyrdma::tools
