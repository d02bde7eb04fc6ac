#pragma once

/// @file
/// The signals by which a launcher or a batch system says that a run is to end soon.

namespace steelyard {

/// From now on SIGUSR1, SIGUSR2 and SIGTERM end nothing: they are noted. A second SIGTERM ends the process,
/// as ever.
void catch_stop_signals();

/// Whether one has been noted.
bool stop_signalled();

}  // namespace steelyard
