# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Roles, phases, a card's ledger, moments, keys of facts: made by cmake/generate_vocabulary.py."""

ROLE_UNKNOWN = 0
ROLE_PARAMETER = 1
ROLE_GRADIENT = 2
ROLE_OPTIMIZER_STATE = 3
ROLE_ACTIVATION = 4
ROLE_INPUT = 5
ROLE_TEMPORARY = 6
ROLE_WORKSPACE = 7
ROLE_KV_CACHE = 8
ROLE_COMM = 9
ROLE_BUFFER = 10
ROLE_CHECKPOINT = 11

PHASE_OTHER = 0
PHASE_INIT = 1
PHASE_FORWARD = 2
PHASE_RECOMPUTE = 3
PHASE_BACKWARD = 4
PHASE_OPTIMIZER = 5
PHASE_EVALUATE = 6
PHASE_GENERATE = 7

ROLES = (
    "unknown",
    "parameter",
    "gradient",
    "optimizer_state",
    "activation",
    "input",
    "temporary",
    "workspace",
    "kv_cache",
    "comm",
    "buffer",
    "checkpoint",
)
PHASES = (
    "other",
    "init",
    "forward",
    "recompute",
    "backward",
    "optimizer",
    "evaluate",
    "generate",
)
LEDGER = (
    "context",
    "live",
    "rounding",
    "stream_wait",
    "cached",
    "holes",
    "private_pools",
    "outside_allocator",
    "other_processes",
    "free",
    "unexplained",
)
OFF_CARD = (
    "asleep",
    "on_host",
    "host_copies",
    "host_pooled",
)

MOMENT_LARGEST_BATCH = "largest_batch"
MOMENT_EVALUATION = "evaluation"
MOMENT_CHECKPOINT = "checkpoint"
MOMENT_RESUME = "resume"
MOMENT_BEST_MODEL = "best_model"
MOMENT_GENERATION = "generation"
MOMENT_ROUTING = "routing"
MOMENT_LAST_BATCH = "last_batch"
MOMENT_END = "end"

