// What is recorded is read back; a file whose writer was killed opens and holds all but the last interval.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "src/trace/reader.hpp"
#include "src/trace/recorder.hpp"

namespace steelyard::trace {
namespace {

namespace fs = std::filesystem;

class TraceFiles : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("trace_test-" + std::to_string(getpid()));
    fs::create_directories(directory_ / "ranks/part-0001");
    RunTables tables;
    tables.ranks = 1;
    tables.run_id = "test";
    tables.trials.resize(1);
    tables.roles = {{0, 0, text<8>("worker"), 0}};
    tables_ = tables;
    write_run_file(directory_, tables, false);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string rank_path() const { return directory_ / rank_file_name(0); }
  std::unique_ptr<RankFile> create() const { return std::move(RankFile::create(rank_path(), {})).value(); }

  static void record_step(Recorder& recorder, Step step) {
    recorder.begin_step(step);
    recorder.flush_if_due();
    { const Scope scope(recorder, Phase::forward); }
    { const Scope scope(recorder, Phase::backward, 3, 4, 5); }
    recorder.count_sent(100, 2);
    recorder.end_step(8, 0.5F);
  }

  fs::path directory_;
  RunTables tables_;
};

TEST_F(TraceFiles, StepsAndEventsAreReadBack) {
  Recorder recorder;
  recorder.attach(create(), 1000.0);
  recorder.begin_trial(0, 10);
  for (Step step = 0; step < 10; ++step) record_step(recorder, step);
  recorder.close({});
  write_run_file(directory_, tables_, true);

  const auto run = read_run(directory_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run.value().unclosed.empty());
  EXPECT_FALSE(run.value().complete) << "nobody has written `done`";
  const auto& steps = run.value().trials[0].ranks[0].steps;
  ASSERT_EQ(steps.size(), 10U);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].step, static_cast<Step>(i));
    EXPECT_EQ(steps[i].samples, 8U);
    EXPECT_EQ(steps[i].loss, 0.5F);
    EXPECT_EQ(steps[i].bytes_out, 100U);
    EXPECT_EQ(steps[i].messages, 2U);
    EXPECT_LE(steps[i].begin_ns + steps[i].forward_ns + steps[i].backward_ns, steps[i].end_ns);
  }
  const Handle file({H5Fopen((directory_ / "run.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose});
  const auto events = read_table<EventRow>(file.id());
  ASSERT_EQ(events.size(), 20U) << "through the virtual dataset";
  EXPECT_EQ(events[1].phase, Phase::backward);
  EXPECT_EQ(events[1].peer, 3);
  EXPECT_EQ(events[1].bytes, 5U);
}

TEST_F(TraceFiles, PhasesAreExclusive) {
  Recorder recorder;
  recorder.begin_trial(0, 1);
  recorder.begin_step(0);
  const std::int64_t begin = recorder.now_ns();
  {
    const Scope outer(recorder, Phase::backward);
    const Scope inner(recorder, Phase::push);
    while (recorder.now_ns() - begin < 2'000'000) {
    }
  }
  recorder.end_step(1, 0.0F);
  EXPECT_GE(recorder.steps()[0].push_ns, 1'500'000);
  EXPECT_LT(recorder.steps()[0].backward_ns, 500'000) << "what is spent in the push is not in backward";
}

TEST_F(TraceFiles, AKilledWriterLosesOnlyTheLastInterval) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    Recorder recorder;
    recorder.attach(create(), 1e-9);  // Flushes at every step.
    recorder.begin_trial(0, 1000);
    for (Step step = 0;; ++step) {
      record_step(recorder, step);
      if (step == 200 && write(ready[1], "x", 1) != 1) _exit(9);
    }
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  close(ready[0]);
  close(ready[1]);

  const auto run = read_run(directory_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run.value().unclosed.size(), 1U);
  const auto& steps = run.value().trials[0].ranks[0].steps;
  ASSERT_GE(steps.size(), 199U);
  for (std::size_t i = 0; i < steps.size(); ++i)
    ASSERT_EQ(steps[i].step, static_cast<Step>(i)) << "no row is torn";
}

TEST_F(TraceFiles, AnExistingFileIsNotOverwritten) {
  create()->close({});
  const auto again = RankFile::create(rank_path(), {});
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("cannot be created"), std::string::npos);
}

TEST_F(TraceFiles, WhatIsNoRunIsRefusedWithAReason) {
  EXPECT_NE(read_run("/nowhere").error().message.find("not a directory"), std::string::npos);
  fs::remove(directory_ / "run.h5");
  EXPECT_NE(read_run(directory_).error().message.find("no run.h5"), std::string::npos);
  {
    std::FILE* file = std::fopen((directory_ / "run.h5").c_str(), "w");
    std::fputs("not HDF5", file);
    std::fclose(file);
  }
  EXPECT_NE(read_run(directory_).error().message.find("cannot be read as HDF5"), std::string::npos);
}

}  // namespace
}  // namespace steelyard::trace
