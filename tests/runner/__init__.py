"""What tests/run.py is made of: reports of tests, the processor time of processes, and the rules of a budget."""
