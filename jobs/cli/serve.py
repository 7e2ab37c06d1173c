"""The command that answers and does nothing else."""

from jobs.cli.options import ConfigFile


def serve(config: ConfigFile = None) -> None:
    """Answer KEDA, autoscalers and balancers from the store: for those who run the line from cron.

    The daemon answers the same questions itself. SIGTERM ends it; SIGHUP reads the configuration again.

    Example: forecaster serve --config /etc/forecaster/forecaster.yaml
    """
    from jobs.config.reading import config_path
    from jobs.hooks.serve import serve_store

    serve_store(config_path(config).absolute())
