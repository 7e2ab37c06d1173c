"""Rules of the benchmarks themselves: what they promise to measure."""
