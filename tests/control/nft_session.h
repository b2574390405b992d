// Many nft commands through one process, each a transaction of its own, and what nft said of each.
#ifndef NFTJIT_TESTS_CONTROL_NFT_SESSION_H_
#define NFTJIT_TESTS_CONTROL_NFT_SESSION_H_

#include <absl/functional/function_ref.h>

#include <string>
#include <vector>

#include "lib/control/server.h"

namespace nftjit::control {

// The command line: `nft OPTIONS -i`, with all that it prints on standard output, line by line, and without a home to
// keep its history in, which it would read at every start.
std::vector<std::string> InteractiveNft(const std::string& options = "");

// Starts InteractiveNft() on `input` and returns what it printed.
using RunNft = absl::FunctionRef<std::string(const std::string& input)>;

// What nft said to each command: empty where it took it and had nothing to list. A command that makes nft crash says
// "crash: …"; the commands after it go to a new process.
std::vector<std::string> RunSession(const std::vector<std::string>& commands, RunNft run);

// The same against a server of ours, which keeps what the commands made.
std::vector<std::string> RunSession(const std::vector<std::string>& commands, Server& server,
                                    const std::string& options = "");
// The same against a fresh server and, at the same time, against the kernel in a namespace of its own.
struct Sessions {
  std::vector<std::string> server, kernel;
};
Sessions RunBothSessions(const std::vector<std::string>& commands, const std::string& options = "");

}  // namespace nftjit::control

#endif  // NFTJIT_TESTS_CONTROL_NFT_SESSION_H_
