"""The first process of a host: sets up its name spaces, starts commands, and ends them all at its end.

    python -S host.py INDEX ADDRESS CONTROL SHARED...    under `unshare --net --uts --pid --ipc --mount --fork`
    python -S host.py --try                              only makes the network device, to see whether that is allowed

It gives the host its name, separate /proc, /tmp and /dev/shm, and a network device connected only to the wire; the
device's file descriptor goes to CONTROL, a socket. All hosts see SHARED folders, even below /tmp. It then acts as the
host's sshd: a client of the Unix socket at ADDRESS (`agent.py`) sends a command with its three streams, and receives
its exit code. It ends when CONTROL is closed, also by its owner's end; the system then kills its process space. It
imports only the standard library, for a fast start.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time

NETWORK, DEVICE = "10.77.0.{}", "eth0"
MOST_REQUEST = 1 << 17
TO_END_S = 1.0
"""Seconds between the signal to a command without a caller and its kill."""
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x1, 0x1000, 0x4000
CHECKSUMS_AND_SEGMENTS = 0x1 | 0x2
"""TUN_F_CSUM and TUN_F_TSO4: TCP passes up to 64 KB at once, as to a network card."""
SIOCSIFADDR, SIOCSIFNETMASK, SIOCSIFFLAGS, SIOCSIFTXQLEN = 0x8916, 0x891C, 0x8914, 0x8943
IFF_UP, QUEUE = 0x1, 10_000
MS_BIND = 0x1000


def mount(source: str, target: str, kind: str, flags: int = 0) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), None):
        raise OSError(ctypes.get_errno(), f"mount {source} on {target}")


def own_folders(name: str, shared: list[str]) -> None:
    """Mount /proc, /tmp and /dev/shm of this host, with the shared folders, and its names of hosts."""
    kept = [(folder, os.open(folder, os.O_PATH)) for folder in shared]
    mount("proc", "/proc", "proc")
    for folder in ("/tmp", "/dev/shm"):
        mount(name, folder, "tmpfs")
    for folder, opened in kept:
        os.makedirs(folder, exist_ok=True)
        mount(f"/proc/self/fd/{opened}", folder, "none", MS_BIND)
        os.close(opened)
    with open("/tmp/hosts", "w", encoding="utf-8") as file:
        file.write("127.0.0.1 localhost\n")
        file.writelines(f"{NETWORK.format(number)} host{number}\n" for number in range(1, 65))
    mount("/tmp/hosts", "/etc/hosts", "none", MS_BIND)


def network(index: int) -> int:
    """Make this host's two network devices; return the end of the second one, for the wire."""
    import fcntl

    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
    fcntl.ioctl(tun, TUNSETOFFLOAD, CHECKSUMS_AND_SEGMENTS)
    address, mask = (
        struct.pack("=HH4s", socket.AF_INET, 0, socket.inet_aton(one))
        for one in (NETWORK.format(index + 1), "255.255.255.0")
    )
    up = struct.pack("=H", IFF_UP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for device, request, value in (
            ("lo", SIOCSIFFLAGS, up),
            (DEVICE, SIOCSIFADDR, address),
            (DEVICE, SIOCSIFNETMASK, mask),
            (DEVICE, SIOCSIFTXQLEN, struct.pack("=i", QUEUE)),
            (DEVICE, SIOCSIFFLAGS, up),
        ):
            fcntl.ioctl(any_socket, request, struct.pack("16s24s", device.encode(), value))
    return tun


def run(caller: socket.socket) -> None:
    """Run a caller's command and send its exit code; if the caller disconnects, end the command."""
    message, (stdin, stdout, stderr), _, _ = socket.recv_fds(caller, MOST_REQUEST, 3)
    request = json.loads(message)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        command = subprocess.Popen(**request, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True)
    except OSError as error:
        os.write(stderr, f"{request['args'][0]}: {error.strerror}\n".encode())
        caller.send(b"127")
        return
    for stream in (stdin, stdout, stderr):
        os.close(stream)
    end = os.pidfd_open(command.pid)
    if end in select.select([end, caller.fileno()], [], [])[0]:
        caller.send(json.dumps(command.wait()).encode())
        return
    for stop, seconds in ((signal.SIGTERM, TO_END_S), (signal.SIGKILL, 0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(command.pid, stop)
        time.sleep(seconds)


def serve(listener: socket.socket, control: socket.socket) -> None:
    """Run the commands of all callers, a process for each, until ``control`` is closed."""
    # The system reaps all processes, also orphans of commands.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while control not in select.select([listener, control], [], [])[0]:
        caller, _ = listener.accept()
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                run(caller)
            os._exit(0)
        caller.close()


def main() -> None:
    index, address, control_number, *shared = sys.argv[1:]
    control = socket.socket(fileno=int(control_number))
    control.set_inheritable(False)
    name = f"host{int(index) + 1}"
    socket.sethostname(name)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address)
    listener.listen(128)
    own_folders(name, shared)
    tun = network(int(index))
    socket.send_fds(control, [b"+"], [tun])
    os.close(tun)
    os.chdir("/")
    serve(listener, control)


if __name__ == "__main__":
    if sys.argv[1:] == ["--try"]:
        network(0)
    else:
        main()
