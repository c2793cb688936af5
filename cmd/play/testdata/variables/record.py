#!/usr/bin/python3
"""Fill the recorded cases of variables beside this file, in the manner of
../recorded/record.py, whose docstring describes a case. Usage: record.py [case…]"""

import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "recorded"))
import record  # noqa: E402

record.DIR = "/tmp/play-recorded-variables"
record.VOLATILE = record.VOLATILE[:-1] + ((re.escape(record.DIR), "DIR"),)

if __name__ == "__main__":
    cases = [os.path.join(HERE, c + ".txtar") for c in sys.argv[1:]]
    for case in cases or sorted(glob.glob(os.path.join(HERE, "*.txtar"))):
        record.record(case)
