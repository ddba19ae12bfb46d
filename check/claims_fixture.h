// Each checker hears a history that breaks its claim, and one that does not.
#pragma once

#include <gtest/gtest.h>

#include "check/violations.h"

namespace anyrdma::check {

class Claims : public ::testing::Test {
 protected:
  Violations found;
};

}  // namespace anyrdma::check
