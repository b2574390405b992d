#include "lib/control/listing.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include "lib/netlink/image.h"
#include "lib/nft/references.h"

namespace nftjit::control {
namespace {

std::string DefaultHook(nft::Family family) { return family == nft::Family::kNetdev ? "ingress" : "input"; }

// Gives names to what has none, and numbers to anonymous sets.
void NameThings(nft::Table& table, const std::string& hook) {
  absl::flat_hash_set<std::string> sets, chains;
  for (const nft::Set& set : table.sets) sets.insert(set.name);
  size_t number = 0;
  for (nft::Set& set : table.sets) {
    if (!set.name.ends_with("%d")) continue;
    const std::string stem = set.name.substr(0, set.name.size() - 2);
    do {
      set.name = absl::StrCat(stem, number++);
    } while (!sets.insert(set.name).second);
  }
  for (const nft::Chain& chain : table.chains) chains.insert(chain.name);
  for (nft::Chain& chain : table.chains) {
    if (!chain.name.empty()) continue;
    chain.name = hook.empty() ? DefaultHook(table.family) : hook;
    while (chains.contains(chain.name)) chain.name += '_';
  }
}

void NameTables(nft::Ruleset& ruleset) {
  absl::flat_hash_set<std::string> names;
  for (const nft::Table& table : ruleset.tables) names.insert(table.name);
  for (nft::Table& table : ruleset.tables) {
    if (!table.name.empty()) continue;
    table.name = "listing";
    while (names.contains(table.name)) table.name += '_';
  }
}

// The chains of one table: which are jumped to from where, and which reach a NAT statement.
class ChainGraph {
 public:
  explicit ChainGraph(const nft::Table& table) {
    absl::flat_hash_map<nft::Handle, const nft::Set*> sets;
    for (const nft::Set& set : table.sets) sets.emplace(set.handle, &set);
    for (const nft::Chain& chain : table.chains) {
      std::vector<nft::Handle>& targets = targets_[chain.handle];
      const auto add = [&](const nft::Reference& reference) {
        if (reference.kind == nft::ReferenceKind::kChain) targets.push_back(reference.handle);
      };
      for (const nft::Rule& rule : chain.rules) {
        for (const nft::Expression& expression : rule.expressions) {
          nft::ForEachReference(expression, [&](const nft::Reference& reference) {
            add(reference);
            if (reference.kind != nft::ReferenceKind::kSet) return;
            const auto set = sets.find(reference.handle);
            if (set == sets.end()) return;
            for (const nft::Element& element : set->second->elements) nft::ForEachReference(element, add);
          });
          const nft::ExpressionBody& body = expression.body;
          if (std::holds_alternative<nft::Nat>(body) || std::holds_alternative<nft::Masquerade>(body) ||
              std::holds_alternative<nft::Redirect>(body)) {
            translating_.insert(chain.handle);
          }
        }
      }
      for (const nft::Handle target : targets) jumped_to_.insert(target);
    }
  }

  [[nodiscard]] bool IsJumpedTo(nft::Handle chain) const { return jumped_to_.contains(chain); }
  [[nodiscard]] bool ReachesNat(nft::Handle chain) const {
    absl::flat_hash_set<nft::Handle> seen = {chain};
    std::vector<nft::Handle> open = {chain};
    while (!open.empty()) {
      const nft::Handle next = open.back();
      open.pop_back();
      if (translating_.contains(next)) return true;
      const auto targets = targets_.find(next);
      if (targets == targets_.end()) continue;
      for (const nft::Handle target : targets->second) {
        if (seen.insert(target).second) open.push_back(target);
      }
    }
    return false;
  }

 private:
  absl::flat_hash_map<nft::Handle, std::vector<nft::Handle>> targets_;
  absl::flat_hash_set<nft::Handle> jumped_to_, translating_;
};

absl::StatusOr<uint8_t> HookOf(const nft::Table& table, const nft::Chain& chain, const ListingContext& context) {
  if (!context.hook.empty()) {
    if (const auto hook = nft::HookFromName(table.family, context.hook)) return *hook;
    return absl::InvalidArgumentError(absl::StrCat(context.file_name, ": family ", std::string(Name(table.family)),
                                                   " of table ", table.name, " has no hook ", context.hook));
  }
  if (const auto hook = nft::HookFromName(table.family, absl::AsciiStrToLower(chain.name))) return *hook;
  return *nft::HookFromName(table.family, DefaultHook(table.family));
}

absl::Status AddBaseChains(nft::Table& table, const ListingContext& context, uint64_t& registration) {
  const ChainGraph graph(table);
  for (nft::Chain& chain : table.chains) {
    if (chain.base || chain.rules.empty() || graph.IsJumpedTo(chain.handle)) continue;
    const absl::StatusOr<uint8_t> hook = HookOf(table, chain, context);
    if (!hook.ok()) return hook.status();
    nft::BaseChain& base = chain.base.emplace();
    base.type = graph.ReachesNat(chain.handle) ? nft::ChainType::kNat : nft::ChainType::kFilter;
    base.hook = *hook;
    base.registration = ++registration;
    chain.flags |= nft::kChainBase;
  }
  return absl::OkStatus();
}

// What would not fit the attributes of a message, and so could not be checked as one. The kernel's own limits are
// lower.
class SizeCheck {
 public:
  explicit SizeCheck(const ListingContext& context) : context_(context) {}

