"""The outside: one sealed file a system, each speaking a protocol of `forecaster.ports`."""
