// A collector of OpenTelemetry with the parts that the tests need, all of them written by others.
package main

import (
	"log"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/bearertokenauthextension"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func parts() (otelcol.Factories, error) {
	otlp, debug, token := otlpreceiver.NewFactory(), debugexporter.NewFactory(), bearertokenauthextension.NewFactory()
	return otelcol.Factories{
		Telemetry:  otelconftelemetry.NewFactory(),
		Receivers:  map[component.Type]receiver.Factory{otlp.Type(): otlp},
		Exporters:  map[component.Type]exporter.Factory{debug.Type(): debug},
		Extensions: map[component.Type]extension.Factory{token.Type(): token},
	}, nil
}

func main() {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Version: "tests"},
		Factories: parts,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
			DefaultScheme:     "file",
		}},
	})
	if err := command.Execute(); err != nil {
		log.Fatal(err)
	}
}
