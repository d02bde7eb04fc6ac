// Which trials are repeats of each other, which groups are compared, by which pairs and on which basis.
#include "src/cli/collection.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "src/cli/collection_report.hpp"

namespace steelyard::cli {
namespace {

using trace::text;

/// A trial of a run of its own.
struct Asked {
  std::string mode = "ps";
  int servers = 1, workers = 3;
  std::uint64_t seed = 0;
  double images_per_s = 100.0;
  std::int64_t batch = 48;
  std::map<std::string, std::string> options{};
  double target = 0.0, time_s = std::nan("");
  const char* status = "done";
  const char* model = "lenet";
  const char* folder = "results/sweep";
  int nodes = 1;
};

trace::RunTables tables_of(const Asked& asked, std::size_t number) {
  trace::RunTables tables;
  tables.command = "train";
  tables.model = asked.model;
  tables.data = "sample";
  tables.ranks = asked.servers + asked.workers;
  trace::TrialRow trial{};
  const bool ps = asked.mode == "ps";
  trial.mode = text<16>(asked.mode);
  trial.servers = ps ? asked.servers : 0;
  trial.workers = asked.workers;
  trial.batch = asked.batch;
  trial.steps = 10;
  trial.seed = asked.seed;
  trial.status = text<16>(asked.status);
  trial.wire = text<8>("fp32");
  const auto placement = asked.options.find("placement");
  trial.placement = text<64>(!ps ? "" : placement == asked.options.end() ? "striped" : placement->second);
  const auto found = asked.options.find("consistency");
  trial.consistency = text<16>(ps ? found == asked.options.end() ? "bsp" : found->second : "");
  tables.trials = {trial};
  std::string nodes;
  for (int rank = 0; rank < tables.ranks; ++rank) {
    const bool server = ps && rank < asked.servers;
    const bool idle = !ps && rank < asked.servers;
    tables.roles.push_back({0, rank, text<8>(server ? "server" : idle ? "idle" : "worker"), rank});
    nodes += (rank == 0 ? "" : ",") + std::to_string(rank % asked.nodes);
  }
  tables.manifest =
      R"({"start":")" + std::to_string(number) + R"(","hosts":["a","b","a"],"node_of_rank":[)" + nodes + "]}";
  trace::FinalRow final{};
  final.accuracy = std::nan("");
  final.target_accuracy = asked.target;
  final.time_to_target_s = asked.time_s;
  tables.final = {final};
  tables.summary = {{0, text<48>("throughput"), text<16>("all"), asked.images_per_s, asked.images_per_s,
                     asked.images_per_s, text<16>("images/s")}};
  return tables;
}

Collection collection(const std::vector<Asked>& trials, const std::optional<trace::Price>& price = {}) {
  Collection made;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    RunOptions options;
    options.values = {{"optimizer", "momentum"}, {"momentum", "0.9"}, {"lr", "0.02"}, {"epochs", "1"},
                      {"placement", "striped"},  {"seed", "7"},       {"name", "x"}};
    for (const auto& [name, value] : trials[i].options) options.values[name] = value;
    add_run({trials[i].folder + std::string("/") + std::to_string(i), tables_of(trials[i], i), true}, options,
            price, made);
  }
  group_trials(made);
  pair_groups(made);
  return made;
}

/// Seeds 0 to 6 of one configuration.
std::vector<Asked> repeats(Asked asked, double images_per_s) {
  std::vector<Asked> all;
  for (std::uint64_t seed = 0; seed < 7; ++seed) {
    asked.seed = seed;
    asked.images_per_s = images_per_s * (1.0 + 0.01 * static_cast<double>(seed));
    all.push_back(asked);
  }
  return all;
}

std::vector<Asked> both(std::vector<Asked> first, const std::vector<Asked>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

const Asked kPs{};
const Asked kAllreduce{.mode = "allreduce", .servers = 0, .workers = 4};

std::string ratios_text(const Collection& made) {
  std::string all;
  for (const GroupRatio& one : made.ratios)
    all += one.ratio.a + " / " + one.ratio.b + " by " + one.setting + " at " + one.ratio.basis +
           (one.ratio.measure == Measure::speed ? "" : " timed") + (one.ranked ? "" : " not ranked") + "; ";
  return all;
}

TEST(Groups, HoldTrialsThatDifferOnlyInTheirSeed) {
  const Collection made = collection(both(repeats(kPs, 100), repeats(kAllreduce, 50)));
  ASSERT_EQ(made.groups.size(), 2U);
  EXPECT_EQ(made.groups[0].name, "ps 1+3");
  EXPECT_EQ(made.groups[1].name, "allreduce 4");
  EXPECT_EQ(made.groups[0].trials.size(), 7U);
}

TEST(Groups, AreNamedByWhatIsNotTheSameInAll) {
  Asked greedy = kPs;
  greedy.options["placement"] = "greedy";
  const Collection made = collection({kPs, greedy, kAllreduce});
  ASSERT_EQ(made.groups.size(), 3U);
  EXPECT_EQ(made.groups[1].name, "ps 1+3 placement=greedy");
  EXPECT_EQ(made.groups[2].name, "allreduce 4") << "an allreduce has no placement";
  EXPECT_FALSE(made.trials[2].settings.contains("placement"));
}

TEST(Ratios, AreOfPairsWithTheSameSeed) {
  auto trials = both(repeats(kPs, 100), repeats(kAllreduce, 50));
  trials.erase(trials.begin());  // Seed 0 of ps is missing.
  const Collection made = collection(trials);
  EXPECT_EQ(ratios_text(made), "ps 1+3 / allreduce 4 by roles at ranks; ");
  EXPECT_EQ(made.ratios[0].ratio.rounds.size(), 6U);
  for (const double round : made.ratios[0].ratio.rounds) EXPECT_DOUBLE_EQ(round, 2.0);
  EXPECT_TRUE(made.ratios[0].ratio.differs);
  EXPECT_EQ(made.ratios[0].scaling, trace::Scaling::strong) << "3 and 4 workers share a batch of 48";
}

TEST(Ratios, FiveSeedsAreTooFew) {
  auto trials = both(repeats(kPs, 100), repeats(kAllreduce, 50));
  std::erase_if(trials, [](const Asked& one) { return one.seed > 4; });
  EXPECT_FALSE(collection(trials).ratios[0].ratio.differs);
}

TEST(Ratios, AreNotMadeAcrossFolders) {
  Asked elsewhere = kAllreduce;
  elsewhere.folder = "results/other";
  const Collection made = collection(both(repeats(kPs, 100), repeats(elsewhere, 50)));
  EXPECT_EQ(made.groups.size(), 2U);
  EXPECT_TRUE(made.ratios.empty()) << ratios_text(made);
}

TEST(Ratios, NeedAllElseToBeEqual) {
  Asked other = kAllreduce;
  other.options["optimizer"] = "adam";
  EXPECT_TRUE(collection({kPs, other}).ratios.empty());
  Asked wide = kAllreduce;
  wide.batch = 128;
  EXPECT_TRUE(collection({kPs, wide}).ratios.empty()) << "neither the same batch nor the same share";
}

TEST(Ratios, OfASettingAreAgainstTheFirst) {
  std::vector<Asked> all;
  for (const char* placement : {"striped", "greedy", "hash"}) {
    Asked one = kPs;
    one.options["placement"] = placement;
    all.push_back(one);
  }
  EXPECT_EQ(ratios_text(collection(all)),
            "ps 1+3 placement=greedy / ps 1+3 placement=striped by placement at ranks; "
            "ps 1+3 placement=hash / ps 1+3 placement=striped by placement at ranks; ");
}

TEST(Ratios, ImagesPerSecondDoNotRankWhatReadsUnlikeValues) {
  Asked asp = kPs;
  asp.options["consistency"] = "asp";
  const Collection made = collection({kPs, asp});
  ASSERT_EQ(made.ratios.size(), 1U) << ratios_text(made);
  EXPECT_FALSE(made.ratios[0].ranked);
  EXPECT_EQ(made.ratios[0].ratio.difference, "the age of the values that workers read");
  const auto tables = collection_tables(made);
  EXPECT_NE(collection_text(made, tables).find("not ranked: groups that differ in the age"),
            std::string::npos);
}

TEST(Ratios, TheTimeToATargetRanksWhatImagesPerSecondCannot) {
  Asked bsp = kPs;
  bsp.target = 0.8;
  bsp.time_s = 10.0;
  Asked asp = bsp;
  asp.options["consistency"] = "asp";
  asp.time_s = 5.0;
  const Collection made = collection({bsp, asp});
  EXPECT_EQ(ratios_text(made),
            "ps 1+3 consistency=asp / ps 1+3 consistency=bsp by consistency at ranks not ranked; "
            "ps 1+3 consistency=asp / ps 1+3 consistency=bsp by consistency at ranks timed; ");
  EXPECT_EQ(made.ratios[1].ratio.rounds, std::vector{2.0});
}

TEST(Ratios, OptimizersAndBatchesAreNotRankedByImagesPerSecond) {
  for (const auto& [name, value] : {std::pair{"lr", "0.1"}, {"optimizer", "adam"}}) {
    Asked other = kPs;
    other.options[name] = value;
    const Collection made = collection({kPs, other});
    ASSERT_EQ(made.ratios.size(), 1U) << name;
    EXPECT_FALSE(made.ratios[0].ranked) << name;
  }
  Asked large = kPs;
  large.batch = 96;
  const Collection made = collection({kPs, large});
  ASSERT_EQ(made.ratios.size(), 1U);
  EXPECT_EQ(made.ratios[0].ratio.difference, "the global batch");
}

TEST(Ratios, WeakScalingIsRankedWhereNothingIsLearned) {
  for (const bool replay : {false, true}) {
    Asked ps = kPs;
    Asked allreduce = kAllreduce;
    ps.model = allreduce.model = replay ? "replay:lenet" : "lenet";
    allreduce.batch = 64;
    const Collection made = collection({ps, allreduce});
    ASSERT_EQ(made.ratios.size(), 1U);
    EXPECT_EQ(made.ratios[0].scaling, trace::Scaling::weak);
    EXPECT_EQ(made.ratios[0].ranked, replay);
  }
}

TEST(Ratios, SpeedUpsAreAgainstTheFewestWorkers) {
  Asked two = kAllreduce;
  two.workers = 2;
  two.images_per_s = 50.0;
  const Collection made = collection({two, kAllreduce});
  EXPECT_EQ(ratios_text(made), "allreduce 4 / allreduce 2 by roles at  not ranked; ");
  EXPECT_EQ(made.ratios[0].ratio.rounds, std::vector{2.0});
}

TEST(Ratios, ByPriceAndByNodesDivideByThem) {
  Asked allreduce = kAllreduce;
  allreduce.nodes = 2;
  const Collection made = collection({kPs, allreduce}, trace::Price{0.5, 1.0});
  EXPECT_EQ(ratios_text(made),
            "ps 1+3 / allreduce 4 by roles at nodes; ps 1+3 / allreduce 4 by roles at price; "
            "ps 1+3 / allreduce 4 by roles at ranks; ");
  EXPECT_EQ(made.ratios[0].ratio.rounds, std::vector{2.0}) << "one node against two";
  EXPECT_EQ(made.ratios[1].ratio.rounds, std::vector{4.0 / 3.5});
}

TEST(Ratios, AreNotOfGroupsThatDiverged) {
  Asked gone = kPs;
  gone.status = "diverged";
  const Collection made = collection({gone, kAllreduce});
  EXPECT_TRUE(made.ratios.empty());
  const auto tables = collection_tables(made);
  EXPECT_EQ(tables.groups[0].trials, 0);
  EXPECT_EQ(tables.groups[0].diverged, 1);
  EXPECT_TRUE(std::isnan(tables.groups[0].images_per_s));
}

TEST(Ratios, AgainstOneGroupAreOneFamily) {
  std::vector<Asked> all = repeats(kAllreduce, 50);
  Asked two = kPs;
  two.servers = two.workers = 2;
  all = both(both(all, repeats(kPs, 100)), repeats(two, 51));
  const Collection made = collection(all);
  double least = 1.0;
  int family = -1;
  for (const GroupRatio& one : made.ratios) {
    if (one.ratio.basis != "ranks") continue;
    least = std::min(least, one.ratio.confidence);
    EXPECT_TRUE(family == -1 || family == one.family);
    family = one.family;
  }
  EXPECT_LT(least, 0.96) << "the last of Holm's levels";
}

TEST(Groups, WhoDidNotReachTheTargetTookForEver) {
  std::vector<Asked> all = repeats(kPs, 100);
  for (Asked& one : all) one.target = 0.8;
  for (std::size_t i = 1; i < all.size(); ++i) all[i].time_s = 9.0 + static_cast<double>(i);
  const trace::GroupRow row = collection_tables(collection(all)).groups[0];
  EXPECT_EQ(row.reached, 6);
  EXPECT_EQ(row.time_to_target_s, 13.0);
  EXPECT_EQ(row.time_to_target_s_low, 10.0);
  EXPECT_TRUE(std::isinf(row.time_to_target_s_high));
}

TEST(Rows, EndInDotsWhereTheyHaveNoRoom) {
  Asked asked = kPs;
  const std::string folder = "/" + std::string(1023, 'd');
  asked.folder = folder.c_str();
  EXPECT_EQ(trace::view(collection({asked}).trials.front().row.run), folder.substr(0, 1020) + "...");
}

}  // namespace
}  // namespace steelyard::cli
