// The exception that ends a simulated program that is killed inside a call.
#pragma once

namespace anyrdma::verbs {

/// Thrown inside a call to unwind the stack of a program that is killed. Code that catches all
/// exceptions must rethrow this one. Only the code that runs the program catches it.
struct Killed {};

}  // namespace anyrdma::verbs
