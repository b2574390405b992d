// A ruleset as nf_tables would hold it after `nft -f`: the input of Compile().
#ifndef NFTJIT_RULESET_H_
#define NFTJIT_RULESET_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nftjit {

namespace nft {
struct Ruleset;
}

// What the text of a listing (`nft --debug=netlink`) leaves to its reader.
struct ListingOptions {
  // Where chains run that nothing jumps to and no line of the text declares: "input", "forward" … Empty: the hook that
  // the chain is named after, else ingress in netdev tables and input in all others.
  std::string hook;
  // Of rules without a header line; empty: "inet".
  std::string family;
  // "legacy" (nft up to 1.1.6) or "current"; empty: found out, an error where the text does not show it.
  std::string dialect;
  // Take what nft does usually where the text lost something that the meaning depends on. Otherwise that is an error.
  bool assume_lost = false;
  // For messages and the places of rules.
  std::string file_name = "listing";
};

struct RulesetOptions {
  struct NamedInterface {
    std::string name;
    uint32_t index = 0;  // 0: the lowest one that is free.
  };
  // Interfaces that exist. Those that the ruleset needs the index of (`iif`, `oif`) and that nobody gave are invented.
  std::vector<NamedInterface> interfaces;
  // A host file with more interfaces, and with users and groups; empty: none.
  std::string host_file;
  // Look host names in the ruleset up. Otherwise they are an error: what a ruleset means does not depend on the
  // network.
  bool dns = false;
  // Find out the file and line of each rule. Costs a second run of nft.
  bool locate_rules = true;
  // More arguments for nft: "--define=…", "--includepath", "DIRECTORY" …
  std::vector<std::string> nft_arguments;
  // Path of nft; empty: found in PATH, /usr/local/sbin, /usr/sbin, /sbin.
  std::string nft_program;
  // Of one run of nft, which is killed when it is over.
  std::chrono::milliseconds timeout{60'000};
  // If the text is a listing.
  ListingOptions listing;
};

// A handle on an immutable ruleset: copies are cheap and share it. Safe to use from several threads.
class Ruleset {
 public:
  // The stock nft program compiles the text, with our server in the place of the kernel: no privileges, nothing of the
  // machine's ruleset is read or changed. It runs as a child process, which is waited for: from any thread, but SIGCHLD
  // must not be ignored. "-" as `path` reads standard input. A file that begins like an image is one;
  // one with an expression in brackets at the beginning of a line is a listing.
  //
  // Errors: InvalidArgument with nft's own messages (and carets), unchanged; NotFound where the file, nft or its shim
  // is missing; FailedPrecondition for an nft that the shim cannot reach; DeadlineExceeded for one that hangs;
  // Internal for one that crashes.
  static absl::StatusOr<Ruleset> FromFile(const std::string& path, const RulesetOptions& options = {});
  static absl::StatusOr<Ruleset> FromText(const std::string& text, const RulesetOptions& options = {});
  // The bytes of an image (`nftjit compile`). Errors: InvalidArgument.
  static absl::StatusOr<Ruleset> FromImage(const std::string& bytes);
  // Bytecode as `nft --debug=netlink` prints it, of any version. Nothing is run. Errors: InvalidArgument with file,
  // line and column: no listing, one that means what the text does not tell, or one that the kernel would refuse.
  static absl::StatusOr<Ruleset> FromListing(const std::string& text, const ListingOptions& options = {});

  // For the library itself, whose headers say what it is.
  explicit Ruleset(std::shared_ptr<const nft::Ruleset> model) : model_(std::move(model)) {}
  [[nodiscard]] const nft::Ruleset& model() const { return *model_; }

 private:
  std::shared_ptr<const nft::Ruleset> model_;
};

}  // namespace nftjit

#endif  // NFTJIT_RULESET_H_
