#include "tools/devinfo.h"

#include <infiniband/verbs.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "tools/device_report.h"
#include "transport/open/environment.h"
#include "transport/open/real.h"
#include "verbs/provider.h"

namespace anyrdma::tools {
namespace {

using verbs::Provider;
using verbs::Result;

/// The firmware of a real device's board; ours have no folder in /sys.
std::string board_id_of(const ibv_device& device) {
  std::ifstream file(std::filesystem::path(device.ibdev_path) / "board_id");
  std::string line;
  std::getline(file, line);
  return line;
}

Result<ibv_device_attr_ex> query(Provider& provider, ibv_context* context) {
  ibv_device_attr_ex attr{};
  const auto* const extended =
      __extension__ verbs_get_ctx_op(context, query_device_ex);  // a GNU expression
  if (extended != nullptr && extended->query_device_ex(context, nullptr, &attr, sizeof attr) == 0) {
    return attr;
  }
  if (auto queried = provider.query_device(context, &attr.orig_attr); !queried) {
    return queried.error();
  }
  return attr;
}

Result<void> report_port(Provider& provider, ibv_context* context, std::uint8_t number) {
  ibv_port_attr port{};
  if (auto queried = provider.query_port(context, number, &port); !queried) return queried.error();
  print_port(number, port);
  for (std::uint32_t index = 0; index < static_cast<std::uint32_t>(port.gid_tbl_len); ++index) {
    if (const auto entry = provider.query_gid(context, number, index)) {
      print_gid(*entry, port.link_layer);
    }
  }
  std::printf("\n");
  return {};
}

Result<void> report(Provider& provider, ibv_device* device, ibv_context* context) {
  const auto attr = query(provider, context);
  if (!attr) return attr.error();
  print_device(*device, provider.device_guid(device), *attr, context->num_comp_vectors,
               board_id_of(*device));
  for (std::uint8_t port = 1; port <= attr->orig_attr.phys_port_cnt; ++port) {
    if (auto reported = report_port(provider, context, port); !reported) return reported.error();
  }
  return {};
}

Result<void> report(Provider& provider, ibv_device* device) {
  const auto context = provider.open_device(device);
  if (!context) return context.error();
  Result<void> reported = report(provider, device, *context);
  const Result<void> closed = provider.close_device(*context);
  return reported ? closed : reported;
}

Exit fail(const std::string& sentence) {
  std::fprintf(stderr, "anyrdma: %s\n", sentence.c_str());
  return Exit::kFailed;
}

}  // namespace

Exit devinfo(const Choice& choice) {
  if (!choose(choice)) return Exit::kUsage;
  auto options = transport::options_of_environment();
  if (!options) return fail(options.error().sentence);
  options->record = {};  // to look at a device is no run
  const auto opened = transport::open_real(transport::transport_of_environment(), *options);
  if (!opened) return fail(opened.error().sentence);
  transport::Transport& transport = (*opened)->transport();
  for (ibv_device* const device : transport.devices()) {
    if (auto reported = report(transport.provider_of(device), device); !reported) {
      return fail(std::string(device->name) +
                  " cannot be queried: " + std::strerror(reported.error().value()) + ".");
    }
  }
  return Exit::kOk;
}

}  // namespace anyrdma::tools
