"""Paper 000: broadcasts and spanning trees between sites, while nothing changes, while links do, and at the start."""
