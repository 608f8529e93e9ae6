"""The agents of hosts: starting, ending and asking them. Draws nothing."""
