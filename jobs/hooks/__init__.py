"""What autoscalers and balancers ask us: answered from the store, over gRPC and HTTP."""
