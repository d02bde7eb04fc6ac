// Gradients against central differences, in the models as they are trained.
#include "src/model/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "src/base/random.hpp"
#include "tests/support/watcher.hpp"

namespace steelyard {
namespace {

using test::Watcher;

struct Fixture {
  explicit Fixture(const char* name, std::size_t count = 3)
      : spec(describe_model(name).value()),
        parameters(spec.inventory, packed_layout(spec.inventory)),
        model(spec.make({.max_batch = 8})) {
    parameters.initialise(1);
    features.resize(count * spec.inputs);
    for (std::size_t i = 0; i < features.size(); ++i) features[i] = random_unit(2, 0, i);
    for (std::size_t i = 0; i < count; ++i) labels.push_back(static_cast<std::uint8_t>(i % spec.classes));
    for (std::size_t i = 0; i < count; ++i)
      tags.push_back(static_cast<std::uint16_t>(0b1'0100'0101 << i & 0x3FF));
    batch = part(0, count);
  }
  /// Samples from `begin` to `end`, with labels or tags as the model takes them.
  Batch part(std::size_t begin, std::size_t end) const {
    const std::size_t count = end - begin;
    Batch some{count, std::span(features).subspan(begin * spec.inputs, count * spec.inputs), {}};
    if (spec.tagged) some.tags = std::span(tags).subspan(begin, count);
    if (!spec.tagged) some.labels = std::span(labels).subspan(begin, count);
    return some;
  }
  double loss() { return model->forward(batch, 1.0F, parameters, watcher).loss_sum; }

  ModelSpec spec;
  Parameters parameters;
  std::unique_ptr<Model> model;
  std::vector<float> features;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint16_t> tags;
  Batch batch;
  Watcher watcher;
};

class Gradients : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, Gradients,
                         testing::Values("lenet", "lenet-wide:2", "mlp:20-17-13-5", "mlp:7-3",
                                         "video_tagger"));

TEST_P(Gradients, AgreeWithCentralDifferences) {
  Fixture f(GetParam());
  f.loss();
  f.model->backward(f.batch, f.parameters, f.watcher);
  for (TensorId id = 0; id < f.spec.inventory.size(); ++id) {
    const auto analytic =
        std::vector<float>(f.parameters.gradient(id).begin(), f.parameters.gradient(id).end());
    auto values = f.parameters.values(id);
    double difference = 0.0;
    double norm = 1e-12;
    const std::size_t stride = std::max<std::size_t>(1, values.size() / 40);
    for (std::size_t i = 0; i < values.size(); i += stride) {
      const float kept = values[i];
      const float h = 1e-3F;
      values[i] = kept + h;
      const double above = f.loss();
      values[i] = kept - h;
      const double below = f.loss();
      values[i] = kept;
      const double numeric = (above - below) / (2.0 * static_cast<double>(h));
      difference += std::pow(numeric - static_cast<double>(analytic[i]), 2);
      norm += numeric * numeric;
    }
    // 32-bit losses and the kinks of ReLU and pooling limit what differences can show.
    EXPECT_LT(std::sqrt(difference / norm), 0.05) << f.spec.inventory[id].name;
  }
}

TEST_P(Gradients, AreReadyOnceEachLastTensorFirst) {
  Fixture f(GetParam());
  f.loss();
  f.model->backward(f.batch, f.parameters, f.watcher);
  std::vector<TensorId> expected;
  for (std::size_t i = f.spec.inventory.size(); i-- > 0;) expected.push_back(static_cast<TensorId>(i));
  EXPECT_EQ(f.watcher.ready, expected);
  EXPECT_EQ(f.watcher.needed.size(), expected.size());
}

TEST_P(Gradients, OfABatchAreTheSumOverItsParts) {
  Fixture whole(GetParam(), 5);
  Fixture part(GetParam(), 5);
  whole.loss();
  whole.model->backward(whole.batch, whole.parameters, whole.watcher);
  std::vector<double> sum(total_elements(whole.spec.inventory));
  for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 2}, {2, 5}, {5, 5}}) {
    const Batch batch = part.part(begin, end);
    part.model->forward(batch, 1.0F, part.parameters, part.watcher);
    part.model->backward(batch, part.parameters, part.watcher);
    const auto gradients = part.parameters.gradient_arena();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(gradients[i]);
    const bool any = std::any_of(gradients.begin(), gradients.end(), [](float g) { return g != 0.0F; });
    EXPECT_EQ(any, begin != end) << "an empty batch has no gradient";
  }
  for (std::size_t i = 0; i < sum.size(); ++i)
    EXPECT_NEAR(sum[i], static_cast<double>(whole.parameters.gradient_arena()[i]), 2e-5);
}

