#include "sim/machines/machines.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "sim/gateway/device_files.h"
#include "sim/machines/file_tree.h"
#include "sim/machines/host_interfaces.h"
#include "sim/machines/machine_files.h"
#include "sim/machines/named_directories.h"
#include "sim/machines/names.h"
#include "transport/fault/plan/memory_question.h"
#include "transport/fault/plan/question.h"
#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

/// Names of one length, whoever asks: an environment that is longer moves a program's stack.
std::filesystem::path new_directory(const std::filesystem::path& path) {
  if (path.empty()) return {};
  std::string name = path / "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return {};
  return name;
}

/// As it is, if it says that already: realms of earlier runs show this very file. Returns an errno,
/// or 0.
int write_file(const std::filesystem::path& path, const std::string& text) {
  std::ifstream before(path, std::ios::binary);
  if (before && std::string(std::istreambuf_iterator<char>(before), {}) == text) return 0;
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (file) return 0;
  return errno != 0 ? errno : EIO;
}

/// What to do about an errno of files, sockets or threads: a sentence behind a blank; may be empty.
std::string remedy(int error) {
  switch (error) {
    case EFBIG:
      return " Raise the limit (ulimit -f).";
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return " Raise the limits (ulimit -n, ulimit -u, ulimit -v).";
    case ENOSPC:
    case EDQUOT:
      return " Free space and inodes there, or let $TMPDIR name another directory.";
    case EACCES:
    case ENOENT:
    case ENOTDIR:
    case EROFS:
      return " Let $TMPDIR name a directory that can be written, or unset it.";
    default:
      return "";
  }
}

/// `directory`: in the one that was refused; empty: there is none.
std::string refusal(int error, const std::filesystem::path& directory) {
  const std::string where = directory.empty() ? "" : " in " + directory.parent_path().string();
  return "the files of the run cannot be written" + where + ": " + std::strerror(error) + "." +
         remedy(error);
}

constexpr std::size_t kHostNameMax = 63;  // of a label: RFC 1035, 2.3.4

const Host* host_with(const World& world, const Prefix& prefix) {
  for (const auto& host : world.hosts()) {
    for (std::size_t i = 0; i < host->interfaces().size(); ++i) {
      for (const Prefix& own : host->interfaces()[i].prefixes) {
        if (own.address.ip == prefix.address.ip) return host.get();
      }
    }
  }
  return nullptr;
}

}  // namespace

// --- premises -----------------------------------------------------------------------------------

/// What has been there before a fork belongs to the other process.
void Premises::settle() {
  if (owner_ == ::getpid()) return;
  owner_ = ::getpid();
  realms_ = {};
  error_ = all_.error();
  directory_ = new_directory(all_.path());
  files_.clear();
  nodes_.clear();
  shown_ = new_directory(all_.path());
  if (shown_.empty() && error_ == 0) error_ = errno;
}

int Premises::write_files(const HostDescription& description, Files& files) {
  static const std::string cpuinfo = [] {
    std::ifstream file("/proc/cpuinfo");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  const std::filesystem::path place = shown_ / std::to_string(files_.size());
  std::error_code error;
  const std::filesystem::path processors = place / "cpu";
  std::filesystem::create_directories(processors, error);
  if (error) return error.value();
  for (const auto& [path, text] : processor_files(description.processors)) {
    const std::filesystem::path file = processors / path;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error) return error.value();
    if (const int failed = write_file(file, text); failed != 0) return failed;
  }
  files.emplace_back(processors, "/sys/devices/system/cpu");
  for (const auto& [path, text] : machine_files(description, cpuinfo)) {
    files.emplace_back(place / std::to_string(files.size()), path);
    if (const int failed = write_file(files.back().first, text); failed != 0) return failed;
  }
  return 0;
}

std::string Premises::problem(const HostDescription& description) {
  (void)files(description);
  return error_ == 0 ? "" : refusal(error_, all_.path());
}

const std::filesystem::path& Premises::directory() {
  settle();
  return directory_;
}

const std::vector<std::pair<std::string, std::string>>& Premises::files(
    const HostDescription& description) {
  settle();
  const auto found = files_.find(description);
  if (found != files_.end()) return found->second;
  Files made;
  if (error_ == 0) error_ = write_files(description, made);
  return files_[description] = std::move(made);
}

std::string Premises::nodes(const std::string& host, std::map<std::string, std::string> files) {
  settle();
  if (directory_.empty()) return "";
  const std::string place = (directory_ / (host + ".nodes")).string();
  std::map<std::string, std::string>& before = nodes_[host];
  if (before == files) return place;
  std::error_code error;
  std::filesystem::remove_all(place, error);
  before = {};
  if (!write_tree(place, files)) return "";
  before = std::move(files);
  return place;
}

