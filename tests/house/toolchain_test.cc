// What every room relies on: the language, Boost's pieces, GoogleTest and rdma-core's headers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <boost/context/fiber.hpp>
#include <boost/json.hpp>
#include <boost/system/result.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <span>

namespace {

TEST(Toolchain, SpeaksCxx20) {
  const std::array<int, 3> numbers = {1, 2, 3};

  EXPECT_THAT(std::span(numbers).subspan(1), testing::ElementsAre(2, 3));
}

TEST(Toolchain, SwitchesFibers) {
  int steps = 0;
  boost::context::fiber fiber([&](boost::context::fiber&& caller) {
    ++steps;
    return std::move(caller);
  });

  fiber = std::move(fiber).resume();

  EXPECT_EQ(steps, 1);
  EXPECT_FALSE(fiber);
}

TEST(Toolchain, HasFlatMapsJsonAndResults) {
  boost::unordered_flat_map<int, int> map = {{1, 2}};
  const boost::system::result<int> result = map.at(1);

  EXPECT_EQ(result.value(), 2);
  EXPECT_EQ(boost::json::parse("[1]").as_array().size(), 1U);
}

TEST(Toolchain, SeesTheTypesOfRdmaCore) {
  rdma_cm_id id = {};
  id.ps = RDMA_PS_TCP;

  EXPECT_EQ(id.ps, RDMA_PS_TCP);
  EXPECT_EQ(IBV_WC_SUCCESS, 0);
}

}  // namespace
