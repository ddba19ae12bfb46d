#include "verbs/channels.h"

#include <cerrno>

#include "base/ended_addresses.h"
#include "verbs/provider.h"

namespace anyrdma::verbs {
namespace {

constinit base::EndedAddresses ended_channels;

}  // namespace

Result<ibv_comp_channel*> create_channel(ibv_context* context) {
  const Result<ibv_comp_channel*> channel = provider_of(context).create_comp_channel(context);
  if (channel) ended_channels.remove(*channel);
  return channel;
}

Result<void> destroy_channel(ibv_comp_channel* channel) {
  if (ended_channels.has(channel)) return errno_code(EBADF);
  Provider& provider = provider_of(channel->context);
  ended_channels.add(channel);  // before its memory is free: another thread may be about to use it
  const Result<void> destroyed = provider.destroy_comp_channel(channel);
  if (!destroyed) ended_channels.remove(channel);
  return destroyed;
}

bool channel_has_ended(const ibv_comp_channel* channel) {
  return ended_channels.has(channel);
}

}  // namespace anyrdma::verbs
