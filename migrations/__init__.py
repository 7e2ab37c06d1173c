"""The schemas of the store, numbered and forward only; `connectors.stores.migrate` runs them."""
