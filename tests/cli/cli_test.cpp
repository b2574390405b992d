// The program as a user runs it: outputs, exit statuses, messages.
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "tests/cli/program.h"

namespace nftjit {
namespace {

using Json = nlohmann::json;

const std::string kServer = NFTJIT_SOURCE_DIR "/examples/rulesets/server.nft";
const std::string kRouter = NFTJIT_SOURCE_DIR "/examples/rulesets/router.nft";
const std::string kPrefixes = NFTJIT_SOURCE_DIR "/examples/rulesets/prefixes.nft";
const std::string kCapture = NFTJIT_SOURCE_DIR "/examples/captures/server.pcap";
// UDP 10.20.4.1 -> 192.0.2.250, port 161.
const std::string kMonitoring =
    "4500001c0001000040110000"
    "0a140401"
    "c00002fa"
    "040000a100080000";

std::vector<Json> Lines(const std::string& text) {
  std::vector<Json> objects;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) objects.push_back(Json::parse(line));
  return objects;
}

TEST_CASE("check says that the example rulesets run in full") {
  const Folder folder;
  for (const std::string& file : {kServer, kRouter, kPrefixes}) {
    const Outcome outcome = Run(folder, "check -f " + file);
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.find("every one runs") != std::string::npos);
  }
}

TEST_CASE("check and run name unsupported rules by file and line") {
  const Folder folder;
  const std::string file = folder.Write("nat.nft", R"(table ip t {
	chain c {
		type nat hook prerouting priority dstnat;
		tcp dport 80 dnat to 10.0.0.1
	}
	chain f {
		type filter hook input priority 0; policy drop;
		tcp dport 22 accept
		numgen inc mod 2 0 counter comment "half"
	}
}
)");
  Outcome outcome = Run(folder, "check -f " + file);
  CHECK(outcome.status == 3);
  CHECK(outcome.out.find(file + ":4") != std::string::npos);
  CHECK(outcome.out.find(file + ":9") != std::string::npos);
  CHECK(outcome.out.find("\"half\": numgen") != std::string::npos);
  CHECK(outcome.out.find("3 rules: 2 not supported") != std::string::npos);
  outcome = Run(folder, "check --json -f " + file);
  CHECK(outcome.status == 3);
  const std::vector<Json> objects = Lines(outcome.out);
  REQUIRE(objects.size() == 3);
  CHECK(objects[1]["line"] == 9);
  CHECK(objects[1]["table"] == "ip t");
  CHECK(objects[2]["unsupported"] == 2);

  outcome = Run(folder, "run -f " + file + " --hook input --hex " + kMonitoring);
  CHECK(outcome.status == 3);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find(file + ":9") != std::string::npos);
  outcome = Run(folder, "run --partial -f " + file + " --hook input --hex " + kMonitoring);
  CHECK(outcome.status == 0);
  CHECK(outcome.err.find("left out 2 rules") != std::string::npos);
  CHECK(outcome.out.find("1 input drop  ip t f policy") != std::string::npos);
}

TEST_CASE("run prints verdicts and counters as JSON, the same from every engine") {
  const Folder folder;
  std::string first;
  for (const char* flags : {"--engine reference --no-opt", "--engine reference", "--engine interp",
                            "--engine interp --no-opt", "--engine x86", "--engine x86 --no-opt"}) {
    std::string arguments = "run --json -f " + kServer;
    arguments.append(" -r ").append(kCapture).append(" --hook input --iif eth0 --ct-state new ").append(flags);
    const Outcome outcome = Run(folder, arguments);
    INFO(flags << '\n' << outcome.err);
    REQUIRE(outcome.status == 0);
    if (first.empty()) first = outcome.out;
    CHECK(outcome.out == first);
  }
  const std::vector<Json> objects = Lines(first);
  REQUIRE(objects.size() == 1001);
  CHECK(objects.back()["packets"] == 1000);
  uint64_t drops = 0, accepts = 0;
  for (size_t i = 0; i < 1000; ++i) {
    const Json& it = objects[i];
    CHECK(it["version"] == 1);
    CHECK(it["packet"] == i + 1);
    CHECK(it["hook"] == "input");
    (it["verdict"] == "accept" ? accepts : drops) += 1;
  }
  CHECK(drops > 100);
  CHECK(accepts > 100);
  // Every counted packet of a rule that ends the chain was decided by that rule.
  for (const Json& counter : objects.back()["counters"]) {
    if (counter["comment"] != "web") continue;
    const auto decided = std::count_if(objects.begin(), objects.end() - 1,
                                       [&](const Json& it) { return it["rule"] == counter["handle"]; });
    CHECK(counter["packets"] == decided);
    CHECK(counter["table"] == "inet fw");
    CHECK(counter["chain"] == "input");
  }
}

