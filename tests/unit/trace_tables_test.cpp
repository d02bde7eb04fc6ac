// /drops and /reads are written, flushed and read back; runs without them are read; a file that claims more
// than it holds is refused before memory is taken.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <functional>

#include "src/trace/metrics.hpp"
#include "src/trace/reader.hpp"
#include "src/trace/recorder.hpp"

namespace steelyard::trace {
namespace {

namespace fs = std::filesystem;

TEST(Text, WhatHasNoRoomSaysSo) {
  EXPECT_EQ(view(text<8>("1234567")), "1234567");
  EXPECT_EQ(view(text<8>("12345678")), "1234...");
  EXPECT_EQ(view(text<8>("123\u00e95678")), "123...") << "half a character is none";
  EXPECT_TRUE(is_cut("123...", "123\u00e95678"));
  EXPECT_TRUE(is_cut(view(text<8>("12345678")), "12345678"));
  EXPECT_FALSE(is_cut("1234...", "12355678"));
  EXPECT_FALSE(is_cut("1234567", "12345678"));
  EXPECT_FALSE(is_cut("12345678", "12345678"));
}

class TraceTables : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("trace_tables_test-" + std::to_string(getpid()));
    fs::create_directories(directory_ / "ranks/part-0001");
    tables_.ranks = 2;
    tables_.trials.resize(1);
    tables_.trials[0].backup_workers = 2;
    tables_.trials[0].on_drop = text<16>("skip");
    tables_.trials[0].max_staleness = 7;
    tables_.roles = {{0, 0, text<8>("server"), 0}, {0, 1, text<8>("worker"), 0}};
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(int rank) const { return directory_ / rank_file_name(rank); }

  /// A run with drops on rank 0 and reads on rank 1. @return what a gathering would have brought.
  TrialData write_run(double flush_seconds = 1000.0) {
    TrialData gathered;
    gathered.row = tables_.trials[0];
    for (int rank = 0; rank < 2; ++rank) {
      Recorder recorder;
      recorder.attach(std::move(RankFile::create(path(rank), {})).value(), flush_seconds);
      recorder.begin_trial(0, kSteps, 1);
      record(recorder, rank);
      gathered.ranks.push_back(RankTrial{rank == 0 ? "server" : "worker", 0, recorder.steps(),
                                         recorder.loads(), recorder.stalenesses(), recorder.drop_counts(),
                                         recorder.read_sums()});
      recorder.close({});
    }
    write_run_file(directory_, tables_, true);
    return gathered;
  }

  static constexpr Step kSteps = 40;

  static void record(Recorder& recorder, int rank) {
    for (Step step = 0; step < kSteps; ++step) {
      recorder.begin_step(step);
      recorder.flush_if_due();
      if (rank == 0)
        recorder.add(
            DropRow{0, step, 0, 5, 3, 1'000'000, step % 4 == 0 ? DropReason::late : DropReason::stale});
      for (int shard = 0; rank == 1 && shard < 3; ++shard)
        recorder.add(ReadRow{0, step, shard, 100 * (shard + 1), -1, shard});
      recorder.end_step(8, 0.5F);
    }
    LoadRow load{};
    load.pushes = 80;
    load.dropped = 40;
    if (rank == 0) recorder.add(load);
  }

