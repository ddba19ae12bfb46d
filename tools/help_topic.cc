#include "tools/help_topic.h"

#include <algorithm>

#include "tools/help_pages.h"

namespace anyrdma::tools {

std::span<const HelpTopic> help_topics() {
  static constexpr HelpTopic kTopics[]{
      {"scenario", "Reference of scenario files, for sim, explore and replay.", kScenarioPage},
      {"faults", "Reference of fault plans, for --faults and scenario files.", kFaultsPage},
  };
  return kTopics;
}

const HelpTopic* find_help_topic(std::string_view name) {
  const auto topics = help_topics();
  const auto found = std::ranges::find(topics, name, &HelpTopic::name);
  return found == topics.end() ? nullptr : &*found;
}

std::string help_topic_names() {
  std::string names;
  for (const HelpTopic& topic : help_topics())
    names += (names.empty() ? "" : ", ") + std::string(topic.name);
  return names;
}

}  // namespace anyrdma::tools
