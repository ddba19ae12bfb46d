// The topics of `anyrdma help`: pages of docs/ that the command carries, since an installation may
// have no pages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace anyrdma::tools {

struct HelpTopic {
  std::string_view name;      ///< behind `anyrdma help`: "scenario"
  std::string_view summary;   ///< what the page answers, one line
  std::string_view markdown;  ///< the page's source, as it was when the command was built
};

[[nodiscard]] std::span<const HelpTopic> help_topics();

/// The topic of that name, or nullptr.
[[nodiscard]] const HelpTopic* find_help_topic(std::string_view name);

/// "scenario, faults".
[[nodiscard]] std::string help_topic_names();

}  // namespace anyrdma::tools
