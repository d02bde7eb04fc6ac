// Clips are what their plans say: the right tags, garments whole and inside, from the seed alone, and
// training and test images never mixed.
#include "src/data/clips.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "src/data/dataset.hpp"
#include "src/data/fashion_mnist.hpp"

namespace steelyard {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string sample_directory() { return own_data_directory() + "/fashion-mnist-sample"; }

DatasetRequest request(std::uint64_t seed = 0) {
  return {"clips", sample_directory(), kClipBytes, 10, seed, true};
}

const Dataset& garments() {
  static const Dataset kRead = load_fashion_mnist({"", sample_directory()}).value();
  return kRead;
}

std::vector<Clip> plan(std::size_t count, std::uint64_t seed = 0, ClipPart part = ClipPart::train) {
  return plan_clips((part == ClipPart::train ? garments().train : garments().test).labels, count, seed, part);
}

Bytes drawn(const Samples& samples, std::size_t which) {
  Bytes bytes(samples.inputs);
  samples.draw(which, bytes);
  return bytes;
}

TEST(Clips, TagsAreTheKindsOfTheirGarments) {
  const Dataset clips = load_dataset(request()).value();
  const auto plans = plan(clips.train.count);
  ASSERT_EQ(clips.train.tags.size(), plans.size());
  EXPECT_TRUE(clips.train.labels.empty());
  std::array<double, 4> counts{};
  std::array<double, 10> tags{};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::set<int> kinds;
    for (std::size_t j = 0; j < plans[i].count; ++j)
      kinds.insert(garments().train.labels[plans[i].garments[j].image]);
    EXPECT_EQ(kinds.size(), plans[i].count) << "garments of a clip are of different kinds";
    for (int tag = 0; tag < 16; ++tag)
      ASSERT_EQ(clips.train.tags[i] >> tag & 1, kinds.contains(tag) ? 1 : 0) << i << " tag " << tag;
    ++counts[plans[i].count];
    for (const int tag : kinds) ++tags[static_cast<std::size_t>(tag)];
  }
  // Binomial deviations of 16,384 throws are below 1 %; five of them.
  const auto n = static_cast<double>(plans.size());
  for (std::size_t i = 1; i < counts.size(); ++i) EXPECT_NEAR(counts[i] / n, 1.0 / 3.0, 0.02);
  for (const double count : tags) EXPECT_NEAR(count / n, 0.2, 0.02);
}

TEST(Clips, FollowFromTheSeedAlone) {
  const Dataset first = load_dataset(request(7)).value();
  const Dataset again = load_dataset(request(7)).value();
  const Dataset other = load_dataset(request(8)).value();
  EXPECT_EQ(first.train.tags, again.train.tags);
  EXPECT_EQ(first.test.tags, again.test.tags);
  EXPECT_NE(first.train.tags, other.train.tags);
  EXPECT_NE(first.test.tags, other.test.tags);
  EXPECT_EQ(first.mean, again.mean);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, first.test.count - 1}) {
    EXPECT_EQ(drawn(first.train, i), drawn(again.train, i));
    EXPECT_EQ(drawn(first.test, i), drawn(again.test, i));
    EXPECT_NE(drawn(first.train, i), drawn(other.train, i));
  }
}

TEST(Clips, EdgesMoveAtAConstantSpeedBetweenTheBorders) {
  for (int start = 0; start <= static_cast<int>(kClipRoom); ++start)
    for (int velocity = -3; velocity <= 3; ++velocity) {
      EXPECT_EQ(edge_at(start, velocity, 0), static_cast<std::size_t>(start));
      for (int frame = 1; frame < 100; ++frame) {
        const auto now = static_cast<int>(edge_at(start, velocity, frame));
        const auto before = static_cast<int>(edge_at(start, velocity, frame - 1));
        ASSERT_LE(now, static_cast<int>(kClipRoom));
        const bool at_border = std::min({now, before, static_cast<int>(kClipRoom) - now,
                                         static_cast<int>(kClipRoom) - before}) < std::abs(velocity);
        // A way to the border and back is as long as one straight on.
        if (at_border) {
          ASSERT_LE(std::abs(now - before), std::abs(velocity)) << start << " " << velocity << " " << frame;
        } else {
          ASSERT_EQ(std::abs(now - before), std::abs(velocity)) << start << " " << velocity << " " << frame;
        }
      }
    }
}

TEST(Clips, EveryGarmentMovesAndStartsInside) {
  std::set<std::pair<int, int>> velocities;
  for (const Clip& clip : plan(5000))
    for (std::size_t i = 0; i < clip.count; ++i) {
      const MovingGarment& garment = clip.garments[i];
      EXPECT_LE(garment.x, kClipRoom);
      EXPECT_LE(garment.y, kClipRoom);
      velocities.insert({garment.dx, garment.dy});
    }
  EXPECT_EQ(velocities.size(), 48U) << "-3 to 3 either way";
  EXPECT_FALSE(velocities.contains({0, 0}));
}

/// The pixel that a clip must show, garment by garment.
std::uint8_t expected_pixel(const Clip& clip, int y, int x, int frame) {
  std::uint8_t brightest = 0;
  for (std::size_t i = 0; i < clip.count; ++i) {
    const MovingGarment& garment = clip.garments[i];
    const int row = y - static_cast<int>(edge_at(garment.y, garment.dy, frame));
    const int column = x - static_cast<int>(edge_at(garment.x, garment.dx, frame));
    if (row < 0 || row >= 28 || column < 0 || column >= 28) continue;
    const auto at = garment.image * kGarmentBytes + static_cast<std::size_t>(row * 28 + column);
    brightest = std::max(brightest, garments().train.pixels[at]);
  }
  return brightest;
}

