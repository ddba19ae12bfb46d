// `anyrdma help` explains every word that the parsers know: the words come from the parsers.
#include "tools/help_topic.h"

#include <gmock/gmock.h>
#include <rdma/rdma_cma.h>

#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "tools/scenario_file.h"
#include "tools/standard_menu.h"
#include "tools/terminal_page.h"
#include "transport/event_name.h"
#include "transport/fault/plan/fault.h"
#include "transport/fault/plan/name_visitor.h"
#include "transport/fault/plan/words.h"

namespace anyrdma::tools {
namespace {

using ::testing::IsEmpty;
using ::testing::IsNull;
using ::testing::NotNull;

std::string page_of(std::string_view topic) {
  const HelpTopic* const found = find_help_topic(topic);
  return found == nullptr ? "" : terminal_page(found->markdown);
}

/// All words between blanks and punctuation, "port-down" is one.
std::set<std::string> words_in(const std::string& text) {
  static const std::regex kWord("[A-Za-z0-9_-]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), kWord), {}};
}

/// Which of them the page does not have.
std::set<std::string> missing(const std::string& page, const std::set<std::string>& words) {
  const std::set<std::string> there = words_in(page);
  std::set<std::string> not_there;
  for (const std::string& word : words) {
    if (!there.contains(word)) not_there.insert(word);
  }
  return not_there;
}

/// Collects the words of lists that a field may have.
struct WordCollector : fault::NameVisitor<WordCollector> {
  std::set<std::string>& words;
  explicit WordCollector(std::set<std::string>& all) : words(all) {}
  void one_of(std::string_view, const std::string&, std::span<const std::string_view> known) {
    words.insert(known.begin(), known.end());
  }
  void option(std::string_view, std::string_view expected, bool) { words.emplace(expected); }
  void name(std::string_view, const std::string&) {}
  void named(const std::string&) {}
};

template <class Parts, std::size_t... I>
void collect(std::set<std::string>& words, std::index_sequence<I...>) {
  WordCollector collector(words);
  const auto visit = [&]<class Part>(const Part& part) { Part::visit(collector, part); };
  (visit(std::variant_alternative_t<I, Parts>{}), ...);
}

template <class Parts>
void collect(std::set<std::string>& words) {
  collect<Parts>(words, std::make_index_sequence<std::variant_size_v<Parts>>());
}

TEST(HelpTopic, OfScenarioFilesNamesEveryStatementOfTheParser) {
  const auto statements = statement_words();
  ASSERT_GE(statements.size(), 10U);
  EXPECT_THAT(missing(page_of("scenario"), {statements.begin(), statements.end()}), IsEmpty());
}

TEST(HelpTopic, OfScenarioFilesNamesEveryKindOfTheStandardMenu) {
  EXPECT_THAT(missing(page_of("scenario"), words_in(standard_kinds())), IsEmpty());
}

TEST(HelpTopic, OfFaultsNamesEveryTriggerAndAction) {
  const auto triggers = fault::trigger_kinds();
  const auto actions = fault::action_kinds();
  EXPECT_THAT(missing(page_of("faults"), {triggers.begin(), triggers.end()}), IsEmpty());
  EXPECT_THAT(missing(page_of("faults"), {actions.begin(), actions.end()}), IsEmpty());
}

TEST(HelpTopic, OfFaultsNamesEveryCallStateErrorAndOptionOfTheGrammar) {
  std::set<std::string> words;
  collect<fault::TriggerKinds>(words);
  collect<fault::ActionKinds>(words);
  ASSERT_GE(words.size(), 50U);
  EXPECT_THAT(missing(page_of("faults"), words), IsEmpty());
}

TEST(HelpTopic, OfFaultsNamesEveryEvent) {
  std::set<std::string> events;
  for (int type = 0; type <= RDMA_CM_EVENT_TIMEWAIT_EXIT; ++type)
    events.emplace(transport::short_event_name(static_cast<rdma_cm_event_type>(type)));
  EXPECT_THAT(missing(page_of("faults"), events), IsEmpty());
}

TEST(HelpTopic, ThatIsMissingAWordIsFound) {
  EXPECT_THAT(missing("lose, port-down", {"port-down", "port", "lose"}),
              ::testing::ElementsAre("port"));
}

TEST(HelpTopic, FitsATerminal) {
  for (const HelpTopic& topic : help_topics()) {
    std::istringstream lines(terminal_page(topic.markdown));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(HelpTopic, IsFoundByItsNameAlone) {
  EXPECT_THAT(find_help_topic("faults"), NotNull());
  EXPECT_THAT(find_help_topic("fault"), IsNull());
  EXPECT_THAT(find_help_topic(""), IsNull());
  EXPECT_EQ(help_topic_names(), "scenario, faults");
}

}  // namespace
}  // namespace anyrdma::tools
