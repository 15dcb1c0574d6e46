"""Run an unchanged NumPy program on tnp: ``python -m tnp [options] script.py [arguments …]``."""

import sys

from tnp.launch.options import parse
from tnp.launch.run import run_code, run_module, run_script

if __name__ == "__main__":
    options = parse(sys.argv[1:])
    if options.compare:
        from tnp.launch.compare import compare  # what it imports would cost every other run 15 ms

        sys.exit(compare(options))
    options.apply()
    if options.report:
        from tnp.launch.report import report_at_exit

        report_at_exit()
    {"script": run_script, "module": run_module, "code": run_code}[options.kind](options.program, options.arguments)
