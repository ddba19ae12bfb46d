// A process that has another library by the system's name: as one on the drop-ins has.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "verbs/ibv/functions.h"
#include "verbs/ibv/system_libraries.h"

namespace anyrdma::verbs::ibv {
namespace {

TEST(SystemLibraries, LiveApartFromOthersOfTheirNameWithAnErrnoOfTheirOwn) {
  void* const other = ::dlopen("verbs/ibv/old/libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(other, nullptr) << ::dlerror();

  const auto opened = SystemLibraries::open();

  const auto* libraries = std::get_if<SystemLibraries>(&opened);
  if (libraries == nullptr) GTEST_SKIP() << std::get<LoadFault>(opened).sentence;
  EXPECT_TRUE(libraries->apart());
  EXPECT_NE(libraries->errno_location()(), &errno);
  const auto functions = read_verbs_functions(*libraries);
  ASSERT_TRUE(std::holds_alternative<VerbsFunctions>(functions));
  // Both have it from the one libibverbs that was loaded first.
  EXPECT_EQ(libraries->cm_symbol("ibv_open_device", "IBVERBS_1.1"),
            libraries->verbs_symbol("ibv_open_device", "IBVERBS_1.1"));
  errno = 4711;
  int count = 0;
  (void)std::get<VerbsFunctions>(functions).get_device_list(&count);
  EXPECT_EQ(errno, 4711) << "what they do does not show in ours";
}

}  // namespace
}  // namespace anyrdma::verbs::ibv
