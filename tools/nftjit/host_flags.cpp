#include "tools/nftjit/host_flags.h"

#include <CLI/CLI.hpp>
#include <charconv>

namespace nftjit::cli {

void HostFlags::AddTo(CLI::App& parser) {
  parser.add_option("--iface", interfaces, "An interface that exists: NAME or NAME=INDEX; repeatable");
  parser.add_option("--host", host_file, "Host file: interfaces, addresses, routes, users, groups");
  parser.add_flag("--dns", resolve_names, "Let nft look host names up");
}

absl::StatusOr<Host> HostFlags::LoadHost(const std::vector<nft::Interface>& known) const {
  absl::StatusOr<Host> host = host_file.empty() ? absl::StatusOr<Host>(Host()) : Host::FromFile(host_file);
  if (!host.ok()) return host;
  for (const nft::Interface& interface : known) {
    if (const auto added = host->AddInterface(interface.name, interface.index); !added.ok()) return added.status();
  }
  for (const std::string& word : interfaces) {
    const size_t equals = word.find('=');
    uint32_t index = 0;
    if (equals != std::string::npos) {
      const char *first = word.data() + equals + 1, *last = word.data() + word.size();
      const auto [end, error] = std::from_chars(first, last, index);
      if (error != std::errc() || end != last || index == 0) {
        return absl::InvalidArgumentError("--iface " + word +
                                          ": NAME or NAME=INDEX, with an index above 0, is expected");
      }
    }
    if (const auto added = host->AddInterface(word.substr(0, equals), index); !added.ok()) {
      return absl::InvalidArgumentError("--iface " + word + ": " + std::string(added.status().message()));
    }
  }
  return host;
}

}  // namespace nftjit::cli
