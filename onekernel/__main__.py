"""The command `onekernel`, as `python -m onekernel`."""

import sys

from drivers import console

sys.exit(console.main())
