"""A program that sleeps, and no two runs take as long: what `mutirao compare` makes of a difference that is known.

    noisy.py SECONDS DEVIATION SHARE

DEVIATION: standard deviation of the logarithm of its time. SHARE: by so much it is shorter where mutirao is preloaded.
"""

import math
import os
import random
import sys
import time

seconds, deviation, share = map(float, sys.argv[1:])
preloaded = "libmutirao.so" in os.environ.get("LD_PRELOAD", "")
time.sleep(seconds * math.exp(random.gauss(0, deviation)) * (1 - share if preloaded else 1))
