#include "tests/bench/support/command_line.hpp"

#include <charconv>
#include <cstdio>
#include <sstream>
#include <string>

#include "src/mpi/wait.hpp"

namespace steelyard::bench {
namespace {

constexpr int kMostRounds = 1000;

bool parse_rounds(std::string_view text, int& rounds) {
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, rounds);
  return code == std::errc() && rest == end && rounds >= 1 && rounds <= kMostRounds;
}

Error wrong_rounds(std::string_view value) {
  return Error{"--rounds '" + std::string(value) + "': a number from " + std::to_string(kLeastRounds) +
               ", which a 95 % interval needs, to " + std::to_string(kMostRounds) + "; with --csv from 1"};
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  std::stringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  return names;
}

std::optional<Error> wrong_ranks(int ranks, int most_ranks) {
  if (ranks >= 2 && ranks <= most_ranks) return std::nullopt;
  const std::string allowed = most_ranks == 2 ? "2 ranks" : "2 to " + std::to_string(most_ranks) + " ranks";
  return Error{"this benchmark has " + std::to_string(ranks) + " ranks and needs " + allowed +
               "; start it with mpirun -n 2"};
}

}  // namespace

Expected<Options> parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick") {
      options.quick = true;
    } else if (argument == "--csv") {
      options.csv = true;
    } else if (argument == "--rounds" || argument == "--only") {
      const char* const value = i + 1 < argc ? argv[++i] : "";
      if (argument == "--only")
        options.only = split(value);
      else if (!parse_rounds(value, options.rounds))
        return wrong_rounds(value);
    } else {
      return Error{"unknown argument '" + std::string(argument) +
                   "'; known are --rounds N, --quick, --csv and --only NAME,NAME"};
    }
  }
  if (!options.csv && options.rounds < kLeastRounds) return wrong_rounds(std::to_string(options.rounds));
  return options;
}

bool accept(const mpi::Communicator& world, const Expected<Options>& options, int most_ranks) {
  std::optional<Error> mine = wrong_ranks(world.size(), most_ranks);
  if (!options) mine = options.error();
  const auto error = mpi::agree(world, mine);
  if (error && world.rank() == 0) std::fprintf(stderr, "steelyard bench: %s\n", error->message.c_str());
  mpi::barrier(world, mpi::Wait::sleep);
  return !error;
}

}  // namespace steelyard::bench
