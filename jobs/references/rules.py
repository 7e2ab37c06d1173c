"""The PrometheusRule of deploy/kustomize, from the one place where alerts are written."""

from textwrap import indent

_HEAD = """\
# Written by `make docs` from deploy/prometheus-rules.yaml: change that one.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: forecaster
  namespace: forecaster
spec:
"""


def rules_manifest(rules: str) -> str:
    """The manifest with these rules, a file for `rule_files` of Prometheus, in it; comments at its head are left out."""
    return _HEAD + indent(rules[rules.index("groups:") :], "  ")
