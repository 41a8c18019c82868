// What the Go runtime takes at its start, beyond what the program has at its entry
// point: address space that it reserves, data, and processes, the threads of a run and
// pid 1 and the command among these. See room_unsafe.go.
#define ROOM (684<<20)
#define DATA (44<<20)
#define PROCESSES 13
