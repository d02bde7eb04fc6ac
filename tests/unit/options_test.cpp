// Command line over environment over file over default; every bad value is named with what is allowed.
#include "src/cli/options.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "src/cli/settings.hpp"

namespace steelyard::cli {
namespace {

Expected<Parsed> parse(std::vector<const char*> arguments, std::vector<std::string> variables = {}) {
  arguments.insert(arguments.begin(), "steelyard");
  std::vector<char*> environment;
  for (std::string& one : variables) environment.push_back(one.data());
  environment.push_back(nullptr);
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), environment.data());
}

std::string reason(std::vector<const char*> arguments, std::vector<std::string> variables = {}) {
  const auto parsed = parse(std::move(arguments), std::move(variables));
  if (!parsed) return parsed.error().message;
  const auto request = trial_request(parsed.value().options);
  return request ? "" : request.error().message;
}

class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("options_test-" + std::to_string(getpid()) + ".toml")) {
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::filesystem::remove(path_); }
  const char* path() const { return path_.c_str(); }

 private:
  std::filesystem::path path_;
};

TEST(Options, CommandLineOverEnvironmentOverFileOverDefault) {
  const ConfigFile file("steps = 10\nbatch = 20\nlr = 0.5\n");
  const auto parsed = parse({"train", "--config", file.path(), "--steps", "30"},
                            {"STEELYARD_BATCH=40", "STEELYARD_STEPS=50"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Options& options = parsed.value().options;
  EXPECT_EQ(options.integer("steps"), 30);
  EXPECT_EQ(options.source("steps"), Source::command_line);
  EXPECT_EQ(options.integer("batch"), 40);
  EXPECT_EQ(options.source("batch"), Source::environment);
  EXPECT_EQ(options.real("lr"), 0.5);
  EXPECT_EQ(options.source("lr"), Source::file);
  EXPECT_EQ(options.source("seed"), Source::standard);
}

TEST(Options, TheEffectiveOptionsAsAFileGiveThemselvesAgain) {
  for (const char* mode : {"ps", "allreduce"}) {
    const auto first =
        parse({"train", "--mode", mode, "--epochs", "3", "--deterministic", "--batch-per-worker", "5"});
    ASSERT_TRUE(first);
    const ConfigFile file(first.value().options.toml());
    const auto second = parse({"train", "--config", file.path()});
    ASSERT_TRUE(second) << second.error().message;
    const auto request = trial_request(second.value().options);
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(request.value().config.mode, mode);
    EXPECT_EQ(request.value().epochs, 3);
    EXPECT_EQ(request.value().batch_per_worker, 5U);
    EXPECT_TRUE(request.value().config.deterministic);
  }
}

TEST(Options, TheLaterSourceDecidesBetweenTwoWaysToSayOneThing) {
  const ConfigFile file("epochs = 5\nsteps = 0\nbatch = 64\nbatch-per-worker = 0\n");
  const auto parsed = parse({"train", "--config", file.path(), "--steps", "7", "--batch-per-worker", "3"});
  const auto request = trial_request(parsed.value().options);
  EXPECT_EQ(request.value().epochs, 0);
  EXPECT_EQ(request.value().config.steps, 7);
  EXPECT_EQ(request.value().batch_per_worker, 3U);
}

/// Steps of a comparison's trials; 0 where time decides.
Step compared_steps(std::vector<const char*> arguments, std::vector<std::string> variables = {}) {
  arguments.insert(arguments.begin(), "compare");
  const auto parsed = parse(std::move(arguments), std::move(variables));
  return trial_request(parsed.value().options).value().config.steps;
}

TEST(Options, AComparisonIsByTimeUnlessStepsAreSaidAsLate) {
  EXPECT_EQ(compared_steps({}), 0);
  EXPECT_EQ(compared_steps({"--trial-seconds", "5"}), 0);
  EXPECT_EQ(compared_steps({"--steps", "70"}), 70);
  EXPECT_EQ(compared_steps({"--steps", "70"}, {"STEELYARD_TRIAL_SECONDS=5"}), 70);
  EXPECT_EQ(compared_steps({"--trial-seconds", "5"}, {"STEELYARD_STEPS=70"}), 0);
  const auto epochs = parse({"compare", "--epochs", "2"});
  EXPECT_EQ(trial_request(epochs.value().options).value().epochs, 2);
  EXPECT_NE(reason({"compare", "--steps", "70", "--trial-seconds", "5"}).find("two ways"), std::string::npos);
  EXPECT_NE(reason({"compare", "--epochs", "1", "--trial-seconds", "5"}).find("two ways"), std::string::npos);
  EXPECT_NE(reason({"train", "--trial-seconds", "5"}).find("--trial-seconds"), std::string::npos);
}

TEST(Options, TheFileOfAComparisonByTimeKeepsItsSteps) {
  auto first = parse({"compare"});
  ASSERT_TRUE(first.value().options.set("steps", "2500", Source::measured));
  const std::string text = first.value().options.toml();
  EXPECT_NE(text.find("# measured"), std::string::npos);
  const ConfigFile file(text);
  EXPECT_EQ(compared_steps({"--config", file.path()}), 2500);
  EXPECT_EQ(compared_steps({"--config", file.path(), "--trial-seconds", "5"}), 0);
}

TEST(Options, TrialsSurviveTheFile) {
  const auto first = parse({"compare", "--trial", "mode=ps servers=2", "--trial", "mode=allreduce"});
  const ConfigFile file(first.value().options.toml());
  const auto second = parse({"compare", "--config", file.path()});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second.value().options.trials(), first.value().options.trials());
}

TEST(Options, BadValuesAreNamedWithWhatIsAllowed) {
  EXPECT_EQ(reason({"train", "--steps", "-3"}),
            "--steps '-3': must be a whole number from 0 to 9007199254740992");
  EXPECT_EQ(reason({"train", "--batch", "99999999999999999999"}),
            "--batch '99999999999999999999': must be a whole number from 1 to 2147483647");
  EXPECT_EQ(reason({"train", "--batch", "1e3"}),
            "--batch '1e3': must be a whole number from 1 to 2147483647");
  EXPECT_EQ(reason({"train", "--lr", "nan"}), "--lr 'nan': must be a number from 0 to 1000000");
  EXPECT_EQ(reason({"train", "--momentum", "1.5"}), "--momentum '1.5': must be a number from 0 to 1");
  EXPECT_EQ(reason({"compare", "--servers", "1,,2"}),
            "--servers '1,,2': must be whole numbers from 1 to 2147483647 with a ',' between");
  EXPECT_EQ(reason({"train", "--trace", "some"}), "--trace 'some': choose one of: full, off");
  const auto sharded = parse({"train", "--mode", "allreduce", "--sharded-optimizer"});
  EXPECT_TRUE(trial_request(sharded.value().options).value().config.sharded_optimizer);
  EXPECT_EQ(trial_request(parse({"train", "--wire", "bf16"}).value().options).value().config.wire, "bf16");
  EXPECT_NE(reason({"train", "--stpes", "3"}).find("--stpes"), std::string::npos);
  EXPECT_EQ(reason({"trian"}),
            "unknown command 'trian'; choose one of: train, compare, inspect, export, collect, place");
  EXPECT_EQ(
      reason({}),
      "no command; choose one of: train, compare, inspect, export, collect, place; see steelyard --help");
}

TEST(Options, BadVariablesAndFilesAreNamed) {
  EXPECT_EQ(reason({"train"}, {"STEELYARD_STEPS=x"}),
            "STEELYARD_STEPS: --steps 'x': must be a whole number from 0 to 9007199254740992 (from the "
            "environment)");
  EXPECT_EQ(reason({"train"}, {"STEELYARD_STEPS="}), "") << "an empty variable is an unset one";
  EXPECT_EQ(reason({"train"}, {"STEELYARD_UNKNOWN=1"}), "") << "a stray variable is nobody's error";
  const ConfigFile unknown("colour = 3\n");
  EXPECT_NE(reason({"train", "--config", unknown.path()}).find("unknown option 'colour'"), std::string::npos);
  const ConfigFile broken("steps = = 3\n");
  EXPECT_NE(reason({"train", "--config", broken.path()}).find("line 1"), std::string::npos);
  EXPECT_NE(reason({"train", "--config", "/nowhere/at.all"}).find("/nowhere/at.all"), std::string::npos);
}

TEST(Options, AnOptionWithoutEffectIsRefused) {
  EXPECT_NE(reason({"train", "--mode", "allreduce", "--servers", "2"}).find("--servers has no effect"),
            std::string::npos);
  EXPECT_NE(reason({"train", "--mode", "ps", "--collective", "mpi"}).find("--collective has no effect"),
            std::string::npos);
  EXPECT_NE(reason({"train", "--optimizer", "sgd", "--momentum", "0.5"}).find("--momentum has no effect"),
            std::string::npos);
  EXPECT_NE(reason({"train", "--placement-offset", "1"}).find("--placement-offset has no effect"),
            std::string::npos);
  EXPECT_NE(reason({"train", "--placement", "p3", "--placement-hash", "sdbm"})
                .find("--placement-hash has no effect here: it goes with --placement hash or byteps"),
            std::string::npos);
  EXPECT_NE(reason({"train", "--mode", "allreduce", "--server-memory", "1"}).find("--server-memory has no"),
            std::string::npos);
  EXPECT_NE(reason({"train", "--steps", "3", "--epochs", "1"}).find("two ways"), std::string::npos);
}

TEST(Options, AnOptionIsRefusedForTheFirstThatItLacks) {
  const auto train = [](std::vector<const char*> more) {
    more.insert(more.begin(), {"train"});
    return reason(more);
  };
  EXPECT_NE(train({"--max-staleness", "2"}).find("it goes with --staleness-policy drop"), std::string::npos);
  EXPECT_NE(train({"--mode", "allreduce", "--backup-workers", "0"}).find("it goes with --mode ps"),
            std::string::npos);
  EXPECT_NE(train({"--lr-scale", "workers"}).find("it goes with --consistency asp or ssp"),
            std::string::npos);
  EXPECT_EQ(train({"--lr-scale", "none"}), "");
  EXPECT_EQ(train({"--consistency", "asp", "--staleness-policy", "cost_aware", "--on-drop", "skip"}), "");
  EXPECT_NE(train({"--compute-ms", "2"}).find("it goes with --model replay:…"), std::string::npos);
  EXPECT_EQ(reason({"compare", "--collective", "ring", "--placement", "greedy"}), "") << "it has both modes";
}

TEST(Options, EvaluationsOnTheWayAreSaidOnce) {
  const auto config = [](std::vector<const char*> arguments) {
    return trial_request(parse(std::move(arguments)).value().options).value();
  };
  EXPECT_TRUE(config({"train"}).evaluate_epochs);
  const TrialRequest every = config({"compare", "--evaluate-every", "50", "--target-accuracy", "0.8"});
  EXPECT_EQ(every.config.evaluate_every, 50);
  EXPECT_TRUE(every.config.evaluate_at_end) << "an evaluation on the way is one at the end too";
  EXPECT_FALSE(config({"train", "--evaluate-every", "50"}).evaluate_epochs);
  EXPECT_EQ(every.config.target_accuracy, 0.8);
  EXPECT_EQ(config({"train", "--target-accuracy", "0.8"}).config.target_accuracy, 0.8);
  EXPECT_EQ(reason({"compare", "--target-accuracy", "0.8"}),
            "--target-accuracy 0.8 needs evaluations on the way; give --evaluate-every STEPS");
  EXPECT_EQ(reason({"train", "--target-accuracy", "0.8", "--evaluate", "end"}),
            "--target-accuracy 0.8 needs evaluations on the way; give --evaluate-every STEPS or --evaluate "
            "epoch");
  EXPECT_EQ(reason({"train", "--evaluate", "never", "--evaluate-every", "50"}),
            "--evaluate never and --evaluate-every 50 say two different things; give one of them");
  EXPECT_EQ(reason({"train", "--evaluate", "end", "--evaluate-every", "50"}), "");
  EXPECT_NE(reason({"train", "--model", "replay:lenet", "--target-accuracy", "0.8"}).find("no accuracy"),
            std::string::npos);
  EXPECT_EQ(reason({"train", "--target-accuracy", "1.1"}),
            "--target-accuracy '1.1': must be a number from 0 to 1");
}

TEST(Options, PlacementsGetTheirNumbersAndFiles) {
  const ConfigFile rules("* 0\n");
  const std::string placement = std::string("explicit:") + rules.path();
  const auto parsed = parse({"train", "--placement", placement.c_str(), "--server-weight", "1,0.5",
                             "--server-memory", "9007199254740992", "--slice-elements", "7"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  const ps::PlacementOptions options = trial_request(parsed.value().options).value().config.placement_options;
  EXPECT_EQ(options.weights, (std::vector{1.0, 0.5}));
  EXPECT_EQ(options.memory, (std::vector<std::size_t>{std::size_t{1} << 53U}));
  EXPECT_EQ(options.slice_elements, 7U);
  EXPECT_EQ(options.rules, "* 0\n");
  EXPECT_EQ(trial_request(parse({"train"}).value().options).value().config.placement_options,
            ps::PlacementOptions{})
      << "the table's defaults are the library's";
  EXPECT_EQ(trial_request(parse({"train"}).value().options).value().config.placement, "striped");
  EXPECT_EQ(reason({"train", "--server-memory", "1,,2"}),
            "--server-memory '1,,2': must be whole numbers from 1 to 9007199254740992 with a ',' between");
}

TEST(Options, AModelMadeForOneDataSetTakesItUnlessAnotherIsAskedFor) {
  const auto data = [](std::vector<const char*> arguments, std::vector<std::string> variables = {}) {
    return parse(std::move(arguments), std::move(variables)).value().options.text("data");
  };
  EXPECT_EQ(data({"train"}), "fashion-mnist");
  EXPECT_EQ(data({"train", "--model", "video_tagger"}), "clips");
  EXPECT_EQ(data({"compare"}, {"STEELYARD_MODEL=video_tagger"}), "clips");
  EXPECT_EQ(data({"train", "--model", "video_tagger", "--data", "synthetic"}), "synthetic");
  EXPECT_EQ(data({"train", "--model", "video_tagger"}, {"STEELYARD_DATA=fashion-mnist"}), "fashion-mnist");
  const ConfigFile same(parse({"train", "--model", "video_tagger"}).value().options.toml());
  EXPECT_EQ(data({"train", "--config", same.path()}), "clips") << "run.toml repeats the run";
  EXPECT_EQ(reason({"train", "--model", "video_tagger", "--data-dir", "x"}), "");
  EXPECT_NE(reason({"train", "--data", "synthetic", "--data-dir", "x"})
                .find("it goes with --data fashion-mnist or clips"),
            std::string::npos);
}

TEST(Options, HelpAndVersionSayWhatThereIs) {
  const std::string help = parse({"train", "--help"}).value().print;
  for (const char* word :
       {"--placement", "largest_first", "nesterov", "--bundle-bytes", "ring", "--print-config"})
    EXPECT_NE(help.find(word), std::string::npos) << word;
  EXPECT_NE(parse({"--version"}).value().print.find("HDF5"), std::string::npos);
  const ConfigFile same(parse({"train", "--steps", "5", "--print-config"}).value().print);
  EXPECT_EQ(parse({"train", "--config", same.path()}).value().options.integer("steps"), 5);
}

}  // namespace
}  // namespace steelyard::cli
