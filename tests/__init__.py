"""The rules of Forecaster, one test a rule. The tree mirrors the rooms that it tests."""
