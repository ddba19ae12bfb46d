// Messages that get lost. The CM repeats them after some four seconds. The lower bounds are far
// below that, because a busy machine may begin to wait seconds later.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(loss, of_a_request, .needs = {Ability::kLoss}) {
  server.listening();
  stage.lose(client, Message::kReq);
  client.connecting();
  server.take_request({.at_least = 1s, .at_most = 30s});
}

SCENARIO(loss, of_a_reply, .needs = {Ability::kLoss}) {
  const Connection pair = stage.request();
  stage.lose(server, Message::kRep);
  pair.passive.accept(kNoParam);
  client.take({.at_least = 1s, .at_most = 30s});
  server.take();
}

SCENARIO(loss, of_the_word_that_all_is_ready, .needs = {Ability::kLoss}) {
  const Connection pair = stage.request();
  stage.lose(client, Message::kRtu);
  pair.passive.accept(kNoParam);
  client.take();
  server.take({.at_least = 1s, .at_most = 30s});
}

SCENARIO(loss, of_every_word_that_all_is_ready, .facts = {12}, .needs = {Ability::kLoss},
         .slow = true) {
  const Connection pair = stage.request();
  stage.lose(client, Message::kRtu, 0);
  pair.passive.accept(kNoParam);
  client.take();
  server.take({.at_least = 50s, .at_most = 140s});
}

SCENARIO(loss, of_a_rejection, .facts = {21}, .needs = {Ability::kLoss}) {
  const Connection pair = stage.request();
  stage.lose(server, Message::kRej);
  pair.passive.reject("first");
  Id& again = server.take_request({.at_least = 1s, .at_most = 30s});
  again.reject("second");
  client.take();
}

SCENARIO(loss, of_a_disconnect, .needs = {Ability::kLoss}) {
  const Connection pair = stage.connect();
  stage.lose(client, Message::kDreq);
  pair.active.disconnect();
  server.take({.at_least = 1s, .at_most = 30s});
  pair.passive.disconnect();
  client.take();
}

SCENARIO(loss, of_the_answer_to_a_disconnect, .facts = {29}, .needs = {Ability::kLoss},
         .slow = true) {
  const Connection pair = stage.connect();
  stage.lose(server, Message::kDrep);
  pair.active.disconnect();
  server.take();
  pair.passive.disconnect();
  client.take({.at_least = 60s, .at_most = 140s});
}

SCENARIO(loss, of_the_answer_to_a_disconnect_by_an_id_that_is_gone, .facts = {29},
         .needs = {Ability::kLoss}) {
  const Connection pair = stage.connect();
  stage.lose(server, Message::kDrep);
  pair.active.disconnect();
  server.take();
  pair.passive.destroy();
  client.take({.at_least = 1s, .at_most = 30s});
}

SCENARIO(loss, of_the_only_word_of_a_destroyed_id, .facts = {30}, .needs = {Ability::kLoss}) {
  const Connection pair = stage.connect();
  stage.lose(client, Message::kDreq);
  pair.active.destroy();
  server.quiet(10s);
}

SCENARIO(loss, of_a_question_for_a_service, .needs = {Ability::kLoss}) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  stage.lose(client, Message::kSidrReq);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  server.take_request({.at_least = 1s, .at_most = 30s});
}

SCENARIO(loss, of_the_answer_about_a_service, .facts = {53}, .needs = {Ability::kLoss}) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  stage.lose(server, Message::kSidrRep);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  Id& first = server.take_request();
  first.make_qp();
  first.accept();
  Id& second = server.take_request({.at_least = 1s, .at_most = 30s});
  second.make_qp();
  second.accept();
  client.take();
}

SCENARIO(loss, the_client_goes_without_having_seen_the_reply, .facts = {19},
         .needs = {Ability::kLoss}) {
  const Connection pair = stage.request();
  stage.lose(server, Message::kRep);
  pair.passive.accept(kNoParam);
  pair.active.destroy();
  server.take(pair.passive);
}

SCENARIO(loss, a_disconnect_overtakes_the_last_word, .facts = {11}, .needs = {Ability::kLoss}) {
  const Connection pair = stage.request();
  stage.lose(client, Message::kRtu);
  pair.passive.accept(kNoParam);
  client.take();
  pair.active.disconnect();
  server.take();
  pair.passive.disconnect();
  client.take();
}

}  // namespace anyrdma::conformance
