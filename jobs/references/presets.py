"""docs/presets.md, from the presets themselves; what people write about them stands in front."""

from collections.abc import Iterator

from connectors.sources.presets.catalogue import PRESETS
from connectors.sources.presets.expression import metric_names
from connectors.sources.presets.preset import Preset, Role
from connectors.sources.presets.quantity import Counted, Quantity

_HEAD = """# Presets

This page is written by `make docs` from the code. A preset knows what a serving engine, a gateway or a queue calls its metrics, so that
nobody writes PromQL:

```yaml
workloads:
  - name: chat
    source: prometheus
    presets:
      - {name: envoy, match: {envoy_cluster_name: chat}}                  # what arrives at the gateway
      - {name: vllm, match: {model_name: llama, namespace: inference}}    # what the engine has in hand
      - {name: dcgm, match: {namespace: inference}}                       # the GPUs of those very pods
    # signals: {rpm: {query: ..., unit: ...}}   a signal that is written out outranks every preset
```

- **Who wins.** Of two presets that supply the same, the earlier one; a signal under `signals` outranks both. What a gateway says second
  best (its concurrency, queue, latency and errors) is taken only where no engine of the list tells its own. `only: [rpm, refused]` takes
  some quantities of a preset and leaves the others to those behind it.
- **What is used.** `rpm`, `concurrency` and `tokens` size floors, each where some pool has a `capacity` for it (what has none is left
  out, but one). `queue_depth` corrects upwards, and once: a preset whose concurrency has its queue for a part says so, and only what the
  queue has grown by over the last minutes is added. `refused` and the queue mark hours whose load says too little, lengths are forecast
  and shown. Everything else is shown by `forecaster check` and used for nothing yet. Utilisation alone never lowers a floor: a workload
  that has nothing else is refused. `tokens` are generated ones: say `capacity.tokens` likewise.
- **Arrivals or completions.** What an engine finished is no demand: a saturated one finishes what it can. The table says what each `rpm`
  counts: *arrivals* when they come; *ended requests*, failed and refused ones too, when they end; *completions*, which hide what was not
  served. Put a gateway in front of an engine that counts completions.
- **`match`** needs at least one label, or it would add up everybody's load. A value stands for itself, whatever characters it has; one that
  begins with `~` is a regular expression. Labels of scraping (`namespace`, `pod`, `container`, `service`, `job`, `instance`, `cluster`) may
  be matched with every preset, its own as listed below. A quantity whose metric lacks a matched label is not supplied.
- **One series.** Replicas and engines are added up. Copies are counted once: the same series from a pair of Prometheus servers
  (`prometheus_replica`), the ranks of one scheduler, both ends of one call. Where a metric was renamed, both names are asked and the newer
  one counts for every process that has both, so that a rollout is neither halved nor doubled.
- **Never 0 for unknown.** A name that is not there, an idle service's latency or length, a replica that was not scraped: all are unknown.
  `refused` and error rates are 0 only where all requests are measured and none of them was such a one.
- **Rates** are over 2 minutes: scrape every minute or oftener.
- `forecaster check` says which quantity comes from where, and of a preset that finds nothing which names and labels were tried and what the
  server has instead. `forecaster check --discover URL` proposes workloads for what it recognises.

## Who supplies what
"""
_COUNTED = {
    Counted.ARRIVALS: "arrivals",
    Counted.ENDED: "ended requests",
    Counted.COMPLETIONS: "completions: hides the demand above what is served",
}


def presets_page() -> str:
    """What each preset supplies, and one section each with its metrics, labels and renamed names."""
    return f"{_HEAD}\n{_overview()}" + "".join(_section(preset) for preset in PRESETS.values())


def _overview() -> str:
    head = "| | " + " | ".join(f"[{name}](#{name})" for name in PRESETS) + " |\n|---|" + "---|" * len(PRESETS) + "\n"
    rows = "".join(
        f"| {quantity.words} | " + " | ".join(_mark(preset, quantity) for preset in PRESETS.values()) + " |\n" for quantity in Quantity
    )
    return head + rows


def _mark(preset: Preset, quantity: Quantity) -> str:
    if quantity not in preset.metrics:
        return "not supplied"
    if quantity is Quantity.RPM and preset.counted is not None:
        return preset.counted.value
    return "second best" if quantity in preset.second else "yes"


def _section(preset: Preset) -> str:
    own = ", ".join(f"`{label}`" for label in dict.fromkeys((*preset.identity, *preset.labels)))
    rows = "".join(f"| {quantity.words} | {_told(preset, quantity)} |\n" for quantity in Quantity)
    notes = "".join(f"- {note[0].upper()}{note[1:]}.\n" for note in _notes(preset))
    role = f"{'an' if preset.role is Role.ENGINE else 'a'} {preset.role}"
    return (
        f"\n## {preset.name}\n\n{preset.title}; {role}. Sources: `{preset.source}`. Labels: {own}.\n\n{notes}\n"
        f"| Quantity | Metric |\n|---|---|\n{rows}"
    )


def _told(preset: Preset, quantity: Quantity) -> str:
    if quantity not in preset.metrics:
        return "not supplied"
    counts = f" ({_COUNTED[preset.counted]})" if quantity is Quantity.RPM and preset.counted is not None else ""
    return f"`{preset.metrics[quantity]}`{counts}".replace("|", "\\|")


def _notes(preset: Preset) -> Iterator[str]:
    yield from preset.notes
    for renamed in preset.renamed:
        new, old = renamed.new.replace("*", "..."), renamed.old.replace("*", "...")
        where = f" with {renamed.where}" if renamed.where else ""
        yield f"`{new}` is `{old}`{where} {renamed.when}"
    for lacking in preset.lacking:
        yield f"metrics `{lacking.metric}...` have no {', '.join(f'`{label}`' for label in lacking.labels)}"
    for spelling in preset.spellings:
        instead = f"call `{spelling.label}` `{spelling.instead}`" if spelling.instead else f"count for every `{spelling.label}`"
        yield f"metrics `{spelling.metric}...` {instead}"
    if preset.clashing:
        moved = ", ".join(f"`exported_{label}`" for label in preset.clashing)
        yield f"{moved} are looked at where scraping has moved its labels there"
    if preset.copies:
        yield f"series that differ in {', '.join(f'`{label}`' for label in preset.copies)} only are copies, counted once"
    if preset.source == "prometheus":
        yield f"it is recognised by `{metric_names(preset)[0]}`"
