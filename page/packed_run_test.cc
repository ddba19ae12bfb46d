#include "page/packed_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <sstream>

namespace anyrdma::page {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHeader = R"({"anyrdma":1,"seed":"8"})"
                                "\n";

Complaint read(const std::string& lines, PackedRun& run) {
  std::istringstream stream(lines);
  return run.read(stream);
}

Complaint complaint_of(const std::string& lines) {
  PackedRun run;
  return read(lines, run);
}

boost::json::object packed(const std::string& lines) {
  PackedRun run;
  EXPECT_EQ(read(lines, run), "");
  return boost::json::parse(run.json()).get_object();
}

std::string member(const boost::json::object& run, const char* name) {
  return boost::json::serialize(run.at(name));
}

TEST(PackedRun, KeepsHeaderAndLanesAsTheyCame) {
  const auto run =
      packed(std::string(kHeader) + R"({"lane":1,"of":"host","name":"server"})" + "\n");

  EXPECT_EQ(member(run, "header"), R"({"anyrdma":1,"seed":"8"})");
  EXPECT_EQ(member(run, "lanes"), R"([{"lane":1,"of":"host","name":"server"}])");
}

TEST(PackedRun, SaysEveryTextAndEverySetOfMembersOnce) {
  const auto run =
      packed(std::string(kHeader) + R"({"n":0,"t":5,"lane":1,"is":"note","name":"x"})" + "\n" +
             R"({"n":1,"t":9,"lane":1,"is":"note","name":"x"})" + "\n");

  EXPECT_EQ(member(run, "texts"), R"(["note","x"])");
  EXPECT_EQ(member(run, "shapes"), R"([["n","d","t","d","lane","n","is","s","name","s"]])");
  EXPECT_EQ(member(run, "rows"), "[0,1,5,1,0,1,0,1,4,1,0,1]");
}

TEST(PackedRun, CountsTimesFromTheRecords) {
  const auto run =
      packed(std::string(kHeader) + R"({"n":0,"t":1000,"lane":1,"is":"call","ends":1007})" + "\n");

  EXPECT_THAT(member(run, "shapes"), HasSubstr(R"("ends","d")"));
  EXPECT_EQ(member(run, "rows"), "[0,1,1000,1,0,7]");
}

TEST(PackedRun, KeepsFieldsAndMembersThatItDoesNotKnow) {
  const auto run = packed(
      std::string(kHeader) +
      R"({"n":0,"t":0,"lane":1,"is":"call","about":[2,3],"fields":{"port":"7"},"new":true})" +
      "\n");

  EXPECT_THAT(member(run, "shapes"), HasSubstr(R"("about","j","fields/port","s","new","j")"));
  EXPECT_EQ(member(run, "texts"), R"(["call","[2,3]","7","true"])");
}

TEST(PackedRun, HasNothingThatAPageCouldTakeForATag) {
  PackedRun run;
  EXPECT_EQ(
      read(std::string(kHeader) + R"({"n":0,"t":0,"lane":1,"is":"note","name":"</script>"})" + "\n",
           run),
      "");

  EXPECT_THAT(run.json(), Not(HasSubstr("<")));
  EXPECT_THAT(boost::json::serialize(boost::json::parse(run.json())), HasSubstr("</script>"));
}

TEST(PackedRun, LeavesOutALastLineThatWasCutOff) {
  const auto run = packed(std::string(kHeader) + R"({"n":0,"t":0,"lane":1,"is":"note"})" + "\n" +
                          R"({"n":1,"t":0,"la)");

  EXPECT_EQ(member(run, "rows"), "[0,1,0,1,0]");
}

TEST(PackedRun, NamesTheLineThatItCannotRead) {
  EXPECT_THAT(complaint_of(std::string(kHeader) + "{]\n{}\n"), HasSubstr("line 2: no JSON"));
  EXPECT_THAT(complaint_of(std::string(kHeader) + "[]\n"), HasSubstr("line 2: no object"));
  EXPECT_THAT(complaint_of(std::string(kHeader) + R"({"n":0,"t":"soon","lane":1})" + "\n"),
              HasSubstr("line 2: a record needs a whole number as \"t\""));
}

TEST(PackedRun, RefusesTimesThatAPageCouldNotHold) {
  EXPECT_THAT(
      complaint_of(std::string(kHeader) + R"({"n":0,"t":9223372036854775807,"lane":1})" + "\n"),
      HasSubstr("a record needs a whole number as \"t\""));
}

TEST(PackedRun, KeepsNumbersThatAreTooLargeAsTheyAreWritten) {
  const auto run = packed(std::string(kHeader) +
                          R"({"n":0,"t":-5,"lane":1,"is":"x","ends":-9223372036854775807})" + "\n");

  EXPECT_THAT(member(run, "texts"), HasSubstr("-9223372036854775807"));
}

TEST(PackedRun, RefusesWhatIsNoRecording) {
  EXPECT_EQ(complaint_of(""), "line 1: nothing is there");
  EXPECT_THAT(complaint_of("{\"n\":0}\n"), HasSubstr("line 1: no recording of anyrdma"));
}

}  // namespace
}  // namespace anyrdma::page
