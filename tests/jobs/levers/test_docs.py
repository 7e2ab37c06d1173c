"""What docs/levers.md shows is what is taken."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from jobs.config.reading import read_config
from tests.jobs.config.samples import with_workload

PAGE = Path(__file__).parents[3] / "docs" / "levers.md"


def blocks(key: str) -> list[dict[str, Any]]:
    found = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [document for document in map(yaml.safe_load, found) if key in document]


def test_the_sections_of_the_page_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LEVER_SECRET", "LITELLM_MASTER_KEY", "GOLD_KEY", "KONG_TOKEN", "APISIX_KEY"):
        monkeypatch.setenv(name, "only-the-two-of-us-know")
    tiers, admission = (block["tiers"] for block in blocks("tiers"))
    gateway = {"type": "webhook", "url": "https://gateway.example.com/levers", "secret": "${LEVER_SECRET}"}
    tiers["levers"] |= {name: {**gateway, "name": name} for name in ("gold-rate", "free-rate")}
    tiers["levers"] |= blocks("levers")[0]["levers"]
    tiers["signals"]["errors"]["source"] = "prom"
    path = tmp_path / "forecaster.yaml"
    sized = with_workload("{rpm: 60}", "{rpm: 60, concurrency: 8}")
    path.write_text(sized + yaml.safe_dump({"tiers": {**tiers, **admission}}))
    read = read_config(path).tiers
    assert read is not None
    assert [ladder.name for ladder in read.to_core().ladders] == ["deep-queue", "failing", "degrade"]
    assert [one.levers() for one in read.admission] == [("breaker", "gold-rate", "free-rate")]
