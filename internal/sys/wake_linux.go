package sys

import (
	"time"

	"golang.org/x/sys/unix"
)

// Timer returns a descriptor that becomes readable after a time and then at intervals, as Arm
// sets it; with after 0 it is not set.
func Timer(after, every time.Duration) (int, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return -1, err
	}
	if after > 0 {
		Arm(fd, after, every)
	}
	return fd, nil
}

// Arm sets a Timer anew; every is 0 for no intervals.
func Arm(timer int, after, every time.Duration) {
	_ = unix.TimerfdSettime(timer, 0, &unix.ItimerSpec{ // fails for invalid times alone
		Value: unix.NsecToTimespec(max(int64(after), 1)), Interval: unix.NsecToTimespec(int64(every))}, nil)
}

// Event returns a descriptor that Ring makes readable (eventfd(2)).
func Event() (int, error) { return unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK) }

// Ring makes an Event readable.
func Ring(event int) {
	_, _ = unix.Write(event, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // a full counter is readable already
}

// Hush makes a Timer or an Event unreadable and reports whether it was readable.
func Hush(fd int) bool {
	var b [8]byte
	n, _ := unix.Read(fd, b[:])
	return n == len(b)
}