TEST_CASE("a summary has what each rule and policy decided") {
  const Folder folder;
  const std::string file = folder.Write("fw.nft", R"(table ip t {
	chain c {
		type filter hook input priority 0; policy accept;
		udp dport 162 accept comment "traps"
		udp dport 161 drop
	}
}
)");
  const auto packet = [](const char* port) {
    std::string hex = kMonitoring;
    return " --hex " + hex.replace(44, 4, port);
  };
  const Outcome outcome = Run(folder, "run --summary -f " + file + " --hook input" + packet("00a1") + packet("00a1") +
                                          packet("00a2") + packet("0035"));
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("4 packets: 2 accepted, 2 dropped\n"
                         "    accepted       dropped  decided by\n"
                         "           1             0  ip t c handle 2 \"traps\"\n"
                         "           0             2  ip t c handle 3\n"
                         "           1             0  ip t c policy\n") == 0);
}

TEST_CASE("run takes hex packets and names the rule") {
  const Folder folder;
  const Outcome outcome =
      Run(folder, "run -f " + kServer + " --hook input --iif eth0 --ct-state new --hex " + kMonitoring);
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("1 input accept  inet fw input handle") != std::string::npos);
  CHECK(outcome.out.find("\"monitoring\"\n") != std::string::npos);
}

TEST_CASE("run writes what was accepted") {
  const Folder folder;
  const std::string flags = " --hook input --iif eth0 --ct-state new --json ";
  const Outcome first = Run(folder, "run -f " + kServer + " -r " + kCapture + flags + "-w " + (folder / "kept.pcap"));
  REQUIRE(first.status == 0);
  const Outcome second = Run(folder, "run -f " + kServer + " -r " + (folder / "kept.pcap") + flags);
  REQUIRE(second.status == 0);
  const std::vector<Json> before = Lines(first.out), after = Lines(second.out);
  const auto accepted =
      std::count_if(before.begin(), before.end() - 1, [](const Json& it) { return it["verdict"] == "accept"; });
  CHECK(after.back()["packets"] == accepted);
}

