"""What was found best in the words of the tools that people have already: KEDA, AWS scheduled actions, a patch of the HPA."""
