// removal ADDRESS COMMAND: holds ids in every state on the device of ADDRESS, lets COMMAND take the
// device away, and prints what the connection manager it is started with tells of it, and answers
// then.
//
// Ids have names; what is told of them is printed by name, so the text is the same in every run.
// COMMAND may wait until the device is closed: it is waited for after the last id is gone.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kPatience = 30'000;  // milliseconds until an event counts as missing
constexpr int kResolveTimeout = 2'000;
constexpr std::uint16_t kPort = 7471;

sockaddr_in device_address{};  // port 0
rdma_event_channel* channel = nullptr;
std::map<std::string, std::vector<std::string>> told;  // by id
int removals = 0;

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

std::string result_text(int result) {
  return result == 0 ? "0" : strerrorname_np(errno);
}

struct Address {
  sockaddr_in storage = device_address;

  explicit Address(std::uint16_t port) { storage.sin_port = htons(port); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

int bind_to(rdma_cm_id* id, std::uint16_t port) {
  return rdma_bind_addr(id, Address(port).get());
}

int bind_to_all(rdma_cm_id* id) {
  Address wildcard(0);
  wildcard.storage.sin_addr = {};
  return rdma_bind_addr(id, wildcard.get());
}

rdma_cm_id* make(const char* name) {
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel, &id, const_cast<char*>(name), RDMA_PS_TCP) != 0)
    give_up("rdma_create_id");
  return id;
}

void await() {
  pollfd readable{channel->fd, POLLIN, 0};
  if (::poll(&readable, 1, kPatience) == 1) return;
  std::puts("no event");
  std::exit(1);
}

// Fetches and acknowledges one event; a request's id is given back with the name.
rdma_cm_id* take(const char* name_of_request = nullptr) {
  await();
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel, &event) != 0) give_up("rdma_get_cm_event");
  std::string text = rdma_event_str(event->event);
  if (event->status != 0) text += " " + std::to_string(event->status);
  text += event->id->verbs != nullptr ? ", with a device" : ", without a device";
  rdma_cm_id* request = nullptr;
  if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST && name_of_request != nullptr) {
    request = event->id;
    request->context = const_cast<char*>(name_of_request);
  } else if (event->event != RDMA_CM_EVENT_DISCONNECTED) {
    told[static_cast<const char*>(event->id->context)].push_back(text);
  }
  if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) ++removals;
  rdma_ack_cm_event(event);
  return request;
}

rdma_conn_param parameters(std::uint32_t qp_num) {
  rdma_conn_param param{};
  param.retry_count = param.rnr_retry_count = 7;
  param.qp_num = qp_num;
  return param;
}

void resolve_addr(rdma_cm_id* id) {
  if (rdma_resolve_addr(id, Address(0).get(), Address(kPort).get(), kResolveTimeout) != 0)
    give_up("rdma_resolve_addr");
}

void resolve_route(rdma_cm_id* id) {
  if (rdma_resolve_route(id, kResolveTimeout) != 0) give_up("rdma_resolve_route");
  (void)take();
}

struct Ids {
  rdma_cm_id* everywhere = make("a listener on all addresses");
  rdma_cm_id* listener = make("a listener of the device");
  rdma_cm_id* bound = make("a bound id");
  rdma_cm_id* resolved = make("an id with an address");
  rdma_cm_id* routed = make("an id with a route");
  rdma_cm_id* active = make("a connection's active id");
  rdma_cm_id* passive = nullptr;
  rdma_cm_id* unfetched = make("an id whose address is not fetched");

  Ids() {
    if (bind_to_all(everywhere) != 0 || rdma_listen(everywhere, 4) != 0) give_up("rdma_listen");
    if (bind_to(listener, kPort) != 0 || rdma_listen(listener, 4) != 0) give_up("rdma_listen");
    if (bind_to(bound, 0) != 0) give_up("rdma_bind_addr");
    resolve_addr(resolved);
    (void)take();
    for (rdma_cm_id* id : {routed, active}) {
      resolve_addr(id);
      (void)take();
      resolve_route(id);
    }
    connect();
    told.clear();
    resolve_addr(unfetched);
    await();
  }

