/* The wire between emulated hosts: one switch, to which every host has a line of its own in each direction.

   wire DELAYS CONTROL TUN...  takes a file of round-trip times and rates (below), the file descriptor of a socket and one
   of each host's network device, a TUN in the host's own namespace. A packet waits until its host's line out is free,
   takes bytes / rate to leave, half the pair's round-trip time to travel, waits until the line into its goal is free, and
   is there as a whole: a pair that has the wire for itself gets one line's rate, hosts that all send to one share its line
   in. Nothing is lost, whatever queues: as on a switch with room enough.

   Packets are segments of up to 64 KB, which the kernel of a real host would hand to its network card to be cut (TSO). They
   cost what their frames would on Ethernet, 38 bytes each besides the headers of IP and TCP.

   The control socket brings two bytes at a time: a host, and 0 to pull out its cable or 1 to put it back. A host without
   carrier sends nothing; what is on its way to it is lost, and its peers hear nothing of that. When the socket is closed,
   also because whoever held it was killed, the wire ends.

   It is in C because ranks need the cores on which it runs: a packet costs it a read, a write and a microsecond. */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST_HOSTS = 64, LARGEST = 65536 + sizeof(struct virtio_net_hdr), READS_A_TURN = 16 };
enum { ETHERNET = 38, SMALLEST_FRAME = 84, PRIORITY = 50 };
static const int64_t SECOND = 1000000000;

/* What system and wire take themselves between a write of one host and the read of another: so much less a packet waits.
   With no wait at all a round trip of 16 bytes by TCP takes 35 to 60 us, mostly for waking who waits, so that no network
   here is faster than that. A timer is late by 30 us where the core has fallen asleep: for the last part the wire waits
   awake (two cores of a virtual machine, AMD EPYC; `measure.py`). */
static const int64_t OWN = 22000, AWAKE = 20000;

struct packet {
    int64_t due;     /* ns; when it has to be looked at again */
    uint64_t number; /* of packets due at one time the older one goes first */
    int64_t takes;   /* ns on a line */
    int to, is_at_goal;
    ssize_t size;
    unsigned char bytes[];
};

static int hosts, devices[MOST_HOSTS], is_cut[MOST_HOSTS];
static int64_t one_way[MOST_HOSTS][MOST_HOSTS], out_free[MOST_HOSTS], in_free[MOST_HOSTS];
static double rate; /* bytes per ns */

static struct packet **queue; /* a heap: the packet that is due first is at 0 */
static size_t queued, room;
static uint64_t packets;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static int is_before(const struct packet *a, const struct packet *b) {
    return a->due != b->due ? a->due < b->due : a->number < b->number;
}

