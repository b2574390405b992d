// exec: stock nft against a server that lives for several commands, and the file that keeps it between calls.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace nftjit {
namespace {

using Json = nlohmann::json;

// A server in a file: each call is a process of its own.
class Server {
 public:
  explicit Server(const Folder& folder) : folder_(folder) {}
  [[nodiscard]] Outcome Nft(const std::string& arguments, const std::string& input = "") const {
    return Run(folder_, "exec --iface eth0=7 --state " + (folder_ / "state.nfb") + " -- nft " + arguments, input);
  }
  // What it printed; the test fails if the command does.
  std::string Does(const std::string& arguments, const std::string& input = "") const {
    const Outcome outcome = Nft(arguments, input);
    INFO(arguments << ": " << outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "");
    return outcome.out;
  }

 private:
  const Folder& folder_;
};

constexpr const char* kFilter = R"(table inet fw {
	set hosts {
		type ipv4_addr
		elements = { 192.0.2.1 }
	}
	counter seen {
		packets 5 bytes 600
	}
	chain in {
		type filter hook input priority filter; policy drop;
		tcp dport 22 accept
		tcp dport 80 counter packets 3 bytes 180 accept
		iif "eth0" ip saddr @hosts accept
	}
}
)";

TEST_CASE("several commands change one server, and the state file keeps it") {
  const Folder folder;
  const Server server(folder);
  CHECK(server.Does("-f -", kFilter) == "");
  std::string listing = server.Does("-a list ruleset");
  CHECK(listing.find("table inet fw { # handle 1") != std::string::npos);
  CHECK(listing.find("iif \"eth0\" ip saddr @hosts accept # handle 6") != std::string::npos);

  SECTION("insert … index, add … handle, replace") {
    server.Does("insert rule inet fw in index 1 tcp dport 81 drop");
    server.Does("add rule inet fw in handle 4 tcp dport 23 drop");
    server.Does("replace rule inet fw in handle 5 tcp dport 8080 accept");
    CHECK(server.Does("-a list chain inet fw in") == R"(table inet fw {
	chain in { # handle 1
		type filter hook input priority filter; policy drop;
		tcp dport 22 accept # handle 4
		tcp dport 23 drop # handle 8
		tcp dport 81 drop # handle 7
		tcp dport 8080 accept # handle 5
		iif "eth0" ip saddr @hosts accept # handle 6
	}
}
)");
  }
  SECTION("elements come, go and are found") {
    server.Does("add element inet fw hosts { 192.0.2.2, 192.0.2.9 }");
    server.Does("delete element inet fw hosts { 192.0.2.1 }");
    const std::string found = server.Does("get element inet fw hosts { 192.0.2.9 }");
    CHECK(found.find("elements = { 192.0.2.9 }") != std::string::npos);
    const Outcome missing = server.Nft("get element inet fw hosts { 192.0.2.1 }");
    CHECK(missing.status == 1);
    CHECK(missing.err.find("No such file or directory") != std::string::npos);
    CHECK(server.Nft("delete element inet fw hosts { 192.0.2.1 }").status == 1);
  }
  SECTION("handles are not given again, not even those of rules that are gone") {
    server.Does("delete rule inet fw in handle 6");
    server.Does("add rule inet fw in tcp dport 443 accept");
    CHECK(server.Does("-a list chain inet fw in").find("tcp dport 443 accept # handle 7") != std::string::npos);
    server.Does("delete table inet fw");
    server.Does("add table inet fw");
    CHECK(server.Does("-a list ruleset") == "table inet fw { # handle 2\n}\n");
  }
  SECTION("rename and flush") {
    server.Does("rename chain inet fw in entry");
    server.Does("flush chain inet fw entry");
    CHECK(server.Does("list chain inet fw entry") ==
          "table inet fw {\n\tchain entry {\n\t\ttype filter hook input priority filter; policy drop;\n\t}\n}\n");
    server.Does("flush set inet fw hosts");
    CHECK(server.Does("list set inet fw hosts") == "table inet fw {\n\tset hosts {\n\t\ttype ipv4_addr\n\t}\n}\n");
    server.Does("flush ruleset");
    CHECK(server.Does("list ruleset") == "");
  }
  SECTION("reset prints what was counted and begins again") {
    CHECK(server.Does("reset counter inet fw seen").find("packets 5 bytes 600") != std::string::npos);
    CHECK(server.Does("list counters").find("packets 0 bytes 0") != std::string::npos);
    CHECK(server.Does("list chain inet fw in").find("counter packets 3 bytes 180") != std::string::npos);
  }
  SECTION("a check run changes nothing") {
    server.Does("-c add rule inet fw in tcp dport 443 accept");
    const Outcome refused = server.Nft("-c add rule inet fw nowhere tcp dport 443 accept");
    CHECK(refused.status == 1);
    CHECK(refused.err.find("add rule inet fw nowhere") != std::string::npos);
    CHECK(refused.err.find("^^^^^^^") != std::string::npos);
    CHECK(server.Does("-a list ruleset") == listing);
  }
  SECTION("echo prints what was made, with handles") {
    CHECK(server.Does("-e -a add rule inet fw in tcp dport 443 accept")
              .starts_with("add rule inet fw in tcp dport 443 accept # handle 7\n# new generation 3 by process "));
    const Json echoed = Json::parse(server.Does("-e -j -a -f -", R"({"nftables": [{"add": {"table": {"family": "ip",
        "name": "t"}}}]})"));
    CHECK(echoed["nftables"][0]["add"]["table"]["handle"] == 2);
  }
  SECTION("JSON in and out") {
    const Json ruleset = Json::parse(server.Does("-j list ruleset"));
    CHECK(ruleset["nftables"].size() == 8);
    server.Does("flush ruleset");
    server.Does("-j -f -", ruleset.dump());
    CHECK(Json::parse(server.Does("-j list ruleset"))["nftables"].size() == 8);
  }
  SECTION("a refused batch is refused as a whole, and what was before stays") {
    const Outcome refused = server.Nft("-f -", "add table ip t\nadd rule ip t nowhere accept\n");
    CHECK(refused.status == 1);
    CHECK(server.Does("-a list ruleset") == listing);
  }
}