TEST_CASE("what depends on bytes that a capture lacks is unknown") {
  const auto little = [](uint32_t value) { return std::string(reinterpret_cast<const char*>(&value), 4); };
  // UDP 10.20.4.1 -> 192.0.2.250, 28 bytes on the wire.
  const std::string whole = std::string("\x45\0\0\x1c\0\1\0\0\x40\x11\0\0\x0a\x14\4\1\xc0\0\2\xfa", 20) +
                            std::string("\4\0\0\xa1\0\x08\0\0", 8);
  std::string capture = little(0xa1b2c3d4) + little(4 << 16 | 2) + little(0) + little(0) + little(65535) + little(101);
  for (const uint32_t size : {28, 24, 20, 4}) {
    capture += little(1000) + little(0) + little(size) + little(28) + whole.substr(0, size);
  }
  const Folder folder;
  const std::string cut = folder.Write("cut.pcap", capture);
  const std::string file = folder.Write("fw.nft", R"(table ip t {
	chain c {
		type filter hook input priority 0; policy accept;
		counter comment "all"
		udp dport 53 ip saddr 10.99.0.0/16 accept
		udp dport 161 counter drop comment "port"
		meta length 28 counter comment "length"
	}
}
)");
  const std::string words = "run -f " + file + " -r " + cut + " --engine x86 ";
  Outcome outcome = Run(folder, words + "--hook input");
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  const std::string note = "note: 3 packets were captured short: the reference engine runs all";
  CHECK(outcome.err.find(note) != std::string::npos);
  CHECK(outcome.err.find(note) == outcome.err.rfind(note));
  CHECK(outcome.out.find("1 input drop  ip t c handle") == 0);
  CHECK(outcome.out.find("2 input drop  ip t c handle") != std::string::npos);
  CHECK(outcome.out.find("3 input unknown  ip t c handle") != std::string::npos);
  CHECK(outcome.out.find("4 input unknown  ip t c handle") != std::string::npos);

  outcome = Run(folder, words + "--hook input --json");
  const std::vector<Json> objects = Lines(outcome.out);
  REQUIRE(objects.size() == 5);
  CHECK(objects[1]["verdict"] == "drop");
  CHECK(objects[2]["verdict"] == "unknown");
  CHECK(objects[2]["comment"] == "port");  // The rule before certainly fails: it is another address.
  CHECK(objects[2]["rule"] == objects[1]["rule"]);
  CHECK(objects[3]["verdict"] == "unknown");
  CHECK(objects[3]["comment"].is_null());
  CHECK(objects[4]["unknown"] == 2);
  for (const Json& counter : objects[4]["counters"]) {
    CHECK(counter["packets"] == (counter["comment"] == "all" ? 3 : counter["comment"] == "port" ? 2 : 0));
  }

  outcome = Run(folder, words + "--hook input --summary -w " + (folder / "kept.pcap"));
  CHECK(outcome.out.find("4 packets: 0 accepted, 2 dropped, 2 unknown\n") == 0);
  CHECK(outcome.out.find("    accepted       dropped     unknown  decided by\n") != std::string::npos);

  // The way of a packet may be unknown, too.
  const std::string forward = folder.Write("forward.nft", R"(table ip t {
	chain c {
		type filter hook forward priority 0; policy accept;
	}
}
)");
  const std::string host = folder.Write("host", "interface lan\naddress 10.1.0.1/16 dev lan\nroute default dev lan\n");
  outcome = Run(folder, "run -f " + forward + " --host " + host + " -r " + cut);
  CHECK(outcome.out.find("3 forward accept  ip t c policy") != std::string::npos);
  CHECK(outcome.out.find("4 prerouting unknown  way not captured") != std::string::npos);
}

TEST_CASE("a packet's path follows the host file") {
  const Folder folder;
  const std::string host = folder.Write("host", R"(interface lan
interface wan
address 10.1.0.1/16 dev lan
address 198.51.100.1/24 dev wan
route default dev wan
)");
  const std::string to_us =
      "4500001c00010000401100000a0100020a010001"
      "0400003500080000";
  const std::string through =
      "4500001c00010000401100000a01000208080808"
      "0400003500080000";
  Outcome outcome = Run(folder, "run -f " + kRouter + " --hex " + to_us);
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("--hook NAME, or --host FILE") != std::string::npos);
  outcome = Run(folder, "run -f " + kRouter + " --host " + host + " --iif lan --hex " + to_us + " --hex " + through);
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("1 input accept  inet gate input") != std::string::npos);
  CHECK(outcome.out.find("2 forward accept  inet gate outbound") != std::string::npos);
}

TEST_CASE("an image runs as the text that it was compiled from") {
  const Folder folder;
  Outcome outcome = Run(folder, "compile -f " + kServer + " -o " + (folder / "fw.nfb"));
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const std::string flags = " -r " + kCapture + " --hook input --iif eth0 --ct-state new --json";
  CHECK(Run(folder, "run -f " + (folder / "fw.nfb") + flags).out == Run(folder, "run -f " + kServer + flags).out);
  CHECK(Run(folder, "check -f " + (folder / "fw.nfb")).status == 0);

  std::string image = folder.Read("fw.nfb");
  image[image.size() / 2] ^= 1;
  outcome = Run(folder, "run -f " + folder.Write("bad.nfb", image) + flags);
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("bad.nfb") != std::string::npos);
}

TEST_CASE("dump shows each stage") {
  const Folder folder;
  const auto dump = [&](const std::string& words) {
    const Outcome outcome = Run(folder, "dump " + words + " -f " + kPrefixes);
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    return outcome.out;
  };
  const std::string listing = dump("listing");
  CHECK(listing.find("  [ payload load 1b @ network header + 12 => reg 1 ]\n  [ cmp neq reg 1 0x0000000a ]\n") !=
        std::string::npos);
  const std::string optimised = dump("listing --opt");
  CHECK(optimised.find("  [ cmp neq reg 1 0x") != std::string::npos);
  CHECK(dump("ir").find("load network+12, 1") != std::string::npos);
  // One load of the field serves the three prefixes.
  const std::string opt = dump("opt");
  CHECK(opt.find("!= 0a") != std::string::npos);
  CHECK(opt.find("load network+12, 1") == std::string::npos);
  CHECK_FALSE(dump("asm").empty());
  CHECK_FALSE(Json::parse(dump("json"))["nftables"].empty());
  CHECK(Run(folder, "dump llvm -f " + kPrefixes).status == 3);
}

