"""The first process of a host: sets up its name spaces, starts commands, and ends them all at its end.

    python -S host.py INDEX ADDRESS CONTROL SHARED...    under `unshare --net --uts --pid --ipc --mount --fork`

It gives the host its name, separate /proc, /tmp and /dev/shm, and a network device connected only to the wire; the
device's file descriptor goes to CONTROL, a socket, and so does the process's number outside. All hosts see SHARED
folders, even below /tmp. It then acts as the host's sshd: a client of the Unix socket at ADDRESS (`agent.py`) sends a
command with its three streams, and receives its exit code. It ends when CONTROL is closed, also by its owner's end; the
system then kills its process space. It imports only the standard library, for a fast start.
"""

import array
import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys

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


def mounted(source: str, target: str, kind: str, flags: int = 0) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), None):
        raise OSError(ctypes.get_errno(), f"mount {source} on {target}")


def own_folders(name: str, shared: list[str]) -> None:
    """Mount /proc, /tmp and /dev/shm of this host, with the shared folders, and its names of hosts."""
    kept = [(folder, os.open(folder, os.O_PATH)) for folder in shared]
    mounted("proc", "/proc", "proc")
    for folder in ("/tmp", "/dev/shm"):
        mounted(name, folder, "tmpfs")
    for folder, opened in kept:
        os.makedirs(folder, exist_ok=True)
        mounted(f"/proc/self/fd/{opened}", folder, "none", MS_BIND)
        os.close(opened)
    with open("/tmp/hosts", "w") as file:
        file.write("127.0.0.1 localhost\n")
        file.writelines(f"{NETWORK.format(number)} host{number}\n" for number in range(1, 65))
    mounted("/tmp/hosts", "/etc/hosts", "none", MS_BIND)


def device_up(name: str, index: int | None) -> None:
    """Give a network device this host's address, unless it has one, and switch it on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:

        def set_to(request: int, value: bytes) -> None:
            fcntl.ioctl(any_socket, request, struct.pack("16s24s", name.encode(), value))

        if index is not None:
            for request, address in ((SIOCSIFADDR, NETWORK.format(index + 1)), (SIOCSIFNETMASK, "255.255.255.0")):
                set_to(request, struct.pack("=HH4s", socket.AF_INET, 0, socket.inet_aton(address)))
            set_to(SIOCSIFTXQLEN, struct.pack("=i", QUEUE))
        set_to(SIOCSIFFLAGS, struct.pack("=H", IFF_UP))


def network(index: int) -> int:
    """Make this host's two devices; return the end of the second one, for the wire."""
    device_up("lo", None)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
    fcntl.ioctl(tun, TUNSETOFFLOAD, CHECKSUMS_AND_SEGMENTS)
    device_up(DEVICE, index)
    return tun


def started(request: dict, streams: list[int]) -> int:
    process = os.fork()
    if process:
        return process
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(request["folder"])
        os.execvpe(request["command"][0], request["command"], request["environment"])
    except OSError as error:
        os.write(2, f"{request['command'][0]}: {error}\n".encode())
        os._exit(127)


class Commands:
    """Running commands, by process and by the connection of the caller."""

    def __init__(self) -> None:
        self.callers: dict[int, socket.socket] = {}

    def accept(self, caller: socket.socket) -> None:
        caller.set_inheritable(False)
        message, streams, _, _ = socket.recv_fds(caller, MOST_REQUEST, 3)
        self.callers[started(json.loads(message), streams)] = caller
        for stream in streams:
            os.close(stream)

    def reap(self) -> None:
        """Report ended commands to their callers; other orphans are only reaped."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            caller = self.callers.pop(process, None)
            if caller is not None:
                with contextlib.suppress(OSError):
                    caller.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())
                caller.close()

    def hang_up(self, gone: socket.socket) -> None:
        """End the command of a caller that has disconnected."""
        process = next(one for one, caller in self.callers.items() if caller is gone)
        del self.callers[process]
        gone.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGTERM)
        ender = f"sleep {TO_END_S}; kill -9 -{process}"
        subprocess.Popen(["sh", "-c", ender], stderr=subprocess.DEVNULL, start_new_session=True)


def serve(listener: socket.socket, control: socket.socket) -> None:
    wake, woken = socket.socketpair()
    for end in (wake, woken):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    commands = Commands()
    while True:
        callers = list(commands.callers.values())
        ready, _, _ = select.select([listener, control, wake, *callers], [], [])
        if control in ready:
            return
        for caller in callers:
            if caller in ready and caller in commands.callers.values():
                commands.hang_up(caller)
        if wake in ready:
            wake.recv(4096)
            commands.reap()
        if listener in ready:
            commands.accept(listener.accept()[0])


def main() -> None:
    index, address, control_number, *shared = sys.argv[1:]
    number = int(os.readlink("/proc/self"))
    control = socket.socket(fileno=int(control_number))
    control.set_inheritable(False)
    name = f"host{int(index) + 1}"
    socket.sethostname(name)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address)
    listener.listen(128)
    own_folders(name, shared)
    tun = network(int(index))
    socket.send_fds(control, [json.dumps(number).encode()], array.array("i", [tun]))
    os.close(tun)
    os.chdir("/")
    serve(listener, control)
    # At once: children that end now would be reported to a closed socket.
    os._exit(0)


if __name__ == "__main__":
    main()
