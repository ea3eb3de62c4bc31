"""`python -m bench.fuzz`."""

import sys

from .runs import main

if __name__ == "__main__":
    sys.exit(main())
