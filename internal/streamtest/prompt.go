package streamtest

import (
	"context"
	"time"
)

// Prompt is a watermark of counting without delay.
type Prompt struct{}

// ProcessedUpTo returns the present time.
func (Prompt) ProcessedUpTo(context.Context) (upTo time.Time, known bool, err error) {
	return time.Now(), true, nil
}
