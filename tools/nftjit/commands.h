// The verbs. Each adds its subcommand to the parser; the function it returns is called if the subcommand was chosen.
#ifndef NFTJIT_TOOLS_NFTJIT_COMMANDS_H_
#define NFTJIT_TOOLS_NFTJIT_COMMANDS_H_

#include <functional>

namespace CLI {
class App;
}

namespace nftjit::cli {

// What a verb does; returns the exit status.
using Action = std::function<int()>;

struct Command {
  CLI::App* parser;
  Action run;
};

Command AddCheck(CLI::App& app);
Command AddRun(CLI::App& app);
Command AddDump(CLI::App& app);
Command AddCompile(CLI::App& app);
Command AddBench(CLI::App& app);
Command AddExec(CLI::App& app);

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_COMMANDS_H_
