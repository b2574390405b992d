#include "lib/engine/compile.h"

#include <utility>

#include "lib/engine/compile_steps.h"
#include "lib/ir/verifier.h"
#include "lib/support/source.h"

namespace nftjit {
namespace {

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

}  // namespace

absl::Status RefuseUnsupported(const ir::Program& program, const std::vector<ir::UnsupportedRule>& unsupported) {
  std::string message;
  for (const ir::UnsupportedRule& rule : unsupported) {
    if (!message.empty()) message += '\n';
    message += DescribeUnsupported(program, rule);
  }
  return absl::UnimplementedError(message);
}

namespace {

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

}  // namespace

absl::StatusOr<std::shared_ptr<const Program>> FinishCompile(std::unique_ptr<ProgramData> data,
                                                             CompileClock::time_point start,
                                                             const CompileIrOptions& options) {
  const std::vector<ir::UnsupportedRule> refused = RulesWithUnsupportedRows(data->lowered);
  if (!refused.empty()) return RefuseUnsupported(data->lowered, refused);

  if (options.optimise) {
    const CompileClock::time_point before = CompileClock::now();
    data->optimised = data->lowered;
    if (absl::Status status = opt::Optimise(*data->optimised, options.passes, &data->passes); !status.ok()) {
      return status;
    }
    data->optimise_seconds = SecondsSince(before);
  }

  const CompileClock::time_point before = CompileClock::now();
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

absl::StatusOr<std::shared_ptr<const Program>> CompileIr(ir::Program program, const CompileIrOptions& options) {
  const CompileClock::time_point start = CompileClock::now();
  if (absl::Status status = ir::Verify(program); !status.ok()) return status;
  auto data = std::make_unique<ProgramData>();
  data->lowered = std::move(program);
  return FinishCompile(std::move(data), start, options);
}

}  // namespace nftjit
