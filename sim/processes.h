// The processes of a simulated host: names of programs, and what unmodified programs report.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recording/entry.h"
#include "sim/process.h"
#include "transport/fault/plan/question.h"
#include "verbs/time.h"

namespace anyrdma::sim {

using verbs::Duration;

class Host;

/// `process` is the unique name of a process of an unmodified program, different from the names of
/// hosts.
class Processes {
 public:
  explicit Processes(Host& host) : host_(host) {}
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Whether the host's programs are processes: there is an interface with an uplink.
  [[nodiscard]] bool expected() const;

  // --- names ------------------------------------------------------------------------------------

  /// Says that an unmodified program of that name will run as a process, so that faults can name
  /// it.
  void announce(std::string_view program);
  /// Returns how many programs of that name were spawned as processes or announced.
  [[nodiscard]] std::uint32_t count(std::string_view program) const;

  // --- reports ----------------------------------------------------------------------------------

  /// Looks up the fault that applies to an action of a process (a call, or a work request). Returns
  /// the time that the process must wait before it continues.
  [[nodiscard]] Duration advise(std::string_view process, fault::Question& question);
  /// Records an entry (one recorded event) from a process. The ids in the entry are numbers of that
  /// process.
  void hear(std::string_view process, const recording::Entry& entry);
  /// It has ended.
  void forget(std::string_view process);
  /// Adds to the trace a line of output of a program. `program`: its name, as "client/rping".
  /// `error`: the line went to stderr.
  void note_output(std::string_view program, bool error, std::string_view line);
  /// Adds to the trace the end of a program that runs in a process. `how`: for example "ended with
  /// status 1".
  void note_end(std::string_view program, std::string_view how);

 private:
  friend class Host;
  friend class Power;
  struct Spawned {
    std::string name;
    std::weak_ptr<Process> process;
  };

  void add_spawned(std::string_view name, const std::shared_ptr<Process>& process);
  /// Returns the `number`-th process of fibers of that name, from 1. Null: there is none, or it has
  /// ended.
  [[nodiscard]] std::shared_ptr<Process> find_spawned(std::string_view name,
                                                      std::uint32_t number) const;
  void on_opened(std::string_view process, fault::Question& question);
  void on_change(fault::Question& question) const;

  Host& host_;
  std::vector<std::string> announced_;
  std::vector<Spawned> spawned_;
};

}  // namespace anyrdma::sim
