"""Write the references into a folder, docs/ unless another one is named."""

import sys
from pathlib import Path

from jobs.references.commands import commands_page
from jobs.references.configuration import configuration_page
from jobs.references.presets import presets_page

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
folder.mkdir(exist_ok=True)
for name, page in (("configuration.md", configuration_page()), ("cli.md", commands_page()), ("presets.md", presets_page())):
    (folder / name).write_text(page, encoding="utf-8")