OPTIMIZER_CLASS = "optimizer.class"
OPTIMIZER_CLASS_OF_ALL = "optimizer.class_of_all"
OPTIMIZER_FOREACH = "optimizer.foreach"
OPTIMIZER_ELEMENTS = "optimizer.elements"
OPTIMIZER_STATE_BYTES = "optimizer.state_bytes"
OPTIMIZER_COPY_BYTES = "optimizer.copy_bytes"
OPTIMIZER_SHARDED = "optimizer.sharded"
OPTIMIZER_TRAINED_BYTES = "optimizer.trained_bytes"  # .CARD
OPTIMIZER_TRAINED_ELEMENTS = "optimizer.trained_elements"  # .CARD
OPTIMIZER_STATES_TO_MAKE = "optimizer.states_to_make"  # .CARD
OPTIMIZER_COPY_TO_MAKE = "optimizer.copy_to_make"  # .CARD
OPTIMIZER_OTHERS_WAIT = "optimizer.others_wait"  # .CARD
FORWARD_BATCH = "forward.batch"
FORWARD_SEQUENCE = "forward.sequence"
FORWARD_VOCABULARY = "forward.vocabulary"
FORWARD_AUTOCAST = "forward.autocast"
FORWARD_AUTOCAST_CACHE = "forward.autocast_cache"
FORWARD_CALLS = "forward.calls"
FORWARD_SINCE_BACKWARD = "forward.since_backward"
FORWARD_BEFORE_BACKWARD = "forward.before_backward"
FORWARD_EVAL_SINCE_BACKWARD = "forward.eval_since_backward"
GENERATE_BATCH = "generate.batch"
GENERATE_LAYERS = "generate.layers"
CHECKPOINT_IN_EVAL = "checkpoint.in_eval"
CHECKPOINT_LAYERS_IN_EVAL = "checkpoint.layers_in_eval"
CHECKPOINT_WHOLE_MODEL = "checkpoint.whole_model"
CHECKPOINT_WITHOUT_GRADIENT = "checkpoint.without_gradient"
PASSES_UNTRAINED = "passes.untrained"
PASSES_SUMMED = "passes.summed"
BACKWARD_PLACE = "backward.place"
BACKWARD_CREATES_GRAPH = "backward.creates_graph"
BACKWARD_RETURNS_GRADIENTS = "backward.returns_gradients"
PLACING_TO_COME = "placing.to_come"  # .CARD
PLACING_WIDE = "placing.wide"  # .CARD
LOAD_FILE_TYPE = "load.file_type"
LOAD_WIDER = "load.wider"  # .CARD
SOURCE_CONCATENATES = "source.concatenates"
SOURCE_REPEATS_MASK = "source.repeats_mask"
SOURCE_TRAINS = "source.trains"
SOURCE_HALVES = "source.halves"
REQUEST_COMPUTES = "request.computes"
KEEPER = "keeper"  # .N
CYCLES_DEAD = "cycles.dead"
CYCLES_COLLECTIONS = "cycles.collections"
NAMES_UNREAD = "names.unread"
VARIABLES_REACH = "variables.reach"
FAILURE_KEPT = "failure.kept"
DELETED_MODELS = "deleted_models"  # .CARD
PROGRAM_EXCEPTION = "program.exception"
CARD_PROCESSES = "card.processes"  # .CARD
ALLOCATOR_RETRIES = "allocator.retries"  # .CARD
ALLOCATOR_WAITS = "allocator.waits"  # .CARD
ALLOCATOR_LARGE_PAGES = "allocator.large_pages"
ALLOCATOR_BEGAN = "allocator.began"
PLAN_FILE = "plan.file"
PLAN_PLACED = "plan.placed"
PLAN_ELSEWHERE = "plan.elsewhere"
TORCH_ALLOCATED = "torch.allocated"  # .CARD
PHASES_SOURCE = "phases.source"
SNAPSHOT = "snapshot"  # .N
BUILD_ID = "build_id"  # .FILE
JOB_GROUPS = "job.groups"
JOB_RANKS_ALIKE = "job.ranks_alike"
CUPTI_STATE = "cupti.state"
CUPTI_REASON = "cupti.reason"
CUPTI_DROPPED = "cupti.dropped"
SIMULATION_EVENTS = "simulation.events"
SIMULATION_KERNEL_LAUNCHES = "simulation.kernel_launches"
SIMULATION_HOST_COPY_BYTES = "simulation.host_copy_bytes"
SIMULATION_DEVICE_TO_HOST_COPIES = "simulation.device_to_host_copies"
SIMULATION_COPIES_DROPPED = "simulation.copies_dropped"
SIMULATION_PRODUCT_OPERATIONS = "simulation.product_operations"
SIMULATION_BUS_BYTES = "simulation.bus_bytes"
SIMULATION_PRODUCT_BUS_BYTES = "simulation.product_bus_bytes"
SIMULATION_SENT_BYTES = "simulation.sent_bytes"
SIMULATION_SENT_BYTES_NETWORK = "simulation.sent_bytes_network"
SIMULATION_SENDS = "simulation.sends"
SIMULATION_FAULTS = "simulation.faults"
SIMULATION_FAULT = "simulation.fault"  # .N
SIMULATION_UNSUPPORTED_CALLS = "simulation.unsupported_calls"
SIMULATION_UNSUPPORTED = "simulation.unsupported"  # .FUNCTION
SIMULATION_ASSUMED_WORKSPACES = "simulation.assumed_workspaces"
SIMULATION_NCCL = "simulation.nccl"  # .CARD
SIMULATION_ANSWERS_THAT_DEPEND_ON_TIME = "simulation.answers_that_depend_on_time"
SIMULATION_WAITS = "simulation.waits"
SIMULATION_VALUES = "simulation.values"
SIMULATION_READS_KNOWN = "simulation.reads.known"
SIMULATION_READS_ASSUMED = "simulation.reads.assumed"
SIMULATION_READS_UNKNOWN = "simulation.reads.unknown"
SIMULATION_READ = "simulation.read"  # .N
FIT_ENDED = "fit.ended"
FIT_STEPS = "fit.steps"
FIT_RISES = "fit.rises"
FIT_FLOORS = "fit.floors"
FIT_MOMENTS = "fit.moments"
FIT_GAPS = "fit.gaps"
FIT_BATCHES = "fit.batches"
FIT_PLANNED_STEPS = "fit.planned_steps"
FIT_WENT_ON = "fit.went_on"
FIT_STEP = "fit.step"  # .COST
FIT_STEP_CARD_US = "fit.step.card_us"  # .PHASE
FIT_STEP_HOST_US = "fit.step.host_us"  # .PHASE
FIT_STEP_BUS_US = "fit.step.bus_us"
FIT_STEP_LINK_US = "fit.step.link_us"
FIT_STEP_LAUNCHES = "fit.step.launches"
FIT_STEP_OUTSIDE = "fit.step.outside"
FIT_TIMES_SOURCE = "fit.times.source"
FIT_TIMES_UNKNOWN = "fit.times.unknown"
FIT_PEAK_ALLOCATED = "fit.peak_allocated"  # .CARD
FIT_PEAK_RESERVED = "fit.peak_reserved"  # .CARD
FIT_CHANGED = "fit.changed"  # .HOOK
FIT_MADE = "fit.made"  # .HOOK
FIT_PACKAGE = "fit.package"  # .NAME
FIT_PATCH = "fit.patch"
FIT_NO_PATCH = "fit.no_patch"  # .HOOK
FIT_MISSING = "fit.missing"  # .HOOK
FIT_WRONG_SHARE = "fit.wrong.share"
FIT_COST_OFFLOAD_BYTES = "fit.cost.offload_bytes"
FIT_KEPT_AWAY_FILES = "fit.kept_away.files"
FIT_KEPT_AWAY_SAVES = "fit.kept_away.saves"
FIT_KEPT_AWAY_FIRST = "fit.kept_away.first"
FIT_OTHER_PROGRAMS_COUNT = "fit.other_programs.count"
FIT_OTHER_PROGRAMS_FIRST = "fit.other_programs.first"
ESTIMATE_MODEL = "estimate.model"
ESTIMATE_INPUTS = "estimate.inputs"