TEST_CASE("a pasted listing runs, is checked and dumped") {
  const Folder folder;
  const std::string post =
      "> iptables -A INPUT ! -s 10.0.0.0/10 -j DROP\n"
      ">   [ payload load 4b @ network header + 12 => reg 1 ]\n"
      ">   [ bitwise reg 1 = ( reg 1 & 0x0000c0ff ) ^ 0x00000000 ]\n"
      ">   [ cmp neq reg 1 0x0000000a ]\n>   [ counter pkts 0 bytes 0 ]\n>   [ immediate reg 0 drop ]\n";
  const std::string rule = post.substr(post.find('\n') + 1);
  const std::string place = " --family ip --hook forward --dialect legacy";
  // 10.20.4.1 is inside of 10.0.0.0/10; the other packet comes from 10.128.0.1.
  const std::string outside = "4500001c00010000401100000a800001c00002fa040000a100080000";
  Outcome outcome = Run(folder, "run -f -" + place + " --hex " + kMonitoring + " --hex " + outside, rule);
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.out, Catch::Contains("1 forward accept") && Catch::Contains("2 forward drop"));
  outcome = Run(folder, "check -f -" + place, rule);
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "1 rules: every one runs\n");
  outcome = Run(folder, "dump listing --as current --declarations -f -" + place, rule);
  CHECK(outcome.out ==
        "table listing ip flags 0 use 0 handle 1\n"
        "ip listing forward use 0 type filter hook forward prio 0 policy accept packets 0 bytes 0\n"
        "ip listing forward\n"
        "  [ payload load 4b @ network header + 12 => reg 1 ]\n"
        "  [ bitwise reg 1 = ( reg 1 & 0xffc00000 ) ^ 0x00000000 ]\n"
        "  [ cmp neq reg 1 0x0a000000 ]\n  [ counter pkts 0 bytes 0 ]\n  [ immediate reg 0 drop ]\n");
  // What was printed says all of this itself.
  const std::string printed = folder.Write("printed", outcome.out);
  outcome = Run(folder, "run --dialect current -f " + printed + " --hook forward --hex " + outside);
  CHECK_THAT(outcome.out, Catch::Contains("1 forward drop"));
  // Without a dialect the text is refused, and so is prose, each at its place.
  outcome = Run(folder, "check -f " + folder.Write("post", rule));
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains((folder / "post") + ":1:") && Catch::Contains("--dialect"));
  outcome = Run(folder, "check --dialect legacy -f " + folder.Write("post", post));
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains((folder / "post") + ":1:3: expected a rule's header"));
}

TEST_CASE("bench prints a line of figures per engine") {
  const Folder folder;
  const Outcome outcome =
      Run(folder, "bench --json --slices 30 --hook input --iif eth0 --ct-state new -f " + kServer + " -r " + kCapture);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const std::vector<Json> objects = Lines(outcome.out);
  REQUIRE(objects.size() == 3);
  for (const Json& it : objects) {
    CHECK(it["ns_per_packet_min"] > 0);
    CHECK(it["ns_per_packet_median"] >= it["ns_per_packet_min"]);
    CHECK(it["packets"] == 1000);
  }
  CHECK(objects[2]["engine"] == "x86");
  CHECK(objects[2]["code_bytes"] > 0);
}

TEST_CASE("bench makes traffic that misses, hits or does both") {
  const Folder folder;
  const std::string words = "bench --json --slices 30 --engine x86 --traffic ";
  const std::string server = " --hook input --iif eth0 --ct-state new -f " + kServer;
  for (const std::string& arguments : {"miss --hook prerouting -f " + kPrefixes, "hit" + server, "mixed" + server}) {
    const Outcome outcome = Run(folder, words + arguments);
    INFO(arguments << outcome.err);
    CHECK(outcome.status == 0);
    for (const Json& it : Lines(outcome.out)) CHECK(it["packets"] >= 65536);
  }
  // No rule of it has a verdict.
  const Outcome outcome = Run(folder, words + "hit --hook prerouting -f " + kPrefixes);
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains("too few distinct packets that a rule decides: 0 in"));
  CHECK(Run(folder, words + "some --hook prerouting -f " + kPrefixes).status == 2);
}