TEST(Clips, FramesShowEveryGarmentWholeAndTheBrighterWhereTheyOverlap) {
  const auto plans = plan(60);
  Bytes bytes(kClipBytes, 77);  // What was there before must be gone.
  for (const Clip& clip : plans) {
    draw_clip(garments().train.pixels, clip, bytes);
    std::size_t at = 0;
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 64; ++x)
        for (int frame = 0; frame < 8; ++frame, ++at)
          ASSERT_EQ(bytes[at], expected_pixel(clip, y, x, frame)) << y << " " << x << " " << frame;
  }
}

TEST(Clips, TrainingAndTestClipsAreMadeOfTheirOwnImages) {
  const Dataset clips = load_dataset(request(3)).value();
  const auto train = plan(clips.train.count, 3);
  const auto test = plan(clips.test.count, 3, ClipPart::test);
  Bytes wanted(kClipBytes);
  for (std::size_t i = 0; i < 200; ++i) {
    draw_clip(garments().train.pixels, train[i], wanted);
    EXPECT_EQ(drawn(clips.train, i), wanted) << i;
    draw_clip(garments().test.pixels, test[i], wanted);
    EXPECT_EQ(drawn(clips.test, i), wanted) << i;
  }
  const auto largest = [](const std::vector<Clip>& plans) {
    std::uint32_t image = 0;
    for (const Clip& clip : plans)
      for (std::size_t i = 0; i < clip.count; ++i) image = std::max(image, clip.garments[i].image);
    return image;
  };
  EXPECT_LT(largest(train), garments().train.count);
  EXPECT_LT(largest(test), garments().test.count);
  EXPECT_NE(train[0].garments[0].x + 100 * train[0].garments[0].y,
            test[0].garments[0].x + 100 * test[0].garments[0].y)
      << "nor do they share their plans";
}

TEST(Clips, MeanAndDeviationAreThoseOfTheFrames) {
  const Dataset clips = load_dataset(request()).value();
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < 1024; ++i)
    for (const double pixel : drawn(clips.train, i)) {
      sum += pixel / 255.0;
      squares += pixel / 255.0 * pixel / 255.0;
    }
  const double n = 1024.0 * static_cast<double>(kClipBytes);
  EXPECT_NEAR(clips.mean, sum / n, 1e-6);
  EXPECT_NEAR(clips.deviation, std::sqrt(squares / n - sum / n * sum / n), 1e-5);
}

std::string refusal(DatasetRequest wanted) {
  const auto loaded = load_dataset(wanted);
  return loaded ? "" : loaded.error().message;
}

TEST(Clips, AModelThatTakesSomethingElseIsRefused) {
  DatasetRequest labelled = request();
  labelled.tagged = false;
  EXPECT_EQ(refusal(labelled),
            "data set 'clips' has a set of tags per sample, the model takes one label; choose a model and a "
            "data set that fit each other");
  DatasetRequest small = request();
  small.inputs = 784;
  EXPECT_NE(refusal(small).find("'clips' has 32768 values per sample, the model takes 784"),
            std::string::npos);
  DatasetRequest few = request();
  few.classes = 9;
  EXPECT_NE(refusal(few).find("'clips' has the tag 9, the model has 9 outputs"), std::string::npos);
  EXPECT_EQ(
      refusal({"synthetic", "", 20, 10, 0, true}),
      "data set 'synthetic' has one label per sample, the model takes sets of tags; choose a model and a "
      "data set that fit each other");
}

/// Four IDX files in a folder that is gone afterwards: images of zeros with the labels given.
class Files {
 public:
  Files(std::uint8_t side, const Bytes& labels)
      : folder_(std::filesystem::temp_directory_path() / ("clips_test-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    const auto count = static_cast<std::uint8_t>(labels.size());
    Bytes images{0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side};
    images.resize(images.size() + labels.size() * side * side);
    Bytes kinds{0, 0, 8, 1, 0, 0, 0, count};
    kinds.insert(kinds.end(), labels.begin(), labels.end());
    for (const std::string part : {"train", "t10k"}) {
      write(part + "-images-idx3-ubyte", images);
      write(part + "-labels-idx1-ubyte", kinds);
    }
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  std::string reason() const { return refusal({"clips", folder_.string(), kClipBytes, 10, 0, true}); }

 private:
  void write(const std::string& name, const Bytes& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::filesystem::path folder_;
};

TEST(Clips, FilesThatMakeNoClipsAreRefused) {
  EXPECT_EQ(Files(28, {1, 9, 4}).reason(), "");
  EXPECT_EQ(
      Files(27, {1, 2, 3}).reason(),
      "data set 'clips' cannot be made of the training images: they have 729 pixels; they must be 28x28");
  EXPECT_EQ(Files(28, {1, 10, 3}).reason(),
            "data set 'clips' cannot be made of the training images: one has the label 10; labels must be "
            "below 10");
  EXPECT_EQ(Files(28, {1, 2, 2, 1}).reason(),
            "data set 'clips' cannot be made of the training images: they are of 2 kinds; a clip needs "
            "garments of up to 3 different ones");
}

}  // namespace
}  // namespace steelyard
