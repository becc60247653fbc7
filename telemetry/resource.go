package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
)

// resourceOf describes this process: the service with its version, and what OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES say, which wins.
func resourceOf(ctx context.Context, version string) (*resource.Resource, error) {
	made, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "talkback"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
	)
	if errors.Is(err, resource.ErrPartialResource) {
		err = nil
	}
	return made, err
}
