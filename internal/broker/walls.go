package broker

import (
	"sbx/internal/broker/grant"
	"sbx/internal/broker/wire"
)

// walls know what the sandbox has, and make what a tool runs under of it.
type walls struct {
	start   *wire.Start
	granted *grant.Granted
}