TEST_CASE("the optimiser of nft merges rules before they come to the server") {
  const Folder folder;
  const Server server(folder);
  const std::string rules = "table ip t {\nchain c {\ntcp dport 22 accept\ntcp dport 80 accept\n}\n}\n";
  CHECK(server.Nft("-c -o -f -", rules).out.find("tcp dport { 22, 80 } accept") != std::string::npos);
  CHECK(server.Does("list ruleset") == "");
  CHECK(server.Nft("-o -f -", rules).status == 0);
  CHECK(server.Does("list ruleset").find("tcp dport { 22, 80 } accept") != std::string::npos);
}

TEST_CASE("a shell line runs several clients against one server, which is gone afterwards") {
  const Folder folder;
  const std::string line = "'nft add table ip t && nft list tables; echo $0; exit 5'";
  Outcome outcome = Run(folder, "exec -- " + line);
  CHECK(outcome.out == "table ip t\n/bin/sh\n");
  CHECK(outcome.status == 5);
  outcome = Run(folder, "exec nft list ruleset");
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "");
  // Standard input is the caller's.
  CHECK(Run(folder, "exec -- 'nft -f - && nft list ruleset'", "add table arp a\n").out == "table arp a {\n}\n");
}

TEST_CASE("exec ends as its command does") {
  const Folder folder;
  CHECK(Run(folder, "exec -- 'kill -9 $$'").status == 137);
  Outcome outcome = Run(folder, "exec no-such-program");
  CHECK(outcome.status == 2);
  CHECK(outcome.err == "nftjit: no-such-program: no such program in PATH, /usr/sbin or /sbin\n");
  CHECK(Run(folder, "exec").status == 2);
  outcome = Run(folder, "exec -- nft monitor");
  CHECK(outcome.status == 125);
  CHECK(outcome.err.find("asks to be told of changes") != std::string::npos);
}

TEST_CASE("interfaces of earlier calls stay, with their index") {
  const Folder folder;
  const std::string exec = "exec --state " + (folder / "s.nfb");
  const std::string more = " -- 'nft add table ip t; nft add chain ip t c; nft add rule ip t c iif eth1 accept'";
  CHECK(Run(folder, exec + " --iface eth0" + more).status == 1);  // No eth1.
  CHECK(Run(folder, exec + " --iface eth1" + more).status == 0);
  CHECK(Run(folder, exec + " -- nft list chain ip t c").out.find("iif \"eth1\" accept") != std::string::npos);
}

TEST_CASE("a state that is no image is an error, and the file is kept") {
  const Folder folder;
  const Server server(folder);
  server.Does("-f -", kFilter);
  std::string image = folder.Read("state.nfb");
  for (const std::string& damaged : {std::string(), std::string("add table ip t\n"), image.substr(0, image.size() / 2),
                                     image.substr(0, 50) + "?" + image.substr(51)}) {
    folder.Write("state.nfb", damaged);
    const Outcome outcome = server.Nft("add table ip new");
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find("state.nfb: offset ") != std::string::npos);
    CHECK(folder.Read("state.nfb") == damaged);
  }
  const Outcome unwritable = Run(folder, "exec --state /proc/nftjit.nfb nft add table ip t");
  CHECK(unwritable.status == 2);
  CHECK(unwritable.err.find("/proc/nftjit.nfb: could not be written") != std::string::npos);
}

TEST_CASE("commands with one state file wait for each other") {
  const Folder folder;
  const std::string exec = kProgram + " exec --state " + (folder / "state.nfb") + " nft ";
  REQUIRE(std::system((exec + "add table ip t0").c_str()) == 0);
  std::string all;
  for (int i = 1; i <= 6; ++i) all += exec + "add table ip t" + std::to_string(i) + " & ";
  REQUIRE(std::system((all + "wait").c_str()) == 0);
  const std::string tables = Run(folder, "exec --state " + (folder / "state.nfb") + " nft list tables").out;
  CHECK(std::count(tables.begin(), tables.end(), '\n') == 7);
}

TEST_CASE("a command that changes nothing leaves the file alone") {
  const Folder folder;
  const Server server(folder);
  server.Does("add table ip t");
  const auto before = std::filesystem::last_write_time(folder / "state.nfb");
  server.Does("list ruleset");
  CHECK(std::filesystem::last_write_time(folder / "state.nfb") == before);
  std::filesystem::remove(folder / "state.nfb");
  server.Does("list ruleset");
  CHECK(std::filesystem::exists(folder / "state.nfb"));
}

}  // namespace
}  // namespace nftjit
