"""The command line: stdout is data, stderr is log and progress. Commands import what they need when they run."""
