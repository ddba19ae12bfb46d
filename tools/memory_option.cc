#include "tools/memory_option.h"

#include "tools/start.h"

namespace anyrdma::tools {

std::string no_such_memory(std::string_view name) {
  std::string sentence = "there is no memory profile '" + std::string(name) + "'. Profiles: ";
  bool first = true;
  for (const std::string_view each : verbs::soft::kMemoryProfiles) {
    sentence += (first ? "" : ", ") + std::string(each);
    first = false;
  }
  return sentence;
}

bool take_memory(const std::string& option, sim::Memory& memory) {
  if (option.empty()) return true;
  const auto profile = verbs::soft::memory_profile_of(option);
  if (!profile) {
    say(no_such_memory(option) + ".");
    return false;
  }
  if (memory.profile != *profile) memory = {.profile = *profile};
  return true;
}

}  // namespace anyrdma::tools
