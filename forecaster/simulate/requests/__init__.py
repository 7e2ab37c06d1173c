"""Replay of single requests through queues, batches and replicas, on SimPy: what the minute-wise replay cannot see."""
