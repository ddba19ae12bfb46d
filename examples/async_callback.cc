// Callbacks: each side is an object that is called for every event. In the simulator; on a device
// the same code runs with the channel of that transport and an io_context as the executor.
#include <boost/system/error_code.hpp>
#include <cstdio>
#include <memory>
#include <utility>

#include "cm/asio/async_get.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/world.h"
#include "transport/event_name.h"

namespace {

using namespace anyrdma;
using namespace std::chrono_literals;

class Side {
 public:
  explicit Side(sim::Host& host)
      : host_(host), channel_(cm::EventChannel::create(host.transport()).value()) {
    get_next();
  }

  void listen(std::uint16_t port) {
    listener_ = cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value();
    const sockaddr_storage local = host_.address(port).to_sockaddr();
    listener_->bind(reinterpret_cast<const sockaddr*>(&local)).value();
    listener_->listen(1).value();
  }
  void connect(const sim::Address& peer) {
    id_ = cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value();
    const sockaddr_storage remote = peer.to_sockaddr();
    id_->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&remote), 2s).value();
  }
  [[nodiscard]] bool established() const { return established_; }
  [[nodiscard]] bool parted() const { return parted_; }
  void part() { id_->disconnect().value(); }

 private:
  void get_next() {
    channel_->async_get([this](boost::system::error_code error, cm::Event event) {
      if (error) return;
      on_event(event);
      get_next();
    });
  }

  void on_event(cm::Event& event) {
    std::printf("%s: %s\n", host_.name().c_str(), transport::event_name(event.type()));
    switch (event.type()) {
      case RDMA_CM_EVENT_ADDR_RESOLVED:
        return id_->resolve_route(2s).value();
      case RDMA_CM_EVENT_ROUTE_RESOLVED:
        return id_->connect(&param_).value();
      case RDMA_CM_EVENT_CONNECT_REQUEST:
        id_ = event.take_request();
        return id_->accept(&param_).value();
      case RDMA_CM_EVENT_CONNECT_RESPONSE:  // without a QP, the last step is ours
        established_ = true;
        return id_->establish().value();
      case RDMA_CM_EVENT_ESTABLISHED:
        established_ = true;
        return;
      case RDMA_CM_EVENT_DISCONNECTED:
        parted_ = true;
        return (void)id_->disconnect().has_value();  // answers, if it was the peer who parted
      default:
        return;
    }
  }

  sim::Host& host_;
  const rdma_conn_param param_{};
  std::unique_ptr<cm::EventChannel> channel_;
  std::unique_ptr<cm::Id> listener_;
  std::unique_ptr<cm::Id> id_;
  bool established_ = false;
  bool parted_ = false;
};

}  // namespace

int main() {
  sim::World world(1);
  sim::Host& server_host = world.add_host("server", {"192.0.2.1"});
  Side server(server_host);
  Side client(world.add_host("client", {"192.0.2.2"}));
  server.listen(7471);
  client.connect(server_host.address(7471));
  if (!world.run() || !client.established() || !server.established()) return 1;
  client.part();
  return world.run() && client.parted() && server.parted() ? 0 : 1;
}