  fs::path directory_;
  RunTables tables_;
};

Handle open(const std::string& path, unsigned how = H5F_ACC_RDONLY) {
  return {H5Fopen(path.c_str(), how, H5P_DEFAULT), H5Fclose};
}

/// The rows of one rank's file.
template <typename Row>
std::vector<Row> rows_of(const std::string& path) {
  return read_table<Row>(open(path).id());
}

TEST_F(TraceTables, RowsAreReadBack) {
  for (const double flush_seconds : {1000.0, 1e-9}) {
    write_run(flush_seconds);
    const auto drops = rows_of<DropRow>(path(0));
    ASSERT_EQ(drops.size(), 40U);
    EXPECT_EQ(drops[4].step, 4);
    EXPECT_EQ(drops[4].shard, 5);
    EXPECT_EQ(drops[4].age_ns, 1'000'000);
    EXPECT_EQ(drops[4].reason, DropReason::late);
    EXPECT_EQ(drops[5].reason, DropReason::stale);
    const auto reads = rows_of<ReadRow>(path(1));
    ASSERT_EQ(reads.size(), 120U) << "each read has a row in the file, also where memory keeps sums";
    EXPECT_EQ(reads[5].step, 1);
    EXPECT_EQ(reads[5].shard, 2);
    EXPECT_EQ(reads[5].wait_ns, 300);
    EXPECT_EQ(reads[5].waited_for, -1);
    EXPECT_EQ(reads[5].skew, 2);
    EXPECT_EQ(rows_of<ReadRow>(directory_ / "run.h5").size(), 120U) << "through the virtual dataset";
    fs::remove(path(0));
    fs::remove(path(1));
  }
}

TEST_F(TraceTables, InspectSeesWhatTrainSaw) {
  const TrialSummary train = summarise(write_run());
  const auto run = read_run(directory_);
  ASSERT_TRUE(run) << run.error().message;
  const TrialSummary inspect = summarise(run.value().trials[0]);
  EXPECT_EQ(train.drops.by_reason, (std::array<std::uint64_t, 3>{30, 10, 0}));
  EXPECT_EQ(inspect.drops.by_reason, train.drops.by_reason);
  EXPECT_EQ(inspect.drops.by_worker, train.drops.by_worker);
  EXPECT_EQ(inspect.drops.share, 0.5);
  EXPECT_EQ(inspect.wait.waited_for, train.wait.waited_for);
  EXPECT_EQ(inspect.wait.waited_for, std::vector<double>{0.0});
  EXPECT_EQ(inspect.staleness.max_skew, 2);
  EXPECT_EQ(run.value().trials[0].row.backup_workers, 2);
  EXPECT_EQ(view(run.value().trials[0].row.on_drop), "skip");
  EXPECT_EQ(run.value().trials[0].row.max_staleness, 7);
}

TEST_F(TraceTables, ARunOfAnOlderProgramIsRead) {
  write_run();
  for (int rank = 0; rank < 2; ++rank) {
    const Handle file = open(path(rank), H5F_ACC_RDWR);
    ASSERT_GE(H5Ldelete(file.id(), "drops", H5P_DEFAULT), 0);
    ASSERT_GE(H5Ldelete(file.id(), "reads", H5P_DEFAULT), 0);
  }
  {
    const Handle file = open(directory_ / "run.h5", H5F_ACC_RDWR);
    ASSERT_GE(H5Ldelete(file.id(), "trials", H5P_DEFAULT), 0);
    Table old = table<TrialRow>();
    constexpr std::size_t kSince = 4;  // Fields that came later: of policies, and of what was injected.
    old.fields = old.fields.first(old.fields.size() - kSince);
    append_rows(create_table(file.id(), old, 1024).id(), old, tables_.trials.data(), 1);
  }
  const auto run = read_run(directory_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run.value().missing.empty());
  EXPECT_EQ(run.value().trials[0].row.backup_workers, 0);
  EXPECT_EQ(run.value().trials[0].row.max_staleness, 0);
  const TrialSummary s = summarise(run.value().trials[0]);
  EXPECT_EQ(s.steps, kSteps);
  EXPECT_EQ(s.drops.by_reason[0], 0U);
  EXPECT_TRUE(s.wait.waited_for.empty());
}

/// Makes /NAME of a file claim `rows`, of which it has the first.
void claim(const std::string& path, const Table& table, hsize_t rows) {
  const Handle file = open(path, H5F_ACC_RDWR);
  ASSERT_GE(H5Ldelete(file.id(), table.name, H5P_DEFAULT), 0);
  const Handle dataset = create_table(file.id(), table, 1024);
  append_rows(dataset.id(), table, std::vector<std::byte>(table.row_bytes).data(), 1);
  ASSERT_GE(H5Dset_extent(dataset.id(), &rows), 0);
}

/// Most memory that this process has had, in KiB.
std::int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

constexpr hsize_t kClaimed = 400'000'000;  // Bytes in memory.

TEST_F(TraceTables, ARunThatClaimsMoreThanItHoldsIsRefused) {
  for (const Table* table : {&table<TrialRow>(), &table<SummaryRow>(), &table<PlacementRow>()}) {
    write_run_file(directory_, tables_, false);
    claim(directory_ / "run.h5", *table, kClaimed / table->row_bytes);
    const std::int64_t before = peak_kib();
    const auto run = read_run(directory_);
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find(std::string("claims more rows of /") + table->name), std::string::npos)
        << run.error().message;
    EXPECT_LT(peak_kib() - before, 100'000) << "the rows claimed take 400 MB";
  }
}

TEST_F(TraceTables, ARankFileThatClaimsMoreThanItHoldsCannotBeRead) {
  for (const Table* table : rank_tables()) {
    write_run();
    claim(path(1), *table, hsize_t{1} << 40U);
    const auto run = read_run(directory_);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run.value().missing, std::vector<std::string>{rank_file_name(1)}) << table->name;
    fs::remove(path(0));
    fs::remove(path(1));
  }
}

TEST_F(TraceTables, TrialsAndRanksAreBoundedByTheRoles) {
  const auto refused = [&](const char* why, const std::function<void(RunTables&)>& damage) {
    RunTables damaged = tables_;
    damage(damaged);
    write_run_file(directory_, damaged, false);
    const auto run = read_run(directory_);
    ASSERT_FALSE(run) << why;
    EXPECT_NE(run.error().message.find(why), std::string::npos) << run.error().message;
  };
  refused("has a trial 65535 among 1", [](RunTables& t) { t.trials[0].id = 65535; });
  refused("the roles of 2 ranks for 1 trials of 1000000 ranks", [](RunTables& t) { t.ranks = 1'000'000; });
}

TEST_F(TraceTables, AnAttributeOfManyValuesIsNotRead) {
  write_run_file(directory_, tables_, false);
  const hsize_t many = 100'000;
  {
    const Handle file = open(directory_ / "run.h5", H5F_ACC_RDWR);
    ASSERT_GE(H5Adelete(file.id(), "model"), 0);
    const Handle space({H5Screate_simple(1, &many, nullptr), H5Sclose});
    const Handle attribute(
        {H5Acreate2(file.id(), "model", H5T_C_S1, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose});
    ASSERT_GE(H5Awrite(attribute.id(), H5T_C_S1, std::string(many, 'x').data()), 0);
  }
  const auto run = read_run(directory_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run.value().tables.model, "");
  {
    const Handle file = open(directory_ / "run.h5", H5F_ACC_RDWR);
    ASSERT_GE(H5Adelete(file.id(), "ranks"), 0);
    write_numbers(file.id(), "ranks", std::vector<std::int64_t>(many, 2));
  }
  const auto again = read_run(directory_);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("says it has 0 ranks"), std::string::npos) << again.error().message;
}

}  // namespace
}  // namespace steelyard::trace
