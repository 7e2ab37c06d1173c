"""deploy/iam against the code: each policy allows exactly what AWS was asked, and each page shows its policy."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from connectors.aws import AwsAccount
from connectors.targets.sagemaker import SagemakerConfig, SagemakerFleet
from forecaster.ports import ScaleTarget, Scheduled
from forecaster.schedule import Step
from tests.aws import REGION, Aws
from tests.connectors.targets.aws_subjects import AsgSubject, ScalableSubject
from tests.connectors.targets.subjects import NOW, EksSubject, let_go, stand

ROOT = Path(__file__).parents[3]
DOCUMENTS = {file.stem: json.loads(file.read_text()) for file in sorted((ROOT / "deploy" / "iam").glob("*.json"))}
POLICIES = {kind: document for kind, document in DOCUMENTS.items() if "Statement" in document}
"""Those of AWS: other clouds have roles of other shapes."""


def allowed(kind: str) -> set[str]:
    statements: list[dict[str, Any]] = POLICIES[kind]["Statement"]
    return {action for statement in statements for action in statement["Action"]}


def live_through_everything(target: ScaleTarget) -> None:
    """A floor, schedules that come and go, a shortage, a release."""
    stand(target, 8)
    if isinstance(target, Scheduled):
        for hours in (1, 2):
            target.set_schedule((Step(start=NOW + timedelta(hours=hours), replicas=2),), target.observe(NOW))
    let_go(target)


def test_the_policy_of_a_node_group_allows_what_is_asked_and_no_more(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    aws.actions.clear()
    live_through_everything(subject.open())
    assert set(aws.actions) == allowed("eks-nodegroup")


def test_the_policy_of_an_auto_scaling_group_allows_what_is_asked_and_no_more(aws: Aws, account: AwsAccount) -> None:
    subject = AsgSubject(aws=aws, account=account, scheduled=True)
    subject.meddle(5)  # of which 3 are in service
    aws.actions.clear()
    live_through_everything(subject.open())
    assert set(aws.actions) == allowed("asg")


def test_the_policy_of_an_ecs_service_allows_what_is_asked_and_no_more(aws: Aws, account: AwsAccount) -> None:
    subject = ScalableSubject(aws=aws, account=account, kind="ecs", scheduled=True)
    aws.actions.clear()
    live_through_everything(subject.open())
    assert set(aws.actions) == allowed("ecs")


def test_the_policy_of_a_sagemaker_endpoint_allows_what_is_asked_and_no_more(aws: Aws, account: AwsAccount) -> None:
    subject = ScalableSubject(aws=aws, account=account, kind="sagemaker", scheduled=True)
    aws.actions.clear()
    live_through_everything(subject.open())
    config = SagemakerConfig(type="sagemaker", inference_component=subject.name, region=REGION)
    SagemakerFleet(config, account).running(NOW)
    assert set(aws.actions) == allowed("sagemaker")


@pytest.mark.parametrize("kind", ["eks-nodegroup", "asg", "sagemaker", "ecs"])
def test_each_page_shows_its_policy(kind: str) -> None:
    page = (ROOT / "docs" / "targets" / f"{kind}.md").read_text(encoding="utf-8")
    shown = page.partition("```json\n")[2].partition("```")[0]
    assert json.loads(shown) == POLICIES[kind]


def test_every_statement_says_what_it_is_for() -> None:
    assert all(statement["Sid"].isalpha() for policy in POLICIES.values() for statement in policy["Statement"])
