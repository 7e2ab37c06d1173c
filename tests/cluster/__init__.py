"""A real Kubernetes control plane: API server, controllers and kubectl, built from source; kubelets and metrics are ours."""
