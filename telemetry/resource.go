package telemetry

import (
	"context"
	"crypto/rand"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
)

// instance tells this process from others of its service, which may send to the same place: without
// it, their metrics would be mixed up. It is the same for all that this process tells.
var instance = rand.Text()

// resourceOf describes this process: the service with its version and instance, and what
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say, which wins.
func resourceOf(ctx context.Context, version string) (*resource.Resource, error) {
	made, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "talkback"), attribute.String("service.version", version),
			attribute.String("service.instance.id", instance)),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
	)
	if errors.Is(err, resource.ErrPartialResource) {
		err = nil
	}
	return made, err
}