  absl::Status Run(const nft::Ruleset& ruleset) {
    for (const nft::Table& table : ruleset.tables) {
      Name(table.name, {});
      for (const nft::Set& set : table.sets) {
        Name(set.name, {});
        for (const nft::Element& element : set.elements) Text(element.userdata, {});
      }
      for (const nft::Object& object : table.objects) CheckObject(object);
      for (const nft::Flowtable& flowtable : table.flowtables) {
        Name(flowtable.name, {});
        Devices(flowtable.devices);
      }
      for (const nft::Chain& chain : table.chains) {
        Name(chain.name, {});
        if (chain.base) Devices(chain.base->devices);
        for (const nft::Rule& rule : chain.rules) CheckRule(rule);
      }
    }
    return status_;
  }

 private:
  static constexpr size_t kMostBytes = 255;
  static constexpr size_t kMostDevices = 256;      // The kernel's own limit.
  static constexpr size_t kMostExpressions = 128;  // Likewise.
  static constexpr size_t kMostDynsetExpressions = 2;

  void Fail(const SourcePos& where, std::string_view what) {
    if (!status_.ok()) return;
    const SourcePos file{.file = context_.file_name};
    status_ = ErrorAt(where.file.empty() ? file : where, absl::StatusCode::kInvalidArgument, what);
  }
  void Text(const std::string& text, const SourcePos& where) {
    if (text.size() > kMostBytes)
      Fail(where, absl::StrCat("expected at most 255 bytes, found `", text.substr(0, 20), "…`"));
  }
  void Name(const std::string& name, const SourcePos& where) {
    Text(name, where);
    if (name.find('\0') != std::string::npos) Fail(where, "a name holds a zero byte");
  }
  void Devices(const std::vector<nft::Device>& devices) {
    if (devices.size() > kMostDevices) Fail({}, "expected at most 256 devices");
    for (const nft::Device& device : devices) Name(device.name, {});
  }
  void CheckObject(const nft::Object& object) {
    Name(object.name, {});
    if (const auto* helper = std::get_if<nft::CtHelperObject>(&object.body)) Name(helper->name, {});
    if (const auto* secmark = std::get_if<nft::SecmarkObject>(&object.body)) Name(secmark->context, {});
  }
  void CheckRule(const nft::Rule& rule) {
    Text(rule.userdata, rule.where);
    if (rule.expressions.size() > kMostExpressions) {
      Fail(rule.where, absl::StrCat("expected at most 128 expressions in a rule, found ", rule.expressions.size()));
    }
    for (const nft::Expression& expression : rule.expressions) {
      if (const auto* log = std::get_if<nft::Log>(&expression.body)) Name(log->prefix.value_or(""), rule.where);
      if (const auto* match = std::get_if<nft::CompatMatch>(&expression.body)) Name(match->name, rule.where);
      if (const auto* target = std::get_if<nft::CompatTarget>(&expression.body)) Name(target->name, rule.where);
      const auto* dynset = std::get_if<nft::Dynset>(&expression.body);
      if (dynset != nullptr && dynset->expressions.size() > kMostDynsetExpressions) {
        Fail(rule.where, "expected at most 2 expressions in a dynset");
      }
    }
  }

  const ListingContext& context_;
  absl::Status status_;
};

absl::Status LossError(const std::vector<nft::ListingLoss>& losses) {
  std::string what = losses.front().what;
  if (losses.size() > 1) absl::StrAppend(&what, " (and ", losses.size() - 1, " more such places)");
  return ErrorAt(losses.front().where, absl::StatusCode::kInvalidArgument,
                 absl::StrCat("what this means depends on something that the text lost: ", what,
                              " only where that is asked for (--assume-lost)"));
}

}  // namespace

absl::StatusOr<nft::Ruleset> CompileListing(std::string_view text, const ListingContext& context) {
  absl::StatusOr<nft::Listing> listing =
      nft::ParseListing(text, {.file_name = context.file_name, .family = context.family, .dialect = context.dialect});
  if (!listing.ok()) return listing.status();
  if (!context.assume_lost && !listing->losses.empty()) return LossError(listing->losses);
  nft::Ruleset& ruleset = listing->ruleset;
  if (ruleset.tables.empty()) return absl::InvalidArgumentError(context.file_name + ": the listing holds nothing");
  NameTables(ruleset);
  uint64_t registration = 0;
  for (const nft::Table& table : ruleset.tables) {
    for (const nft::Chain& chain : table.chains) {
      if (chain.base) registration = std::max(registration, chain.base->registration);
    }
  }
  for (nft::Table& table : ruleset.tables) {
    NameThings(table, context.hook);
    if (absl::Status status = AddBaseChains(table, context, registration); !status.ok()) return status;
  }
  if (absl::Status status = SizeCheck(context).Run(ruleset); !status.ok()) return status;
  return netlink::Normalise(ruleset, context.file_name);
}

}  // namespace nftjit::control
