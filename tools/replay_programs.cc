#include "tools/replay_programs.h"

#include <string>

#include "tools/bundle.h"
#include "tools/sim.h"
#include "tools/start.h"

namespace anyrdma::tools {
namespace {

SimOptions options_of(const ReplayCommand& command) {
  SimOptions options;
  options.file = command.scenario;
  options.trial = command.trial;
  options.memory = command.memory;
  options.trace = command.trace;
  options.record = command.record;
  options.command = command.command;
  options.calls = command.calls;
  options.strict = command.strict;
  options.raw = command.raw;
  options.buffered = command.buffered;
  options.cores = command.cores;
  options.bundle = command.bundle;
  options.junit = command.junit;
  options.gdb = command.gdb;
  options.socket = command.socket;
  options.destination = command.destination;
  return options;
}

}  // namespace

Exit replay_programs(const ReplayCommand& command) {
  return static_cast<Exit>(simulate(options_of(command)));
}

Exit replay_bundle(const ReplayCommand& command) {
  const auto bundle = OpenBundle::open(command.scenario);
  if (bundle == nullptr) return Exit::kUsage;
  for (const std::string& each : bundle->differences()) say(each);
  SimOptions options = options_of(command);
  options.file = bundle->scenario();
  options.trial = bundle->manifest().trial;
  options.strict |= bundle->manifest().strict;
  options.buffered |= bundle->manifest().buffered;
  options.from = bundle.get();
  return static_cast<Exit>(simulate(options));
}

}  // namespace anyrdma::tools
