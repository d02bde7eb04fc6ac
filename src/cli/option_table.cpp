#include <fmt/format.h>

#include "kernels/instructions.hpp"
#include "modes/mode.hpp"
#include "modes/ps/consistency/consistency.hpp"
#include "modes/ps/placement/placement.hpp"
#include "modes/ps/staleness/staleness.hpp"
#include "modes/ps/transport.hpp"
#include "src/cli/options.hpp"
#include "src/collective/collective.hpp"
#include "src/data/dataset.hpp"
#include "src/model/model.hpp"
#include "src/mpi/wait.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard::cli {
namespace {

constexpr unsigned kTrain = static_cast<unsigned>(Command::train);
constexpr unsigned kCompare = static_cast<unsigned>(Command::compare);
constexpr unsigned kBoth = kTrain | kCompare;
constexpr unsigned kPlace = static_cast<unsigned>(Command::place);
constexpr unsigned kExport = static_cast<unsigned>(Command::export_run);
constexpr unsigned kPlaced = kBoth | kPlace;  // Whoever decides which server owns what.
constexpr unsigned kCollect = static_cast<unsigned>(Command::collect);
constexpr unsigned kAll = kCollect | kPlaced | static_cast<unsigned>(Command::inspect);
constexpr double kMost = 9007199254740992.0;  // 2^53: every whole number up to here is a double.
constexpr double kMostInt = 2147483647.0;
constexpr double kMostServers = 65536.0;  // That place spends time on.

std::string instruction_sets() { return fmt::format("{}", fmt::join(kernels::instruction_sets(), ", ")); }

#define HELP(text) [] { return std::string(text); }

const OptionSpec kSpecs[] = {
    {"mode", kTrain, OptionKind::text, "ps", 0, 0, "Mode", HELP("who holds the parameters\n" + mode_help())},
    {"servers", kTrain, OptionKind::integer, "1", 0, kMostInt, "Mode",
     HELP("ps: how many of the ranks serve; the others work")},
    {"servers", kCompare, OptionKind::integers, "1", 1, kMostInt, "Mode",
     HELP("numbers of servers to try, for example 1,2")},
    {"servers", kPlace, OptionKind::integer, "", 1, kMostServers, "Mode", HELP("how many; must be given")},
    {"server-ranks", kBoth, OptionKind::text, "first", 0, 0, "Mode",
     HELP("which ranks serve: first, last, spread over the nodes, or a list such as 0,2")},
    {"placement", kBoth, OptionKind::text, "striped", 0, 0, "Mode",
     HELP("ps, which server owns what\n" + ps::placement_help())},
    {"placement", kPlace, OptionKind::text, "all", 0, 0, "Mode",
     HELP("all, or some with a ',' between; all leaves out explicit, which is the last of a list\n" +
          ps::placement_help())},
    {"consistency", kBoth, OptionKind::text, "bsp", 0, 0, "Mode",
     HELP("ps, how far workers may drift apart\n" + ps::consistency_help())},
    {"lr-scale", kBoth, OptionKind::text, "none", 0, 0, "Mode",
     HELP("asp, ssp: workers divides the learning rate by the number of workers; or none")},
    {"max-lag", kBoth, OptionKind::integer, "3", 0, kMost, "Staleness",
     HELP("ssp: steps by which a worker may lead the slowest")},
    {"backup-workers", kBoth, OptionKind::integer, "0", 0, kMostInt, "Staleness",
     HELP("bsp: pushes of a step that its update does without; they are dropped when they come, and their "
          "workers go on with the step that the others are at")},
    {"staleness-policy", kBoth, OptionKind::text, "keep", 0, 0, "Staleness",
     HELP("asp, ssp: what becomes of a gradient whose values have been updated since they were read\n" +
          ps::staleness_help())},
    {"max-staleness", kBoth, OptionKind::integer, "8", 0, kMost, "Staleness",
     HELP("drop: the most updates between read and apply")},
    {"on-drop", kBoth, OptionKind::text, "skip", 0, 0, "Staleness",
     HELP("drop, cost_aware: skip goes on with the next batch; recompute makes what was dropped again from "
          "newer values")},
    {"compensation", kBoth, OptionKind::real, "0.04", 0, 1e6, "Staleness", HELP("compensate: lambda")},
    {"bundle-bytes", kPlaced, OptionKind::integer, "131072", 4, kMostInt, "Mode",
     HELP("ps: whole tensors of one server ride together up to this size")},
    {"piece-bytes", kBoth, OptionKind::integer, "0", 0, kMostInt, "Mode",
     HELP(
         "ps: what one server owns of a tensor travels in pieces of at most this, 64 or more, so that pushes "
         "and replies overlap (0: 245760, which leave eagerly over TCP; 4194304 where all ranks are on one "
         "node)")},
    {"piece-bytes", kPlace, OptionKind::integer, "245760", 64, kMostInt, "Mode",
     HELP("what one server owns of a tensor travels in pieces of at most this")},
    {"transport", kBoth, OptionKind::text, "auto", 0, 0, "Mode",
     HELP("ps, how servers and workers talk\n" + ps::transport_help())},
    {"aggregate", kBoth, OptionKind::text, "auto", 0, 0, "Mode",
     HELP("ps, who pushes as one\n" + ps::aggregate_help())},
    {"collective", kBoth, OptionKind::text, "auto", 0, 0, "Mode",
     HELP("allreduce, who sums\n" + collective_help() +
          "\nnccl: NCCL among GPUs, in a stream beside backward; what auto takes with --device cuda")},
    {"nccl-algo", kBoth, OptionKind::text, "Ring", 0, 0, "Mode",
     HELP("nccl: its algorithm, as NCCL_ALGO has it; auto leaves the choice to NCCL")},
    {"timeout", kBoth, OptionKind::real, "60", 0.1, 86400, "Running",
     HELP("nccl: seconds after which a rank that waits for the others in vain ends the job, and says for "
          "whom")},
    {"wire", kBoth, OptionKind::text, "fp32", 0, 0, "Mode",
     HELP("in which type gradients travel in messages; sums are made in fp32, values stay fp32, and so does "
          "what goes through shared memory\n" +
          wire_help())},
    {"sharded-optimizer", kBoth, OptionKind::flag, "false", 0, 0, "Mode",
     HELP("allreduce: each worker updates a part of the values and keeps optimizer state for that alone; "
          "gradients are reduce-scattered, then values gathered, in fp32. By ring, recursive or mpi; auto "
          "takes ring. In place it is so anyway")},
    {"first-bucket-mib", kBoth, OptionKind::real, "0", 0, 65536, "Mode",
     HELP("allreduce: size at which the first bucket closes (0: as --bucket-mib 0)")},
    {"bucket-mib", kBoth, OptionKind::real, "0", 0, 65536, "Mode",
     HELP("allreduce: size at which the others close (0: a tenth of what is still to come, from 128 KiB to "
          "25 MiB)")},
    {"slow", kBoth, OptionKind::text, "", 0, 0, "Mode",
     HELP("slow some ranks down on purpose, items with a ',' between that add up\n"
          "worker=N:compute=F: forward and backward take F times as long, 1 to 1000\n"
          "worker=N:jitter=S: in each step max(1, exp(S z)) times as long, z standard normal, the same in a "
          "rerun; 0 to 10\n"
          "server=N:apply=F: sum and update take F times as long, 1 to 1000\n"
          "link=A-B:bandwidth=F: messages between these ranks get this share of it, 0.001 to 1\n"
          "N counts workers or servers from 0, * is all")},
    {"trial", kCompare, OptionKind::text, "", 0, 0, "Mode",
     HELP("a contestant instead of the usual ones, as \"mode=ps servers=2 placement=greedy\"; repeat it, the "
          "first "
          "is what the others are measured against")},

    {"server-weight", kPlaced, OptionKind::reals, "", 1e-6, 1e6, "Placement",
     HELP("speed or bandwidth of each server, for example 1,1,0.5: placements that go by size give bytes in "
          "proportion (default: all alike)")},
    {"server-memory", kPlaced, OptionKind::integers, "", 1, kMost, "Placement",
     HELP("bytes for parameters and optimizer state, of each server or one number for all; never exceeded "
          "(default: no limit)")},
    {"time-limit", kPlaced, OptionKind::real, "10", 0, 86400, "Placement",
     HELP("optimal: bounds its work, in seconds of one core; counted in steps, so that every rank stops at "
          "the same")},
    {"placement-offset", kPlaced, OptionKind::integer, "0", 0, kMostInt, "Placement",
     HELP("round_robin: server of the first tensor")},
    {"placement-hash", kPlaced, OptionKind::text, "djb2", 0, 0, "Placement",
     HELP("hash and byteps: djb2 or sdbm; byteps: naive too")},
    {"fixed-shards", kPlaced, OptionKind::integer, "0", 0, kMostInt, "Placement",
     HELP("tf_fixed_shards: shards of a tensor (0: the number of servers)")},
    {"min-shard-bytes", kPlaced, OptionKind::integer, "262144", 1, kMost, "Placement",
     HELP("tf_min_size: no shard is smaller unless its tensor is")},
    {"max-shard-bytes", kPlaced, OptionKind::integer, "67108863", 1, kMost, "Placement",
     HELP("tf_max_size: no shard is larger unless a row is, or --max-shards says so")},
    {"max-shards", kPlaced, OptionKind::integer, "0", 0, kMostInt, "Placement",
     HELP("most shards of a tensor (0: tf_min_size, the number of servers; tf_max_size, any)")},
    {"slice-elements", kPlaced, OptionKind::integer, "40000", 1, kMost, "Placement",
     HELP("p3: most elements of a slice")},
    {"big-array-elements", kPlaced, OptionKind::integer, "1000000", 1, kMost, "Placement",
     HELP("mxnet: tensors of so many elements are cut")},
    {"block-elements", kPlaced, OptionKind::integer, "8192", 1, kMost, "Placement",
     HELP("paddle: least elements of a block")},
    {"part-bytes", kPlaced, OptionKind::integer, "4096000", 1, kMost, "Placement",
     HELP("byteps: most bytes of a part")},
    {"mixed-workers", kPlaced, OptionKind::integer, "0", 0, kMostInt, "Placement",
     HELP("byteps: so many servers, the last, share their machine with a worker and get less (0: none)")},
    {"mixed-bound", kPlaced, OptionKind::integer, "101", 1, kMostInt, "Placement",
     HELP("byteps with --mixed-workers: hashes are taken modulo this")},

    {"model", kBoth, OptionKind::text, "lenet", 0, 0, "Model and data",
     HELP("what is trained\n" + model_help())},
    {"data", kBoth, OptionKind::text, "fashion-mnist", 0, 0, "Model and data",
     HELP("what it is trained on; video_tagger: [clips]\n" + dataset_help())},
    {"data-dir", kBoth, OptionKind::text, "", 0, 0, "Model and data",
     HELP("folder of the four IDX files, plain or .gz")},
    {"compute-ms", kBoth, OptionKind::real, "0", 0, 1e6, "Model and data",
     HELP("replay: forward and backward of one worker in a step take this long, split over the tensors by "
          "their operations")},
    {"compute-samples", kBoth, OptionKind::integer, "0", 0, kMostInt, "Model and data",
     HELP("replay: samples that these times are for; more take longer in proportion (0: a worker's share, "
          "whatever its size)")},
    {"compute-profile", kBoth, OptionKind::text, "", 0, 0, "Model and data",
     HELP("replay: CSV file name,forward_ms,backward_ms with a row for every tensor, instead of "
          "--compute-ms")},
    {"compute", kBoth, OptionKind::text, "sleep", 0, 0, "Model and data",
     HELP("replay\nsleep: timed sleep, which leaves the core to others as a GPU does\nquota: real work for "
          "that "
          "long in CPU time; in a slice of 0.2 cores it takes five times as long")},
    {"compute-grain-ms", kBoth, OptionKind::real, "1", 0, 1e6, "Model and data",
     HELP("replay: a layer lets messages move this often, as the host of a GPU can, or a kernel that goes "
          "image "
          "by image (0: between layers alone)")},
    {"batch", kBoth, OptionKind::integer, "64", 1, kMostInt, "Model and data",
     HELP("global batch: samples per step over all workers")},
    {"batch-per-worker", kBoth, OptionKind::integer, "0", 0, kMostInt, "Model and data",
     HELP("the other way to say it: samples per step and worker (0: see --batch)")},

    {"epochs", kBoth, OptionKind::integer, "0", 0, kMostInt, "Training",
     HELP("passes over the training samples (0: see --steps)")},
    {"steps", kBoth, OptionKind::integer, "0", 0, kMost, "Training",
     HELP("steps of every worker (0: one epoch in train, see --trial-seconds in compare)")},
    {"optimizer", kPlaced, OptionKind::text, "momentum", 0, 0, "Training",
     HELP("how values follow gradients\n" + optimizer_help())},
    {"lr", kBoth, OptionKind::real, "0.02", 0, 1e6, "Training", HELP("learning rate")},
    {"momentum", kBoth, OptionKind::real, "0.9", 0, 1, "Training", HELP("of momentum and nesterov")},
    {"seed", kBoth, OptionKind::integer, "0", 0, kMost, "Training",
     HELP("of initial values, shuffling and the order of trials")},
    {"deterministic", kBoth, OptionKind::flag, "false", 0, 0, "Training",
     HELP("sums in worker order: a rerun gives the same parameters, bit for bit")},
    {"evaluate", kTrain, OptionKind::text, "epoch", 0, 0, "Training",
     HELP("on the test samples: epoch (after each, and at the end), end, or never")},
    {"evaluate", kCompare, OptionKind::text, "never", 0, 0, "Training",
     HELP("on the test samples: end (of every trial) or never")},
    {"evaluate-every", kBoth, OptionKind::integer, "0", 0, kMost, "Training",
     HELP("on the test samples, with the values after every so many steps and at the end (0: as --evaluate "
          "says); worker 0 copies its values, and the copies are evaluated after the last step")},
    {"target-accuracy", kBoth, OptionKind::real, "0", 0, 1, "Training",
     HELP(
         "say how long it takes until an evaluation has this accuracy, from 0 to 1; compare then trains each "
         "round with a seed of its own (0: no target)")},

    {"rounds", kCompare, OptionKind::integer, "0", 0, 10000, "Comparison",
     HELP(
         "every contestant runs once per round, in random order; at least 6 for a verdict (0: enough for the "
         "correction for many ratios with one outlier)")},
    {"confirm-rounds", kCompare, OptionKind::integer, "9", 0, 10000, "Comparison",
     HELP("fresh rounds of the winner and its best opponent")},
    {"trial-seconds", kCompare, OptionKind::real, "2", 0.001, 1e6, "Comparison",
     HELP(
         "where neither --steps nor --epochs is given: as many steps as take this long on the average of the "
         "contestants, the same for all; measured before the first round")},
    {"warmup", kBoth, OptionKind::integer, "20", 0, kMost, "Comparison",
     HELP("first steps of a trial that timings leave out; at most half of its steps")},

    {"price", kCompare | kCollect, OptionKind::text, "", 0, 0, "Comparison",
     HELP("server=P,worker=P: what a rank of each costs in an hour; rates by price too (default: none)")},

    {"wait", kBoth, OptionKind::text, "auto", 0, 0, "Running",
     HELP("what a rank does while it waits\n" + mpi::wait_help())},
    {"device", kBoth, OptionKind::text, "cpu", 0, 0, "Running",
     HELP("where workers compute: cpu, or cuda, the GPU of the rank's place on its node")},
    {"instructions", kBoth, OptionKind::text, "auto", 0, 0, "Running",
     HELP("of the processor, for the kernels: auto takes the best that every rank has; or one of " +
          instruction_sets())},
    {"trace", kBoth, OptionKind::text, "full", 0, 0, "Running",
     HELP("full: HDF5 files of every rank; off: none, the summary only")},
    {"flush-seconds", kBoth, OptionKind::real, "5", 0.01, 1e6, "Running",
     HELP("a killed job loses at most this much of its trace")},
    {"results", kBoth, OptionKind::text, "results", 0, 0, "Running", HELP("folder of the run directories")},
    {"name", kBoth, OptionKind::text, "", 0, 0, "Running",
     HELP("name of the run directory (default: date, mode, model, ranks)")},
    {"progress", kBoth, OptionKind::text, "auto", 0, 0, "Running",
     HELP("auto: on a terminal; always; never")},
    {"json", kAll, OptionKind::text, "", 0, 0, "Running",
     HELP("write the figures to this file as JSON too; - for standard output, instead of the tables")},
    {"csv", kPlace, OptionKind::text, "", 0, 0, "Running",
     HELP("write a row for every placement and server to this file; - for standard output, instead of the "
          "tables")},
    {"csv", kCollect, OptionKind::text, "", 0, 0, "Running",
     HELP("write a row for every trial to this file; - for standard output, instead of the tables")},
    {"hdf5", kCollect, OptionKind::text, "", 0, 0, "Running",
     HELP("write trials, groups and ratios to this HDF5 file, which must not exist")},
    {"write", kPlace, OptionKind::text, "", 0, 0, "Running",
     HELP("write the placement to this file, for --placement explicit:FILE; of one placement alone")},
    {"explain", kPlace, OptionKind::flag, "false", 0, 0, "Running",
     HELP("say why the placement is uneven, and which would cure it; of one placement alone")},
    {"perfetto", kExport, OptionKind::text, "", 0, 0, "Formats",
     HELP("write a JSON trace for ui.perfetto.dev and chrome://tracing to this new file")},
    {"csv", kExport, OptionKind::text, "", 0, 0, "Formats",
     HELP("write a CSV file of every dataset into this new directory")},
    {"otf2", kExport, OptionKind::text, "", 0, 0, "Formats",
     HELP("write an OTF2 archive, for otf2-print, Vampir and others, into this new directory")},
    {"trial", kExport, OptionKind::integer, "", 0, 65535, "Selection",
     HELP("only this trial, by its id (default: all)")},
    {"steps", kExport, OptionKind::text, "", 0, 0, "Selection",
     HELP("A:B, only the steps from A on, before B; windows of /load are not cut")},
    {"dry-run", kBoth, OptionKind::flag, "false", 0, 0, "Running",
     HELP("say roles, placement, bytes and messages per step, and stop")},
};

}  // namespace

std::span<const OptionSpec> option_specs() { return kSpecs; }

}  // namespace steelyard::cli
