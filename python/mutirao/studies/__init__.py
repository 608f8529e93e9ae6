"""Studies: a paper's experiments run again in the lab, its own figures beside what is measured."""
