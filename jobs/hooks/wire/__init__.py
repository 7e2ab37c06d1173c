"""Messages of KEDA's external scaler, generated from externalscaler.proto by `make hooks`."""
