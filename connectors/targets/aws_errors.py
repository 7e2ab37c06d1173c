"""What a refusal of AWS means for a target: its error, and the remedy in a sentence."""

from connectors.aws import AwsFailed
from forecaster.errors import TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable

_UNKNOWN = TargetForbidden, "AWS does not know our credentials: renew them"
_EXPIRED = TargetForbidden, "our token has expired: renew it, or let the identity of the pod renew them"
_CLOCK = TargetForbidden, "AWS takes a request within 5 minutes of its signature: set the clock of this machine (NTP)"
_DENIED = TargetForbidden, "allow our role the IAM action {action} on it"
_BUSY = TargetUnavailable, "AWS limits how often we may ask: try again later, and ask for fewer objects a cycle if it stays so"
_UNDER_WAY = TargetUnavailable, "an update of it is under way: try again when it has ended"
_REFUSED = TargetRefused, "AWS will not take this request as it is"
_FULL = TargetRefused, "a limit of the account is reached: ask AWS for a higher one, or remove what is not needed"
_LATER = TargetUnavailable, "try again later"

_MISSING = frozenset(
    {
        "ResourceNotFoundException", "NotFoundException", "ResourceNotFound", "ObjectNotFoundException", "ClusterNotFoundException",
        "ServiceNotFoundException",
    }
)  # fmt: skip
_MEANINGS: dict[str, tuple[type[TargetError], str]] = {
    "NoCredentials": (TargetForbidden, "give us AWS credentials by environment, profile or the identity of the pod"),
    **dict.fromkeys(("UnrecognizedClientException", "InvalidClientTokenId", "AuthFailure", "SignatureDoesNotMatch"), _UNKNOWN),
    **dict.fromkeys(("InvalidSignatureException", "IncompleteSignature", "MissingAuthenticationToken"), _UNKNOWN),
    **dict.fromkeys(("ExpiredTokenException", "ExpiredToken"), _EXPIRED),
    **dict.fromkeys(("RequestTimeTooSkewed", "RequestExpired"), _CLOCK),
    **dict.fromkeys(("AccessDeniedException", "AccessDenied", "UnauthorizedOperation", "NotAuthorized"), _DENIED),
    **dict.fromkeys(("ThrottlingException", "Throttling", "RequestLimitExceeded", "TooManyRequestsException"), _BUSY),
    **dict.fromkeys(("ResourceInUseException", "ResourceInUse", "ResourceContention", "ConcurrentUpdateException"), _UNDER_WAY),
    **dict.fromkeys(("ScalingActivityInProgress", "UpdateInProgressException"), _UNDER_WAY),
    **dict.fromkeys(("InvalidParameterException", "InvalidRequestException", "BadRequestException", "ParamValidation"), _REFUSED),
    **dict.fromkeys(("ValidationError", "ValidationException", "ClientException"), _REFUSED),
    **dict.fromkeys(("LimitExceeded", "LimitExceededException", "ResourceLimitExceeded"), _FULL),
}
_SIGNED_AT = ("signature expired", "signature not yet current", "request timestamp")
_NOT_THERE = ("not found", "could not find", "doesn't exist", "does not exist")


def aws_target_error(failed: AwsFailed, name: str, *, missing: str) -> TargetError:
    """The error of the target `name` for a failed call. missing: what to correct in the configuration where the object is not there.

    AWS tells a clock that is off as a signature that is wrong, and some services tell what is missing as a request that is invalid:
    there the words of the answer decide.
    """
    kind, remedy = _meaning(failed, missing)
    return kind(f"{name}: {failed}; {remedy.format(action=failed.action)}")


def _meaning(failed: AwsFailed, missing: str) -> tuple[type[TargetError], str]:
    code, said = failed.code or "", failed.answer.lower()
    known = _MEANINGS.get(code, _LATER)
    if code in _MISSING or (known is _REFUSED and any(words in said for words in _NOT_THERE)):
        return TargetMissing, missing
    if known is _UNKNOWN and any(words in said for words in _SIGNED_AT):
        return _CLOCK
    return known