programs::Realms& Premises::realms() {
  settle();
  return realms_;
}

Place::Place(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code error;
  std::filesystem::create_directory(path_, error);
}

Place::~Place() {
  if (path_.empty()) return;
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

// --- machines -----------------------------------------------------------------------------------

Machines::Machines(World& world, programs::SandboxOptions options, Premises* premises)
    : world_(world),
      own_premises_(premises == nullptr ? std::make_unique<Premises>() : nullptr),
      premises_(premises == nullptr ? *own_premises_ : *premises),
      place_(premises_.directory().empty() ? "" : premises_.directory() / "run"),
      sandbox_(world, with_premises(std::move(options))) {}

Machines::~Machines() {
  empty_common();
}

std::string Machines::problem_with_host(const std::string& name,
                                        const std::vector<std::string>& words,
                                        const HostDescription& description) const {
  if (!is_name(name, kHostNameMax)) {
    return in_quotes(name) +
           " is no name of a host: letters, digits, '.', '-' and '_', at most 63 of them, with a "
           "letter or a digit first.";
  }
  if (world_.find_host(name) != nullptr) return "there is a host of that name already.";
  if (const std::string problem = problem_with(description, huge_pages_); !problem.empty())
    return "the host " + name + ": " + problem + ".";
  const auto interfaces = parse_interfaces(words);
  if (!interfaces) return "the host " + name + ": " + interfaces.error().sentence;
  std::vector<std::string> addresses;
  for (const InterfaceOptions& interface : *interfaces)
    std::ranges::copy(interface.addresses, std::back_inserter(addresses));
  for (auto each = addresses.begin(); each != addresses.end(); ++each) {
    const auto prefix = Prefix::parse(*each);
    const auto same = [&](const std::string& other) {
      return Prefix::parse(other)->address.ip == prefix->address.ip;
    };
    if (std::any_of(addresses.begin(), each, same)) {
      return "the host " + name + " has the address " + *each + " twice.";
    }
    if (const Host* const other = host_with(world_, *prefix)) {
      return "the hosts " + other->name() + " and " + name + " have one address, " + *each +
             ". Give each its own.";
    }
  }
  return "";
}

bool Machines::is_quiet() const {
  constexpr Duration kQuietAtMost = std::chrono::hours(1);
  return world_.now() - sandbox_.last_deed() > kQuietAtMost;
}

verbs::OrWhyNot<Host*> Machines::add_host(const std::string& name,
                                          const std::vector<std::string>& words,
                                          const HostDescription& description) {
  if (std::string problem = problem_with_host(name, words, description); !problem.empty())
    return verbs::WhyNot{std::move(problem)};
  if (std::string problem = premises_.problem(description); !problem.empty())
    return verbs::WhyNot{std::move(problem)};
  Host& host = world_.add_host(
      name, {.interfaces = parse_interfaces(words).value(), .description = description});
  const std::filesystem::path directory = place_.path() / name;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error) {
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  }
  if (error) return verbs::WhyNot{refusal(error.value(), premises_.directory().parent_path())};
  auto gateway = Gateway::create(host, directory);
  if (!gateway) {
    return verbs::WhyNot{"the network of the host cannot be created: " + name + ": " +
                         gateway.error().message() + "." +
                         remedy(gateway.error().default_error_condition().value())};
  }
  (*gateway)->set_delivered([this] { sandbox_.look(); });
  (*gateway)->set_on_crash([this, &host] { sandbox_.crash(host); });
  (*gateway)->set_on_kill([this, &host] { sandbox_.kill(host); });
  (*gateway)->set_on_kill_program([this, &host](std::string_view program, std::uint32_t number) {
    return sandbox_.kill(host, program, number);
  });
  (*gateway)->set_on_pause_program([this, &host](const Uplink::Threads& threads, bool paused) {
    return sandbox_.set_paused(host, threads, paused);
  });
  (*gateway)->set_on_change(
      [this, &host](const transport::soft::DeviceChange& change, std::size_t interface) {
        on_change(host, change, interface);
      });
  gateways_.emplace_back(&host, std::move(*gateway));
  std::vector<int> descriptors;
  for (const auto& [at, each] : gateways_) descriptors.push_back(each->fd());
  sandbox_.set_pump({.run = [this] { pump(); }, .descriptors = std::move(descriptors)});
  return &host;
}

