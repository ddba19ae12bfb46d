#include "cm/state_diagram.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace anyrdma::cm {
namespace {

TEST(StateDiagram, ACallIsDrawnWithItsSuccessAndItsFailure) {
  const std::string page = "Before\n<!-- diagram: listen -->\nAfter\n";

  EXPECT_EQ(with_diagrams(page),
            "Before\n<!-- diagram: listen -->\n"
            "```mermaid\n"
            "stateDiagram-v2\n"
            "    IDLE --> ADDR_BOUND: listen fails\n"
            "    IDLE --> LISTEN: listen\n"
            "    ADDR_BOUND --> LISTEN: listen\n"
            "```\n"
            "After\n");
}

TEST(StateDiagram, CallsAndEventsThatLeadTheSameWayShareAnArrow) {
  const std::string drawn = with_diagrams("<!-- diagram: accept | reject | REJECTED -->\n");

  EXPECT_NE(drawn.find("    CONNECT --> CONNECT: accept, reject, REJECTED\n"), std::string::npos);
}

TEST(StateDiagram, AnOldDiagramIsReplaced) {
  const std::string fresh = with_diagrams("<!-- diagram: bind_addr -->\nAfter\n");
  const std::string old = "<!-- diagram: bind_addr -->\n```mermaid\nold\n```\nAfter\n";

  EXPECT_EQ(with_diagrams(old), fresh);
  EXPECT_EQ(with_diagrams(fresh), fresh);
}

TEST(StateDiagram, WhatTheTablesDoNotHaveIsShownAsUnknown) {
  EXPECT_NE(with_diagrams("<!-- diagram: fly -->\n").find("unknown: fly"), std::string::npos);
}

TEST(StateDiagram, TextWithoutMarkersStaysAsItIs) {
  EXPECT_EQ(with_diagrams("<!-- diagram: bind_addr\n```\n"), "<!-- diagram: bind_addr\n```\n");
}

class Page : public ::testing::TestWithParam<const char*> {};

TEST_P(Page, ShowsTheTablesOfToday) {
  std::ifstream file(GetParam());
  std::ostringstream text;
  text << file.rdbuf();

  ASSERT_FALSE(text.str().empty());
  EXPECT_EQ(with_diagrams(text.str()), text.str()) << "bazel run //cm:draw_states < " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(EveryGroupOfFunctions, Page,
                         ::testing::Values("docs/cm/addresses.md", "docs/cm/connections.md",
                                           "docs/cm/datagrams.md", "docs/cm/events.md",
                                           "docs/cm/options.md", "docs/cm/queue-pairs.md"),
                         [](const auto& page) {
                           std::string name(page.param);
                           name = name.substr(name.rfind('/') + 1);
                           name.resize(name.size() - std::string_view(".md").size());
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace anyrdma::cm
