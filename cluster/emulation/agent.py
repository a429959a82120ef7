"""Run a command in a host, as `ssh` would: Open MPI's launch agent, also used by `Hosts.command`.

    python -S agent.py FOLDER HOST WORDS...             words of a shell's command, in a plain login's environment
    python -S agent.py --exactly FOLDER HOST WORDS...   a command, in this process's environment and folder

The host's first process (`host.py`) listens at the socket HOST.socket in FOLDER, a file that callers in other hosts
see too. `nsenter` cannot enter another host, only a process space below the present one.
"""

import json
import os
import signal
import socket
import sys
from pathlib import Path

LOGIN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SHELL": "/bin/sh"}
"""Environment of a command under `sshd`; launchers must pass all other variables."""


def main() -> int:
    words = sys.argv[1:]
    exactly = words[0] == "--exactly"
    folder, host, *command = words[exactly:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        try:
            connection.connect(str(Path(folder, f"{host}.socket")))
        except OSError as error:
            print(f"host {host}: {error.strerror}", file=sys.stderr)
            return 255
        request = {
            "args": command if exactly else ["/bin/sh", "-c", " ".join(command)],
            "cwd": os.getcwd() if exactly else "/",
            "env": dict(os.environ) if exactly else {**LOGIN, "HOME": os.environ.get("HOME", "/")},
        }
        # A signal closes the connection, and so ends the command.
        signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
        socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
        answer = connection.recv(64)
    code = json.loads(answer) if answer else 255
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
