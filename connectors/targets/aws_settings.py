"""What every target in AWS is told: where AWS is asked and as whom, and whether coming floors are scheduled there."""

from typing import Annotated, TypeAlias

from pydantic import Field

Region: TypeAlias = Annotated[
    str,
    Field(
        min_length=1,
        description="AWS region, such as eu-west-1. No default: two regions may hold objects of one name, and only one is meant.",
    ),
]
Profile: TypeAlias = Annotated[
    str | None,
    Field(
        min_length=1,
        description="Profile of ~/.aws/config. Default: none, boto3's own chain (environment, identity of the pod, instance role), because "
        "every other AWS tool looks there too.",
    ),
]
EndpointUrl: TypeAlias = Annotated[
    str | None,
    Field(
        pattern=r"^https?://",
        description="URL asked instead of the region's own endpoint, for VPC endpoints. Default: none, AWS's own endpoint.",
    ),
]
Scheduled: TypeAlias = Annotated[
    bool,
    Field(
        description="Whether the floors of the coming hours are put as scheduled actions as well, the last of which restores the "
        "original: they are carried out and end without us. Default false: it needs more rights, and one writer is easier to follow.",
    ),
]
