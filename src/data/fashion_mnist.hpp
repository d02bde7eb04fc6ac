#pragma once

#include "src/data/dataset.hpp"

namespace steelyard {

/// The images of --data fashion-mnist: of request.directory, else as Debian installs them, else the sample
/// that comes with the program. `source` says which.
Expected<Dataset> load_fashion_mnist(const DatasetRequest& request);

}  // namespace steelyard
