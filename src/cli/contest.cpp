#include "src/cli/contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "src/cli/rating.hpp"

namespace steelyard::cli {
namespace {

std::string usual_label(const TrialConfig& config, int ranks) {
  const int workers = ranks - config.servers;
  if (config.mode == "ps") return fmt::format("ps {}+{}", config.servers, workers);
  return config.servers == 0 ? fmt::format("allreduce {}", workers)
                             : fmt::format("allreduce {} of {}", workers, ranks);
}

Expected<Contestant> contestant(const TrialRequest& request, const ModelSpec& model, std::size_t samples,
                                const mpi::Topology& topology, const std::optional<trace::Price>& price) {
  auto config = finish_config(request, model, samples, topology);
  if (!config) return config.error();
  const Roles roles = find_mode(config.value().mode).value()->roles(config.value(), topology.node_of_rank);
  Contestant made{usual_label(config.value(), topology.ranks()), config.value(),
                  warmup_of(request, config.value())};
  made.semantics = semantics_of(config.value(), static_cast<int>(roles.workers.size()), model.replay);
  made.resources = trace::resources_of(roles.servers, roles.workers, topology.node_of_rank, price);
  return made;
}

Ratio ratio(const Contest& contest, std::size_t a, std::size_t b, const std::string& basis) {
  const Contestant& first = contest.contestants[a];
  const Contestant& second = contest.contestants[b];
  Ratio made{first.label, second.label, basis, a, b, {}, {}, 0.95, false};
  made.difference = unlike_in(first.semantics, second.semantics);
  made.unlike = !made.difference.empty();
  return made;
}

/// Beside each ratio at equal ranks that by price, and beside each other that by nodes, where these say more.
void add_rates(Contest& contest) {
  std::erase_if(contest.ratios,
                [](const Ratio& one) { return one.basis == "nodes" || one.basis == "price"; });
  std::vector<Ratio> rates;
  for (const Ratio& one : contest.ratios) {
    const trace::Resources& a = contest.contestants[one.contestant_a].resources;
    const trace::Resources& b = contest.contestants[one.contestant_b].resources;
    const bool priced = one.basis == "ranks" && a.price && b.price;
    if (!priced && a.nodes == b.nodes) continue;
    Ratio rate = ratio(contest, one.contestant_a, one.contestant_b, priced ? "price" : "nodes");
    rate.scale = priced ? *b.price / *a.price : static_cast<double>(b.nodes) / a.nodes;
    rates.push_back(rate);
  }
  contest.ratios.insert(contest.ratios.end(), rates.begin(), rates.end());
}

/// The same pairs, by the time to the target.
std::vector<Ratio> by_time(std::vector<Ratio> ratios) {
  for (Ratio& one : ratios) {
    one.measure = Measure::time_to_target;
    one.unlike = false;
    one.difference.clear();
  }
  return ratios;
}

void replace_opponent(const Contest& contest, std::vector<Ratio>& ratios, const std::vector<bool>& gone) {
  std::erase_if(ratios, [&](const Ratio& one) {
    return gone[one.contestant_a] || (gone[one.contestant_b] && one.basis != "ranks");
  });
  const auto lost = std::ranges::find_if(ratios, [&](const Ratio& one) { return gone[one.contestant_b]; });
  if (lost == ratios.end()) return;
  const std::size_t opponent = lost->contestant_a;
  for (Ratio& one : ratios)
    if (gone[one.contestant_b]) one = ratio(contest, one.contestant_a, opponent, one.basis);
  std::erase_if(ratios, [](const Ratio& one) { return one.contestant_a == one.contestant_b; });
}

Expected<Contest> usual_contest(const Options& options, const ModelSpec& model, std::size_t samples,
                                const mpi::Topology& topology) {
  auto request = trial_request(options);
  if (!request) return request.error();
  const std::vector<int> servers = options.integers("servers");
  const auto price = parse_price(options.text("price"));
  if (!price) return price.error();
  Contest contest;
  const auto add = [&](const char* mode, int count) -> Status {
    request.value().config.mode = mode;
    request.value().config.servers = count;
    auto one = contestant(request.value(), model, samples, topology, price.value());
    if (!one) return one.error();
    contest.contestants.push_back(std::move(one).value());
    return success();
  };
  if (auto added = add("allreduce", 0); !added) return added.error();
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (std::count(servers.begin(), servers.end(), servers[i]) > 1)
      return Error{fmt::format("--servers {}: {} is there twice", options.text("servers"), servers[i])};
    if (auto added = add("ps", servers[i]); !added) return added.error();
    if (auto added = add("allreduce", servers[i]); !added) return added.error();
    const std::size_t ps = 1 + 2 * i;
    contest.ratios.push_back(ratio(contest, ps, 0, "ranks"));
    contest.ratios.push_back(ratio(contest, ps, ps + 1, "workers"));
  }
  return contest;
}

/// Options that hold for all trials of a run.
bool is_of_the_run(const std::string& name) {
  constexpr std::string_view kNames[] = {
      "trial",   "rounds",        "confirm-rounds", "results",         "name",
      "model",   "data",          "data-dir",       "compute",         "wait",
      "trace",   "seed",          "json",           "progress",        "flush-seconds",
      "dry-run", "trial-seconds", "evaluate-every", "target-accuracy", "price",
      "device"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

Expected<TrialRequest> parse_trial(Options options, const std::string& text) {
  std::istringstream words(text);
  std::string word;
  std::string mode = "ps";
  std::string servers;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "mode")
      mode = value;
    else if (is_of_the_run(name))
      return Error{fmt::format("--trial '{}': '{}' is the same for all trials; set it once, as an option",
                               text, name)};
    else if (auto set = options.set(name, value, Source::command_line); !set)
      return Error{fmt::format("--trial '{}': {}", text, set.error().message)};
    else if (name == "servers")
      servers = value;
    else if (name == "steps" || name == "epochs")  // The time is for those that say neither.
      (void)options.set("trial-seconds", options.text("trial-seconds"), Source::standard);
  }
  if (mode == "ps" && servers.empty()) servers = options.text("servers");
  auto request = trial_request(options);
  if (!request) return Error{fmt::format("--trial '{}': {}", text, request.error().message)};
  if (auto known = find_mode(mode); !known)
    return Error{fmt::format("--trial '{}': {}", text, known.error().message)};
  request.value().config.mode = mode;
  if (servers.find(',') != std::string::npos)
    return Error{fmt::format("--trial '{}': one number of servers per trial", text)};
  request.value().config.servers = servers.empty() ? 0 : std::stoi(servers);
  return request;
}

Expected<Contest> own_contest(const Options& options, const ModelSpec& model, std::size_t samples,
                              const mpi::Topology& topology) {
  Contest contest;
  const auto price = parse_price(options.text("price"));
  if (!price) return price.error();
  for (std::size_t i = 0; i < options.trials().size(); ++i) {
    const std::string& text = options.trials()[i];
    auto request = parse_trial(options, text);
    if (!request) return request.error();
    auto one = contestant(request.value(), model, samples, topology, price.value());
    if (!one) return Error{fmt::format("--trial '{}': {}", text, one.error().message)};
    // Two trials may be the same configuration, so a letter tells them apart.
    one.value().label = fmt::format("{}: {}", static_cast<char>('A' + i % 26), one.value().label);
    one.value().specification = text;
    contest.contestants.push_back(std::move(one).value());
    if (i > 0) contest.ratios.push_back(ratio(contest, i, 0, "ranks"));
  }
  return contest;
}

/// With one batch shared by unequal numbers of workers, "compute of a worker in a step" would favour the few.
Status check_shares(const Options& options, const Contest& contest) {
  bool unequal = false;
  bool open = false;
  for (const Contestant& one : contest.contestants) {
    unequal = unequal || one.config.servers != contest.contestants.front().config.servers;
    const Emulation& emulation = one.config.emulation;
    open = open || (emulation.samples == 0 && (emulation.compute_ms > 0.0 || !emulation.profile.empty()));
  }
  if (!unequal || !open || options.integer("batch-per-worker") > 0) return success();
  return Error{
      "contestants have different numbers of workers and so different shares of --batch: say for how many "
      "samples the emulated compute is, --compute-samples, or fix the share, --batch-per-worker"};
}

Expected<Contest> fair(const Options& options, Expected<Contest> contest) {
  if (!contest) return contest;
  if (auto good = check_shares(options, contest.value()); !good) return good.error();
  add_rates(contest.value());
  contest.value().target_accuracy = options.real("target-accuracy");
  if (contest.value().target_accuracy > 0.0) contest.value().target_ratios = by_time(contest.value().ratios);
  return contest;
}

}  // namespace

const std::vector<Ratio>& decisive_ratios(const Contest& contest) {
  const bool unlike = std::ranges::any_of(contest.ratios, &Ratio::unlike);
  return unlike && contest.target_accuracy > 0.0 ? contest.target_ratios : contest.ratios;
}

void leave_out(Contest& contest, const std::vector<bool>& gone) {
  replace_opponent(contest, contest.ratios, gone);
  add_rates(contest);
  if (contest.target_accuracy > 0.0) contest.target_ratios = by_time(contest.ratios);
}

Expected<Contest> make_contest(const Options& options, const ModelSpec& model, std::size_t samples,
                               const mpi::Topology& topology) {
  if (options.trials().empty()) return fair(options, usual_contest(options, model, samples, topology));
  if (options.trials().size() < 2 || options.trials().size() > 26)
    return Error{fmt::format("--trial was given {} time(s); a comparison has 2 to 26 contestants",
                             options.trials().size())};
  if (options.given("servers"))
    return Error{"--servers and --trial: with --trial each contestant says its own servers"};
  return fair(options, own_contest(options, model, samples, topology));
}

}  // namespace steelyard::cli