TEST(Models, InitialValuesAreTheSameForEveryPieceOfATensor) {
  const ModelSpec spec = describe_model("lenet").value();
  Parameters parameters(spec.inventory, packed_layout(spec.inventory));
  parameters.initialise(9);
  std::vector<float> piece(100);
  initial_values(spec.inventory, 4, 9, 1234, piece);
  for (std::size_t i = 0; i < piece.size(); ++i) EXPECT_EQ(piece[i], parameters.values(4)[1234 + i]);
}

TEST(Models, AWiderLenetHasTheParametersOfItsFormula) {
  EXPECT_EQ(total_elements(describe_model("lenet").value().inventory), 61'706U);
  for (const std::size_t k : {1U, 2U, 8U, 100U})
    EXPECT_EQ(total_elements(describe_model("lenet-wide:" + std::to_string(k)).value().inventory),
              10'080 * k * k + 49'044 * k + 2'582);
}

TEST(Models, TheVideoTaggerHasTheParametersThatItsDocumentSays) {
  const ModelSpec spec = describe_model("video_tagger").value();
  EXPECT_EQ(total_elements(spec.inventory), 391'076U);
  EXPECT_EQ(spec.inventory[4].elements(), 376'320U) << "16 maps of 14x14 to 120 units";
  EXPECT_EQ(spec.inputs, 8U * 64U * 64U);
  EXPECT_TRUE(spec.tagged);
}

TEST(Models, ScoresAreThoseOfTheSamplesAndThereForTagsAlone) {
  Fixture f("video_tagger");
  const auto scores = f.model->forward(f.batch, 1.0F, f.parameters, f.watcher).scores;
  ASSERT_EQ(scores.size(), 3U * 10U);
  const std::vector<float> kept(scores.begin(), scores.end());
  f.model->backward(f.batch, f.parameters, f.watcher);
  EXPECT_TRUE(std::ranges::equal(scores, kept)) << "valid until the next pass forward";
  double loss = 0.0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double z = kept[i];
    loss += std::log1p(std::exp((f.tags[i / 10] >> i % 10 & 1) != 0 ? -z : z));
  }
  EXPECT_NEAR(f.loss(), loss, 1e-5 * loss);
  Fixture labelled("lenet");
  EXPECT_TRUE(
      labelled.model->forward(labelled.batch, 1.0F, labelled.parameters, labelled.watcher).scores.empty());
}

TEST(Models, NamesThatAreWrongSayWhatIsAllowed) {
  for (const char* name : {"mlp", "mlp:", "mlp:5", "mlp:5-", "mlp:-5", "mlp:0-3", "mlp:5-x", "mlp:5-3000",
                           "mlp:5-1", "mlp:99999999999999999999-2", "lenet:3", "lenet-wide", "lenet-wide:0",
                           "lenet-wide:1001", "lenet-wide:2x", "video_tagger:2", "vgg"})
    EXPECT_FALSE(describe_model(name)) << name;
  EXPECT_EQ(describe_model("vgg").error().message,
            "unknown model 'vgg'; choose one of: lenet, lenet-wide, mlp, replay, video_tagger");
}

}  // namespace
}  // namespace steelyard
