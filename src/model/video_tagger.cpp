#include "src/model/lenet.hpp"

namespace steelyard {

/// The frames of a clip are the channels of its image; what a filter sees is how a garment moved.
Expected<ModelSpec> describe_video_tagger(std::string_view arguments) {
  if (!arguments.empty())
    return Error{"model 'video_tagger:" + std::string(arguments) +
                 "': video_tagger takes nothing after it, say video_tagger"};
  ModelSpec spec = lenet_spec({.channels = 8, .side = 64, .tagged = true});
  spec.data = "clips";
  return spec;
}

}  // namespace steelyard
