// The flags that say which packets, at which hooks, with which facts.
#ifndef NFTJIT_TOOLS_NFTJIT_PACKET_OPTIONS_H_
#define NFTJIT_TOOLS_NFTJIT_PACKET_OPTIONS_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/environment/host.h"
#include "nftjit/engine.h"
#include "nftjit/packet.h"
#include "nftjit/worker.h"
#include "tools/capture/capture.h"

namespace CLI {
class App;
}

namespace nftjit::cli {

struct PacketOptions {
  std::string capture_file;
  std::vector<std::string> hex;
  uint64_t count = 0;
  std::string hook, family, iif, oif, ct_state;
  uint32_t mark = 0;

  void AddTo(CLI::App& parser);

  [[nodiscard]] bool given() const { return !capture_file.empty() || !hex.empty(); }
  // The capture, then the packets of --hex; at most `count` if that is not 0.
  absl::StatusOr<Capture> LoadPackets() const;
};

// What is the same for all packets of a call.
struct Facts {
  const Interface* iif = nullptr;
  const Interface* oif = nullptr;
  std::optional<Conntrack> ct;
  uint32_t mark = 0;

  // Errors: InvalidArgument for a conntrack state that does not exist. Interfaces that the host lacks are added to it.
  static absl::StatusOr<Facts> From(const PacketOptions& options, Host& host);
  // The pointers in `packet` stay valid as long as this object and the host.
  void ApplyTo(Packet& packet) const;
};

struct EngineFlags {
  std::string engine = "x86";
  bool no_optimise = false;
  bool partial = false;

  void AddTo(CLI::App& parser);
  // Errors: InvalidArgument naming the engines that there are.
  absl::StatusOr<const EngineInterface*> Find() const;
};
// Name and engine, in the order in which tables list them.
std::vector<const EngineInterface*> AllEngines();

std::optional<Hook> HookByName(std::string_view name);
std::string_view HookText(Hook hook);
std::optional<Family> FamilyByName(std::string_view name);
std::string_view FamilyText(Family family);

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_PACKET_OPTIONS_H_
