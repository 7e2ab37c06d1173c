"""Every failure that Forecaster knows by name. Messages are one sentence: what, where, remedy."""


class ForecasterError(Exception):
    """The root: whatever is caught as this is an expected failure with a sentence for a person."""


class SourceError(ForecasterError):
    """A metrics source gave no usable answer."""


class SourceUnavailable(SourceError):
    """The source cannot be reached or is overloaded; the same request may succeed later."""


class SourceRejected(SourceError):
    """The source will never answer this request; the configuration must change."""


class NotEnoughHistory(ForecasterError):
    """A series is too short or too empty for the model that was asked."""


class ModelFailed(ForecasterError):
    """A model raised or returned something that is not a forecast."""


class ExecutorFailed(ForecasterError):
    """A chunk of series could not be run: its worker died, or the cluster cannot be reached."""


class StoreError(ForecasterError):
    """The store could not be read or written; nothing was half written."""


class HistoryAtOtherStep(ForecasterError):
    """A workload's history was kept at another step than the one asked for: a fault of that workload alone."""


class TargetError(ForecasterError):
    """A target could not be observed or written."""


class TargetMissing(TargetError):
    """The object is not there (renamed, deleted, wrong namespace)."""


class TargetForbidden(TargetError):
    """The credentials may not read or write the object."""


class TargetRefused(TargetError):
    """The object must not be written by us: another owner holds the field, or the API calls the value invalid."""


class TargetConflict(TargetError):
    """The object changed since it was observed: observe again."""


class TargetUnavailable(TargetError):
    """The API is unreachable, throttled or failing; the same request may succeed later."""


class ConfigRejected(ForecasterError):
    """The configuration cannot be used as it stands."""


class PlanUnknown(ForecasterError):
    """There is no plan of that name, or none that awaits a person."""


class WorkloadUnknown(ForecasterError):
    """Whoever asks for a floor names a workload that is not there."""


class PoolUnknown(ForecasterError):
    """Whoever asks for a floor names a pool that is not there, or none of several."""


class FloorUnknown(ForecasterError):
    """A floor was asked for of which nothing is known yet."""


class NothingKept(ForecasterError):
    """The store holds nothing yet that could be shown."""


class TraceRejected(ForecasterError):
    """A trace file cannot be replayed."""


class LoadTestRejected(ForecasterError):
    """A result of a load test cannot be read, or does not say what a replica carries."""


class LoadTestFailed(ForecasterError):
    """A load test could not be driven: no load generator, no endpoint that takes its requests, or one of them failed."""


class ReplayUnsupported(ForecasterError):
    """An autoscaler is set up in a way that no replay of the load can show."""
