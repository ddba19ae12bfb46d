#include "transport/ucma/system.h"

#include <map>
#include <mutex>

namespace anyrdma::transport::ucma {
namespace {

using verbs::ibv::Directories;
using verbs::ibv::LoadFault;

std::variant<System*, LoadFault> load(const Directories& directories) {
  const auto loaded = verbs::ibv::SystemLibraries::open(directories);
  if (const auto* fault = std::get_if<LoadFault>(&loaded)) return *fault;
  const auto& libraries = std::get<verbs::ibv::SystemLibraries>(loaded);
  const auto verbs = verbs::ibv::read_verbs_functions(libraries);
  if (const auto* fault = std::get_if<LoadFault>(&verbs)) return *fault;
  const auto cm = read_cm_functions(libraries);
  if (const auto* fault = std::get_if<LoadFault>(&cm)) return *fault;
  return new System(std::get<verbs::ibv::VerbsFunctions>(verbs), std::get<CmFunctions>(cm));
}

}  // namespace

std::variant<System*, LoadFault> system_in(const Directories& directories) {
  static std::mutex mutex;
  static auto* const loaded = new std::map<Directories, System*>;  // threads may outlive main()
  const std::lock_guard lock(mutex);
  if (const auto found = loaded->find(directories); found != loaded->end()) return found->second;
  auto system = load(directories);
  if (System** fresh = std::get_if<System*>(&system)) {
    loaded->emplace(directories, *fresh);
    verbs::speak_for_system_contexts(&(*fresh)->provider);
  }
  return system;
}

std::optional<LoadFault> fault_of(const Directories& directories) {
  auto system = system_in(directories);
  if (auto* fault = std::get_if<LoadFault>(&system)) return std::move(*fault);
  return std::nullopt;
}

}  // namespace anyrdma::transport::ucma