TEST_CASE("bad input is an error with its place and status 2, and nothing is printed") {
  const Folder folder;
  const auto message = [&](const std::string& words, const std::string& input = "") {
    const Outcome outcome = Run(folder, words, input);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  const std::string bad = folder.Write("bad.nft", "table ip t {\n\tchain c {\n\t\ttcp dprot 22 accept\n\t}\n}\n");
  const std::string nft_error = message("check -f " + bad);
  CHECK(nft_error.find("bad.nft:3:") != std::string::npos);
  CHECK(nft_error.find('^') != std::string::npos);
  CHECK(message("check -f /nonexistent.nft").find("/nonexistent.nft") != std::string::npos);
  CHECK(message("run -f " + kServer).find("-r CAPTURE or --hex PACKET is expected") != std::string::npos);
  CHECK(message("run -f " + kServer + " --hook input -r " + bad).find("not a capture file") != std::string::npos);
  CHECK(message("run -f " + kServer + " --hook input --hex 4x").find("is not hex") != std::string::npos);
  CHECK(message("run -f " + kServer + " --hook nowhere --hex 45").find("--hook") != std::string::npos);
  CHECK(message("run -f " + kServer + " --hook input --engine fast --hex 45")
            .find("one of reference, interp, x86 is expected") != std::string::npos);
  CHECK(message("fly").find("fly") != std::string::npos);
  const std::string host = folder.Write("host", "address 10.0.0.1/8 dev nowhere\n");
  CHECK(message("check -f " + kServer + " --host " + host).find("host:1: device 'nowhere'") != std::string::npos);
}

TEST_CASE("a folder or a file that is not there, wherever a file is expected, is an error that names it") {
  const Folder folder;
  const std::string run = " --hook input --hex " + kMonitoring;
  for (const std::string& file : {folder / "", folder / "missing"}) {
    for (const std::string& arguments :
         {"check -f " + file, "run -f " + file + run, "run --host " + file + " -f " + kPrefixes + run,
          "run -f " + kPrefixes + " --hook input -r " + file, "exec --state " + (folder / "") + " -- true"}) {
      const Outcome outcome = Run(folder, arguments);
      INFO(arguments << '\n' << outcome.err);
      CHECK(outcome.status == 2);
      CHECK(outcome.out.empty());
      CHECK_THAT(outcome.err, Catch::Contains(folder / ""));
    }
  }
  const Outcome outcome = Run(folder, "check -f - <" + (folder / "") + " 2>" + (folder / "err") + " #");
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains("standard input: Is a directory"));
}

TEST_CASE("the version is told") {
  const Folder folder;
  const Outcome outcome = Run(folder, "--version");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.out, Catch::Matches("nftjit [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_CASE("a ruleset comes from standard input") {
  const Folder folder;
  const Outcome outcome = Run(folder, "check -f -", "table ip t {\n}\n");
  INFO(outcome.err);
  CHECK(outcome.status == 0);
}

TEST_CASE("the README's example is the one that is compiled, and runs") {
  const auto slurp = [](const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string readme = slurp(NFTJIT_SOURCE_DIR "/README.md");
  const size_t start = readme.find("```cpp\n") + 7, end = readme.find("```", start);
  REQUIRE(end != std::string::npos);
  CHECK(slurp(NFTJIT_SOURCE_DIR "/examples/first.cpp").find(readme.substr(start, end - start)) != std::string::npos);

  const Folder folder;
  const std::string file = folder.Write("fw.nft",
                                        "table ip t { chain c { type filter hook input priority 0; policy drop; "
                                        "udp dport 161 ip saddr 10.20.0.0/16 accept; }; }\n");
  const std::string command = NFTJIT_BINARY_DIR "/examples/nftjit_example_first " + file + " >" + (folder / "out");
  CHECK(std::system(command.c_str()) == 0);
  CHECK(folder.Read("out") == "accept\n");
}

}  // namespace
}  // namespace nftjit
