// Each checker hears a history that breaks its claim, and one that does not.
#pragma once

#include <gtest/gtest.h>

#include "sim/check/violations.h"

namespace anyrdma::sim::check {

class Claims : public ::testing::Test {
 protected:
  Violations found;
};

}  // namespace anyrdma::sim::check