  void connect() {
    rdma_conn_param param = parameters(4711);
    if (rdma_connect(active, &param) != 0) give_up("rdma_connect");
    passive = take("a connection's passive id");
    param = parameters(4712);
    if (passive == nullptr || rdma_accept(passive, &param) != 0) give_up("rdma_accept");
    (void)take();  // CONNECT_RESPONSE
    if (rdma_establish(active) != 0) give_up("rdma_establish");
    (void)take();  // ESTABLISHED
  }

  [[nodiscard]] std::vector<rdma_cm_id*> all() const {
    return {everywhere, listener, bound, resolved, routed, active, passive, unfetched};
  }
};

// Linux closes an id after it has told of the removal, and answers as before until it has.
void await_the_end_of(rdma_cm_id* id) {
  std::uint8_t tos = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience);
  while (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof tos) == 0 ||
         errno != ENXIO) {
    if (std::chrono::steady_clock::now() > deadline) give_up("rdma_set_option");
    (void)::poll(nullptr, 0, 1);
  }
}

void answers(const Ids& ids) {
  const auto said = [](rdma_cm_id* id, const char* call, int result) {
    std::printf("%s, %s: %s\n", static_cast<const char*>(id->context), call,
                result_text(result).c_str());
  };
  rdma_conn_param param = parameters(4711);
  said(ids.bound, "rdma_listen", rdma_listen(ids.bound, 4));
  said(ids.bound, "rdma_resolve_addr",
       rdma_resolve_addr(ids.bound, nullptr, Address(kPort).get(), kResolveTimeout));
  said(ids.resolved, "rdma_resolve_route", rdma_resolve_route(ids.resolved, kResolveTimeout));
  said(ids.routed, "rdma_connect", rdma_connect(ids.routed, &param));
  said(ids.active, "rdma_disconnect", rdma_disconnect(ids.active));
  said(ids.passive, "rdma_disconnect", rdma_disconnect(ids.passive));
  said(ids.passive, "rdma_reject", rdma_reject(ids.passive, nullptr, 0));
}

void take_away(const char* command) {
  const Ids ids;
  const pid_t process = ::fork();
  if (process < 0) give_up("fork");
  if (process == 0) {
    ::execl("/bin/sh", "sh", "-c", command, nullptr);
    ::_exit(127);
  }
  while (removals < 7) (void)take();  // all but the listener on all addresses
  for (const auto& [name, events] : told) {
    for (const std::string& each : events) std::printf("%s: %s\n", name.c_str(), each.c_str());
  }
  for (rdma_cm_id* id : ids.all()) {
    if (id != ids.everywhere) await_the_end_of(id);
  }
  answers(ids);
  for (rdma_cm_id* id : ids.all()) {
    const std::string name = static_cast<const char*>(id->context);
    const int result = rdma_destroy_id(id);
    std::printf("%s, rdma_destroy_id: %s\n", name.c_str(), result_text(result).c_str());
  }
}

void without_any_device() {
  const auto said = [](const char* call, int result) {
    std::printf("without any device, %s: %s\n", call, result_text(result).c_str());
  };
  rdma_event_channel* const another = rdma_create_event_channel();
  said("rdma_create_event_channel", another != nullptr ? 0 : -1);
  if (another != nullptr) rdma_destroy_event_channel(another);
  rdma_cm_id* id = make("a new id");
  said("rdma_bind_addr of an address", bind_to(id, 0));
  rdma_destroy_id(id);
  id = make("a new id");
  said("rdma_bind_addr of all addresses", bind_to_all(id));
  said("rdma_listen", rdma_listen(id, 4));
  rdma_destroy_id(id);
  id = make("a new id");
  said("rdma_resolve_addr", rdma_resolve_addr(id, nullptr, Address(kPort).get(), kResolveTimeout));
  (void)take();
  std::printf("without any device: %s\n", told["a new id"].back().c_str());
  rdma_destroy_id(id);
}

}  // namespace

int main(int count, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (count < 2 || count > 3 || inet_pton(AF_INET, arguments[1], &device_address.sin_addr) != 1) {
    std::fputs("usage: removal ADDRESS [COMMAND]\n", stderr);
    return 2;
  }
  device_address.sin_family = AF_INET;
  channel = rdma_create_event_channel();
  std::printf("rdma_create_event_channel: %s\n", result_text(channel != nullptr ? 0 : -1).c_str());
  if (channel == nullptr) return 0;
  if (count == 3) take_away(arguments[2]);
  without_any_device();
  rdma_destroy_event_channel(channel);
}
