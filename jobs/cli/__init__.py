"""The command line: stdout is data, stderr is log and progress. Modules import what they need when a command runs, so that help is quick."""
