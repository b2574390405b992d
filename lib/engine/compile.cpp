#include "lib/engine/compile.h"

#include <chrono>
#include <utility>

#include "lib/ir/lower.h"
#include "lib/ir/verifier.h"
#include "lib/support/source.h"

namespace nftjit {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// "fw.nft:31:3: rule 31 of inet fw input: nat is not supported by any engine"
std::string DescribeUnsupported(const ir::Program& program, const ir::UnsupportedRule& unsupported) {
  const ir::RuleInfo& rule = program.rules[unsupported.rule.index];
  const ir::Chain& chain = program.chains[rule.chain.index];
  std::string text = ToString(rule.where);
  if (!text.empty()) text += ": ";
  text += "rule " + std::to_string(rule.handle) + " of " + std::string(nft::Name(chain.family)) + ' ' + chain.table +
          ' ' + chain.name + ": " + unsupported.what + " is not supported by any engine";
  return text;
}

absl::Status RefuseUnsupported(const ir::Program& program, const std::vector<ir::UnsupportedRule>& unsupported) {
  std::string message;
  for (const ir::UnsupportedRule& rule : unsupported) {
    if (!message.empty()) message += '\n';
    message += DescribeUnsupported(program, rule);
  }
  return absl::UnimplementedError(message);
}

// The rules whose rows hold Op::kUnsupported.
std::vector<ir::UnsupportedRule> RulesWithUnsupportedRows(const ir::Program& program) {
  std::vector<ir::UnsupportedRule> found;
  for (const ir::Item& item : program.items) {
    if (item.kind != ir::ItemKind::kRule) continue;
    for (const ir::Row& row : program.RowsOf(item)) {
      if (row.op == ir::Op::kUnsupported) found.push_back({item.rule, 0, program.texts[row.a]});
    }
  }
  return found;
}

// Passes and engine. `data->lowered` is in place.
absl::StatusOr<std::shared_ptr<const Program>> Finish(std::unique_ptr<ProgramData> data, Clock::time_point start,
                                                      const CompileIrOptions& options) {
  const std::vector<ir::UnsupportedRule> refused = RulesWithUnsupportedRows(data->lowered);
  if (!refused.empty()) return RefuseUnsupported(data->lowered, refused);

  if (options.optimise) {
    const Clock::time_point before = Clock::now();
    data->optimised = data->lowered;
    if (absl::Status status = opt::Optimise(*data->optimised, options.passes, &data->passes); !status.ok()) {
      return status;
    }
    data->optimise_seconds = SecondsSince(before);
  }

  const Clock::time_point before = Clock::now();
  data->engine = options.engine;
  auto code = options.engine->Compile(data->program(), EngineOptions{.keep_code_map = options.keep_code_map});
  if (!code.ok()) return code.status();
  data->code = *std::move(code);
  data->plans = HookPlans(data->program(), *data->code);
  data->engine_seconds = SecondsSince(before);
  DescribeProgram(*data);
  data->compile_seconds = SecondsSince(start);
  return std::make_shared<const Program>(std::move(data));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Program>> CompileIr(ir::Program program, const CompileIrOptions& options) {
  const Clock::time_point start = Clock::now();
  if (absl::Status status = ir::Verify(program); !status.ok()) return status;
  auto data = std::make_unique<ProgramData>();
  data->lowered = std::move(program);
  return Finish(std::move(data), start, options);
}

absl::StatusOr<std::shared_ptr<const Program>> CompileModel(const nft::Ruleset& ruleset, const CompileOptions& options,
                                                            const opt::PassOptions& passes) {
  const Clock::time_point start = Clock::now();
  absl::StatusOr<ir::Program> lowered = ir::Lower(ruleset, ir::LowerOptions{.partial = options.partial});
  if (!lowered.ok()) return lowered.status();
  if (!options.partial && !lowered->unsupported.empty()) return RefuseUnsupported(*lowered, lowered->unsupported);
#ifndef NDEBUG
  if (absl::Status status = ir::Verify(*lowered); !status.ok()) return status;
#endif
  auto data = std::make_unique<ProgramData>();
  data->lowered = *std::move(lowered);
  data->lower_seconds = SecondsSince(start);
  return Finish(std::move(data), start,
                {.engine = options.engine,
                 .optimise = options.optimise,
                 .keep_code_map = options.keep_code_map,
                 .passes = passes});
}

}  // namespace nftjit
