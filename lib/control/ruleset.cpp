// The public Ruleset: from text, file or image.
#include "nftjit/ruleset.h"

#include <fstream>
#include <iterator>
#include <string>

#include "lib/control/frontend.h"
#include "lib/environment/host.h"
#include "lib/netlink/image.h"
#include "lib/nft/ruleset.h"

namespace nftjit {
namespace {

// The front end's options with what they point to.
struct Prepared {
  Host host;
  control::NftOptions options;
};

absl::StatusOr<Prepared> Prepare(const RulesetOptions& options) {
  Prepared prepared;
  if (!options.host_file.empty()) {
    absl::StatusOr<Host> host = Host::FromFile(options.host_file);
    if (!host.ok()) return host.status();
    prepared.host = *std::move(host);
  }
  for (const RulesetOptions::NamedInterface& interface : options.interfaces) {
    prepared.options.interfaces.push_back({interface.name, interface.index});
  }
  prepared.options.dns = options.dns;
  prepared.options.locate_rules = options.locate_rules;
  prepared.options.arguments = options.nft_arguments;
  prepared.options.nft_program = options.nft_program;
  prepared.options.timeout = options.timeout;
  return prepared;
}

absl::StatusOr<Ruleset> Wrap(absl::StatusOr<nft::Ruleset> model) {
  if (!model.ok()) return model.status();
  return Ruleset(std::make_shared<const nft::Ruleset>(*std::move(model)));
}

// The bytes of a file that begins like an image; empty for every other file, and for one that cannot be read.
std::string ReadIfImage(const std::string& path) {
  constexpr size_t kEnough = 64;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kEnough, '\0');
  file.read(bytes.data(), kEnough);
  bytes.resize(static_cast<size_t>(file.gcount()));
  if (!netlink::LooksLikeImage(bytes)) return {};
  file.clear();
  file.seekg(0);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

absl::StatusOr<Ruleset> Ruleset::FromImage(const std::string& bytes) {
  return Wrap(netlink::ReadImage(bytes, "image"));
}

absl::StatusOr<Ruleset> Ruleset::FromFile(const std::string& path, const RulesetOptions& options) {
  if (path != "-") {
    if (const std::string image = ReadIfImage(path); !image.empty()) return Wrap(netlink::ReadImage(image, path));
  }
  absl::StatusOr<Prepared> prepared = Prepare(options);
  if (!prepared.ok()) return prepared.status();
  prepared->options.host = &prepared->host;
  return Wrap(control::CompileNftFile(path, prepared->options));
}

absl::StatusOr<Ruleset> Ruleset::FromText(const std::string& text, const RulesetOptions& options) {
  if (netlink::LooksLikeImage(text)) return FromImage(text);
  absl::StatusOr<Prepared> prepared = Prepare(options);
  if (!prepared.ok()) return prepared.status();
  prepared->options.host = &prepared->host;
  return Wrap(control::CompileNftText(text, prepared->options));
}

}  // namespace nftjit
