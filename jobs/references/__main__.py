"""Write the references into a folder that is named; else into docs/, and into deploy/ what is said twice there."""

import sys
from pathlib import Path

from jobs.references.commands import commands_page
from jobs.references.configuration import configuration_page
from jobs.references.presets import presets_page
from jobs.references.rules import rules_manifest

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
folder.mkdir(exist_ok=True)
for name, page in (("configuration.md", configuration_page()), ("cli.md", commands_page()), ("presets.md", presets_page())):
    (folder / name).write_text(page, encoding="utf-8")
if len(sys.argv) == 1:
    deploy = Path("deploy")
    rules = (deploy / "prometheus-rules.yaml").read_text(encoding="utf-8")
    (deploy / "kustomize" / "monitoring" / "prometheusrule.yaml").write_text(rules_manifest(rules), encoding="utf-8")
