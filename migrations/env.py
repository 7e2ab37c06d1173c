"""How Alembic runs the numbered scripts: on the connection, and in the transaction, of `connectors.stores.migrate`."""

from alembic import context

from connectors.stores.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, transactional_ddl=True)

with context.begin_transaction():
    context.run_migrations()