std::map<std::string, std::string> Machines::variables(const Host& host) const {
  const auto gateway =
      std::ranges::find_if(gateways_, [&](const auto& each) { return each.first == &host; });
  CM_ASSERT(gateway != gateways_.end());
  std::map<std::string, std::string> all;
  for (const std::string& entry : gateway->second->environment()) {
    const std::size_t equals = entry.find('=');
    all[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  all[fault::kWorldVariable] = "1";
  const MemoryChoices& memory = host.world().memory();
  if (!memory.is_strict()) all[fault::kMemoryVariable] = verbs::soft::to_string(memory.profile());
  all["ANYRDMA_NODES"] = nodes_of(*gateway->first);
  const char* const link_layer = std::getenv("ANYRDMA_LINK_LAYER");
  if (link_layer != nullptr && std::string_view(link_layer) == "infiniband")
    all["ANYRDMA_LIDS"] = gateway->second->lids();
  return all;
}

/// Where a host's programs find its devices (verbs/c_api/device_nodes.cc).
std::string Machines::nodes_of(Host& host) const {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  auto files = device_files(
      host, {.link_layer = variable("ANYRDMA_LINK_LAYER"), .profile = variable("ANYRDMA_DEVICE")});
  return files ? premises_.nodes(host.name(), std::move(*files)) : "";
}

/// The host's files and its network show what its devices' processes have been told.
void Machines::on_change(Host& host, const transport::soft::DeviceChange& change,
                         std::size_t interface) {
  using Kind = transport::soft::DeviceChange::Kind;
  switch (change.kind) {
    case Kind::kAddressAdded:
    case Kind::kAddressDropped:
      programs::change_address(sandbox_, host, host.interfaces()[interface].name,
                               {change.neighbour, change.bits}, change.kind == Kind::kAddressAdded);
      break;
    case Kind::kRemoved:
    case Kind::kReturned:
    case Kind::kPortDown:
    case Kind::kPortUp:
      break;
    default:  // no file says so
      return;
  }
  (void)nodes_of(host);
}

/// What processes have sent goes into the world, and what has come for them wakes them.
void Machines::pump() {
  for (auto& [host, gateway] : gateways_) gateway->poll();
}

programs::SandboxOptions Machines::with_premises(programs::SandboxOptions options) {
  options.directory = place_.path();
  options.realms = &premises_.realms();
  options.files = [this](const Host& host) { return files_of(host); };
  huge_pages_ = options.huge_pages;
  options.on_huge_pages = [this](const Host& host, unsigned free) {
    (void)huge_page_files_of(host, free);
  };
  const std::string own = premises_.directory().string();
  for (auto& [source, target] : options.common) {
    if (!source.empty()) continue;
    common_.push_back(premises_.directory() / ("common" + std::to_string(common_.size())));
    source = common_.back().string();
  }
  // Realms of earlier runs have these very directories.
  empty_common();
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  if (!error) options.common.push_back({here, here});
  for (const std::string& each : directories_named_around()) {
    if (std::ranges::find(options.common, std::pair(each, each)) == options.common.end())
      options.common.push_back({each, each});
  }
  options.common.push_back({own, own});
  return options;
}

/// What one run has left there is not for the next.
void Machines::empty_common() const {
  std::error_code error;
  for (const std::filesystem::path& each : common_) {
    std::filesystem::create_directory(each, error);
    std::filesystem::permissions(each, std::filesystem::perms::all, error);
    for (const auto& entry : std::filesystem::directory_iterator(each, error))
      std::filesystem::remove_all(entry.path(), error);
  }
}

/// Names of the world's hosts, for getaddrinfo(3), and what it says of itself.
std::vector<std::pair<std::string, std::string>> Machines::files_of(const Host& host) const {
  std::string text = "127.0.0.1 localhost\n::1 localhost\n";
  for (const auto& each : world_.hosts()) {
    for (std::size_t i = 0; i < each->interfaces().size(); ++i) {
      for (const Prefix& prefix : each->interfaces()[i].prefixes) {
        if (prefix.address.is_link_local()) continue;  // it needs a scope as well
        const std::string address = prefix.to_string();
        text += address.substr(0, address.find('/')) + ' ' + each->name() + '\n';
      }
    }
  }
  const std::filesystem::path names = premises_.directory() / (host.name() + ".hosts");
  const std::filesystem::path own = premises_.directory() / (host.name() + ".name");
  (void)write_file(names, text);
  (void)write_file(own, host.name() + '\n');
  auto files = premises_.files(host.description());
  files.emplace_back(names.string(), "/etc/hosts");
  files.emplace_back(own.string(), "/etc/hostname");
  if (huge_pages_ != 0)
    std::ranges::copy(huge_page_files_of(host, huge_pages_), std::back_inserter(files));
  return files;
}

/// Written anew each time, and mounted once.
std::vector<std::pair<std::string, std::string>> Machines::huge_page_files_of(const Host& host,
                                                                              unsigned free) const {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [path, text] : huge_page_files(host.description(), huge_pages_, free)) {
    const auto file =
        premises_.directory() / (host.name() + ".huge" + std::to_string(files.size()));
    write_file(file, text);
    files.emplace_back(file.string(), path);
  }
  return files;
}

}  // namespace anyrdma::sim
