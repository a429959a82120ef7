"""Program of a rank: works until SIGTERM, ends later than mpirun would wait, and leaves a file as proof.

Arguments: a folder, the exit code after SIGTERM, and optionally an exit code for an immediate end.
"""

import signal
import sys
import time
from pathlib import Path

from cluster import default_communicator

ranks = default_communicator()
folder = Path(sys.argv[1])
signals_got = []
signal.signal(signal.SIGTERM, lambda number, _: signals_got.append(number))
ranks.barrier()
(folder / f"{ranks.rank} is up").touch()
if "--end" in sys.argv:
    sys.exit(int(sys.argv[2]))
for _ in range(600):
    if signals_got:
        break
    time.sleep(0.05)
time.sleep(1.1)
(folder / f"{ranks.rank} has ended by {signals_got}").touch()
ranks.barrier()
sys.exit(int(sys.argv[2]))
