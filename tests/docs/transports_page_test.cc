// docs/transports.md quotes every sentence with which a transport refuses to open. A row that is
// missing there is printed here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include "transport/fabric/rendezvous/error.h"
#include "transport/open/open.h"
#include "transport/open/real.h"
#include "transport/rxe/error.h"
#include "transport/ucma/error.h"
#include "transport/udp/error.h"
#include "verbs/ibv/system_libraries.h"

namespace anyrdma::transport {
namespace {

using boost::system::error_code;

const std::string& page() {
  static const std::string text = [] {
    std::ifstream file("docs/transports.md");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return text;
}

void expect_row(const error_code& error, const std::string& sentence) {
  const int number = error.default_error_condition().value();
  const std::string row = "| " + sentence + " | " + strerrorname_np(number) + " |\n";
  EXPECT_NE(page().find(row), std::string::npos) << row;
}

/// How many a category has: those it has words for.
template <class Errc>
int count_of(const char* unknown) {
  int count = 0;
  while (make_error_code(static_cast<Errc>(count + 1)).message() != unknown) ++count;
  return count;
}

TEST(TransportsPage, QuotesTheFabric) {
  fabric::FabricConfig config;
  config.name = "NAME";
  config.uid = 1000;
  config.devices = fabric::kRailsMax + 1;
  for (int i = 1; i <= count_of<fabric::FabricErrc>("unknown fabric error"); ++i) {
    const error_code error = make_error_code(static_cast<fabric::FabricErrc>(i));
    expect_row(error, fabric::explain(error, config));
  }
}

TEST(TransportsPage, QuotesUdp) {
  udp::UdpConfig config;
  config.addresses = {"192.0.2.1"};
  config.network_namespace = "/run/netns/NAME";
  udp::UdpConfig crowded;
  crowded.devices.resize(udp::kDevicesMax + 1);
  for (int i = 1; i <= count_of<udp::UdpErrc>("unknown error of RoCE over UDP"); ++i) {
    const auto which = static_cast<udp::UdpErrc>(i);
    const error_code error = make_error_code(which);
    const bool many = which == udp::UdpErrc::kTooManyDevices;
    expect_row(error, udp::explain(error, many ? crowded : config));
  }
}

TEST(TransportsPage, QuotesUcma) {
  ucma::UcmaConfig nowhere;
  nowhere.library_directories = {"/no-such-directory"};
  for (int i = 1; i <= count_of<ucma::UcmaErrc>("unknown ucma error"); ++i) {
    const auto which = static_cast<ucma::UcmaErrc>(i);
    const error_code error = make_error_code(which);
    if (which == ucma::UcmaErrc::kTooOld) {
      expect_row(error, verbs::ibv::too_old("libibverbs.so.1", "FUNCTION@VERSION").sentence);
    } else {
      expect_row(error, ucma::explain(error, nowhere));
    }
  }
}

TEST(TransportsPage, QuotesRxe) {
  for (int i = 1; i <= count_of<rxe::RxeErrc>("unknown error of Soft-RoCE"); ++i) {
    const error_code error = make_error_code(static_cast<rxe::RxeErrc>(i));
    expect_row(error, rxe::explain(error, "rxe0", "eth0"));
  }
}

TEST(TransportsPage, QuotesTheSimulator) {
  const auto host = open("sim", {.seed = 1}).value();
  const OpenError other_seed = open("sim", {.seed = 2}).error();
  expect_row(other_seed.code, other_seed.sentence);
  std::thread([] {
    const OpenError other_thread = open("sim").error();
    expect_row(other_thread.code, other_thread.sentence);
  }).join();
  const OpenError real = open_real("sim", {}).error();
  expect_row(real.code, real.sentence);
}

/// The sentence about an unknown name ends with the names: "choose a, b or c."
TEST(TransportsPage, DescribesEveryTransport) {
  const std::string sentence = open("NAME").error().sentence;
  const std::string start = "There is no transport 'NAME': choose ";
  ASSERT_TRUE(sentence.starts_with(start));
  EXPECT_NE(page().find(start), std::string::npos);
  std::string names = sentence.substr(start.size());
  std::replace_if(
      names.begin(), names.end(), [](char c) { return c == ',' || c == '.'; }, ' ');
  std::istringstream words(names);
  for (std::string name; words >> name;) {
    if (name == "or") continue;
    EXPECT_NE(page().find("\n| `" + name + "` |"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace anyrdma::transport
