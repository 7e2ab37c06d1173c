"""Write the references into a folder that is named; else into docs/, and into deploy/ what is said twice there."""

from argparse import ArgumentParser
from pathlib import Path

from jobs.references.commands import commands_page
from jobs.references.configuration import configuration_page
from jobs.references.presets import presets_page
from jobs.references.rules import rules_manifest

parser = ArgumentParser(prog="python -m jobs.references", description=__doc__)
parser.add_argument("folder", nargs="?", type=Path, help="where to write instead")
named: Path | None = parser.parse_args().folder

folder = named or Path("docs")
folder.mkdir(exist_ok=True)
for name, page in (("configuration.md", configuration_page()), ("cli.md", commands_page()), ("presets.md", presets_page())):
    (folder / name).write_text(page, encoding="utf-8")
if named is None:
    deploy = Path("deploy")
    rules = (deploy / "prometheus-rules.yaml").read_text(encoding="utf-8")
    (deploy / "kustomize" / "monitoring" / "prometheusrule.yaml").write_text(rules_manifest(rules), encoding="utf-8")
