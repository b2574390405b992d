// Datagrams of a client into the server: it answers, and what it stores is a ruleset like any other.
#include "lib/control/server.h"
#include "tests/fuzz/model_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nftjit::control::Server server;
  server.Handle({data, size});
  nftjit::fuzz::CheckModel(server.ruleset());
  return 0;
}
