// The README's example, compiled and run by the tests.
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "nftjit/engine.h"

// Below: as in the README.
#include <nftjit/compile.h>
#include <nftjit/instance.h>
#include <nftjit/ruleset.h>

// Drops or keeps one raw IPv4 packet by the rules of fw.nft at the input hook.
absl::StatusOr<bool> Accepts(const char* file, std::span<uint8_t> bytes) {
  absl::StatusOr<nftjit::Ruleset> ruleset = nftjit::Ruleset::FromFile(file);
  if (!ruleset.ok()) return ruleset.status();
  auto program = nftjit::Compile(*ruleset, {.engine = &nftjit::X86Engine()});
  if (!program.ok()) return program.status();
  nftjit::Instance instance(*program);
  nftjit::Worker worker = instance.NewWorker();  // One per thread.
  nftjit::Packet packet;
  packet.data = bytes.data();
  packet.length = static_cast<uint32_t>(bytes.size());
  return worker.Run({nftjit::Family::kIp, nftjit::Hook::kInput}, packet).verdict == nftjit::Verdict::kAccept;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s RULESET\n", argv[0]);
    return 2;
  }
  // UDP 10.20.4.1:1024 -> 192.0.2.250:161.
  std::vector<uint8_t> packet = {0x45, 0, 0,   28, 0, 1,   0, 0, 64, 17,  0, 0, 10, 20,
                                 4,    1, 192, 0,  2, 250, 4, 0, 0,  161, 0, 8, 0,  0};
  const absl::StatusOr<bool> accepted = Accepts(argv[1], packet);
  if (!accepted.ok()) {
    std::fprintf(stderr, "%s\n", std::string(accepted.status().message()).c_str());
    return 2;
  }
  std::puts(*accepted ? "accept" : "drop");
  return 0;
}
