package spec

import (
	"errors"
	"syscall"

	"sbx/internal/doc"
)

// Read reads the document at path, a file or a FIFO, to its end. A directory, and more than 1 MiB, are
// errors.
func Read(path string) ([]byte, error) {
	var fd int
	err := ignoringEINTR(func() (err error) {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NOCTTY, 0)
		return err
	})
	if err != nil {
		return nil, &DecodeError{Name: path, Why: faultOf(err).Error()}
	}
	defer func() { _ = syscall.Close(fd) }()
	return ReadFD(fd, path)
}

// errNotPlain is the error of OpenPlain for other files.
var errNotPlain = errors.New("is not a regular file")

// OpenPlain opens a regular file for reading. It does not wait at a FIFO, which an earlier command may
// have created there: sbx could not be ended by a signal meanwhile. The error is the kernel's, or
// errNotPlain.
func OpenPlain(path string) (fd int, err error) {
	err = ignoringEINTR(func() (err error) {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
		return err
	})
	if err != nil {
		return -1, err
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		_ = syscall.Close(fd)
		return -1, errNotPlain
	}
	return fd, nil
}

// ReadFD reads a document from fd to its end.
func ReadFD(fd int, name string) ([]byte, error) {
	var st syscall.Stat_t
	if err := ignoringEINTR(func() error { return syscall.Fstat(fd, &st) }); err != nil {
		return nil, &DecodeError{Name: name, Why: err.Error()}
	}
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return nil, &DecodeError{Name: name, Why: "is a directory, not a spec"}
	}
	size := 4096
	if st.Mode&syscall.S_IFMT == syscall.S_IFREG && st.Size < doc.MaxBytes {
		size = int(st.Size) + 1 // the end shows in the first read
	}
	b := make([]byte, 0, size)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		var n int
		err := ignoringEINTR(func() (err error) { n, err = syscall.Read(fd, b[len(b):cap(b)]); return err })
		if err != nil {
			return nil, &DecodeError{Name: name, Why: err.Error()}
		}
		if n == 0 {
			return b, nil
		}
		if b = b[:len(b)+n]; len(b) > doc.MaxBytes {
			return nil, &DecodeError{Name: name, Why: "larger than 1 MiB"}
		}
	}
}
