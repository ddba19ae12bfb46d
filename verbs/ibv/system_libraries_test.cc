#include "verbs/ibv/system_libraries.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "verbs/ibv/functions.h"

namespace anyrdma::verbs::ibv {
namespace {

/// Libraries by the right names with nothing in them.
constexpr char kOld[] = "verbs/ibv/old";

LoadFault fault_in(const Directories& directories) {
  const auto opened = SystemLibraries::open(directories);
  if (const auto* fault = std::get_if<LoadFault>(&opened)) return *fault;
  ADD_FAILURE() << "the libraries were opened";
  return {};
}

TEST(SystemLibraries, ThatAreMissingAreNamedWithThePlacesAndTheRemedy) {
  const LoadFault fault = fault_in({"/nowhere", "/nor/here"});
  EXPECT_EQ(fault.kind, LoadFault::Kind::kMissing);
  EXPECT_EQ(fault.sentence,
            "The system's libibverbs.so.1 and librdmacm.so.1 are not in /nowhere, /nor/here: "
            "install rdma-core's libraries (Debian: libibverbs1, librdmacm1, ibverbs-providers).");
}

TEST(SystemLibraries, ThatTheLoaderRefusesAreNamedWithItsReason) {
  const std::filesystem::path place = std::filesystem::path(::testing::TempDir()) / "broken";
  std::filesystem::create_directories(place);
  std::ofstream(place / "libibverbs.so.1") << "no library";
  std::ofstream(place / "librdmacm.so.1") << "no library";

  const LoadFault fault = fault_in({place.string()});

  EXPECT_EQ(fault.kind, LoadFault::Kind::kMissing);
  EXPECT_NE(fault.sentence.find((place / "libibverbs.so.1").string()), std::string::npos);
  EXPECT_NE(fault.sentence.find("file too short"), std::string::npos) << fault.sentence;
}

TEST(SystemLibraries, OneWithoutTheOtherIsPassedOver) {
  const std::filesystem::path place = std::filesystem::path(::testing::TempDir()) / "half";
  std::filesystem::create_directories(place);
  std::ofstream(place / "libibverbs.so.1") << "no library";

  const auto opened = SystemLibraries::open({place.string(), kOld});

  EXPECT_TRUE(std::holds_alternative<SystemLibraries>(opened));
}

TEST(SystemLibraries, WithoutAFunctionAreTooOldAndSaySo) {
  const auto opened = SystemLibraries::open({kOld});
  ASSERT_TRUE(std::holds_alternative<SystemLibraries>(opened));

  const auto functions = read_verbs_functions(std::get<SystemLibraries>(opened));

  const auto* fault = std::get_if<LoadFault>(&functions);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->kind, LoadFault::Kind::kTooOld);
  EXPECT_EQ(fault->sentence,
            "The system's libibverbs.so.1 lacks ibv_get_device_list@IBVERBS_1.1: update rdma-core "
            "to version 32 or later.");
}

TEST(SystemLibraries, OfThisMachineHaveAllFunctions) {
  const auto opened = SystemLibraries::open();
  const auto* libraries = std::get_if<SystemLibraries>(&opened);
  if (libraries == nullptr) GTEST_SKIP() << std::get<LoadFault>(opened).sentence;

  EXPECT_TRUE(std::holds_alternative<VerbsFunctions>(read_verbs_functions(*libraries)));
}

}  // namespace
}  // namespace anyrdma::verbs::ibv
