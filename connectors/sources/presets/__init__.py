"""What serving engines, gateways and queues measure, as data: so that nobody writes PromQL."""