static void put(struct packet *packet) {
    if (queued == room) {
        room = room ? 2 * room : 1024;
        queue = realloc(queue, room * sizeof *queue);
        if (!queue) abort();
    }
    size_t place = queued++;
    while (place && is_before(packet, queue[(place - 1) / 2])) {
        queue[place] = queue[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    queue[place] = packet;
}

static struct packet *take_first(void) {
    struct packet *first = queue[0], *last = queue[--queued];
    size_t place = 0, child;
    while ((child = 2 * place + 1) < queued) {
        if (child + 1 < queued && is_before(queue[child + 1], queue[child])) child++;
        if (!is_before(queue[child], last)) break;
        queue[place] = queue[child];
        place = child;
    }
    queue[place] = last;
    return first;
}

/* Bytes of the Ethernet frames that a network card would make of a packet. */
static int64_t bytes_of_frames(const struct packet *packet) {
    struct virtio_net_hdr header;
    memcpy(&header, packet->bytes, sizeof header);
    const unsigned char *ip = packet->bytes + sizeof header;
    int64_t whole = packet->size - (int64_t)sizeof header;
    if (header.gso_type == VIRTIO_NET_HDR_GSO_NONE || !header.gso_size)
        return later(whole + ETHERNET, SMALLEST_FRAME);
    int64_t ip_header = 4 * (ip[0] & 15), headers = ip_header + 4 * (ip[ip_header + 12] >> 4);
    int64_t payload = whole - headers, frames = (payload + header.gso_size - 1) / header.gso_size;
    return payload + frames * (headers + ETHERNET);
}

/* The host whose address a packet bears: the last byte of IPv4 addresses counts hosts from 1; -1: nobody's. */
static int goal(const struct packet *packet) {
    const unsigned char *ip = packet->bytes + sizeof(struct virtio_net_hdr);
    if (packet->size < (ssize_t)sizeof(struct virtio_net_hdr) + 20 || ip[0] >> 4 != 4) return -1;
    return ip[16] == 10 && ip[19] >= 1 && ip[19] <= hosts ? ip[19] - 1 : -1;
}

static void send_off(int from, struct packet *packet) {
    packet->to = goal(packet);
    if (packet->to < 0 || is_cut[from]) {
        free(packet);
        return;
    }
    packet->takes = (int64_t)(bytes_of_frames(packet) / rate);
    int64_t leaves = later(now(), out_free[from]);
    out_free[from] = leaves + packet->takes;
    packet->due = leaves + later(one_way[from][packet->to] - OWN, 0);
    packet->is_at_goal = 0;
    packet->number = packets++;
    put(packet);
}

/* What happens when a packet is due: its head has reached the line into its goal, or all of it the goal. */
static void go_on(struct packet *packet) {
    int to = packet->to;
    if (!packet->is_at_goal) {
        in_free[to] = packet->due = later(packet->due, in_free[to]) + packet->takes;
        packet->is_at_goal = 1;
        put(packet);
        return;
    }
    if (!is_cut[to]) (void)!write(devices[to], packet->bytes, packet->size);
    free(packet);
}

static void read_from(int host) {
    for (int turn = 0; turn < READS_A_TURN; turn++) {
        struct packet *packet = malloc(sizeof *packet + LARGEST);
        if (!packet) abort();
        packet->size = read(devices[host], packet->bytes, LARGEST);
        if (packet->size <= 0) {
            free(packet);
            return;
        }
        send_off(host, realloc(packet, sizeof *packet + packet->size));
    }
}

static void obey(int control) {
    unsigned char order[2];
    if (read(control, order, 2) != 2) exit(0);
    int host = order[0], carrier = order[1];
    if (host >= hosts || ioctl(devices[host], TUNSETCARRIER, &carrier)) order[1] = 255;
    else is_cut[host] = !carrier;
    if (write(control, order, 2) != 2) exit(1);
}

static void read_delays(const char *path) {
    FILE *file = fopen(path, "r");
    double seconds, bits;
    if (!file || fscanf(file, "%lf", &bits) != 1) exit(2);
    rate = bits / 8 / SECOND;
    for (int from = 0; from < hosts; from++)
        for (int to = 0; to < hosts; to++) {
            if (fscanf(file, "%lf", &seconds) != 1) exit(2);
            one_way[from][to] = (int64_t)(seconds / 2 * SECOND);
        }
    fclose(file);
}

int main(int count, char **words) {
    struct pollfd sources[MOST_HOSTS + 1];
    struct sched_param priority = {.sched_priority = PRIORITY};
    hosts = count - 3;
    if (hosts < 1 || hosts > MOST_HOSTS) return 2;
    read_delays(words[1]);
    for (int host = 0; host < hosts; host++) {
        devices[host] = atoi(words[3 + host]);
        sources[host] = (struct pollfd){.fd = devices[host], .events = POLLIN};
    }
    int control = atoi(words[2]);
    sources[hosts] = (struct pollfd){.fd = control, .events = POLLIN};

    /* Busy ranks shall not keep the wire waiting; without the right to this it runs as others do. */
    prctl(PR_SET_TIMERSLACK, 1);
    if (sched_setscheduler(0, SCHED_FIFO, &priority)) fprintf(stderr, "wire: no real-time priority, delays will vary\n");
    mlockall(MCL_CURRENT | MCL_FUTURE);

    for (;;) {
        while (queued && queue[0]->due <= now()) go_on(take_first());
        struct timespec pause, *until = NULL;
        if (queued) {
            int64_t left = later(queue[0]->due - now() - AWAKE, 0);
            pause = (struct timespec){.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
            until = &pause;
        }
        if (ppoll(sources, hosts + 1, until, NULL) < 0 && errno != EINTR) return 1;
        for (int host = 0; host < hosts; host++)
            if (sources[host].revents & POLLIN) read_from(host);
        if (sources[hosts].revents) obey(control);
    }
}
