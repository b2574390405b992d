// Answers GET messages from a state: one thing, or a dump closed by DONE.
#ifndef NFTJIT_LIB_CONTROL_DUMP_H_
#define NFTJIT_LIB_CONTROL_DUMP_H_

#include <string>
#include <vector>

#include "lib/control/message.h"
#include "lib/control/reset.h"
#include "lib/control/state.h"
#include "lib/control/transaction.h"

namespace nftjit::control {

// Whether the message is a GET of nf_tables.
bool IsGet(const Message& message);

// The datagrams that answer a GET, an acknowledgement included if one is due. An error is one datagram. What they hold
// is added to `dumped`.
std::vector<std::string> AnswerGet(const State& state, const Message& request, std::vector<Dumped>& dumped);
// Whether it is one of those GETs after which what they dumped is to be reset.
bool IsReset(const Message& message);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_DUMP_H_
