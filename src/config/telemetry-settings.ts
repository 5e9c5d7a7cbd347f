import { integer, onOff, secret, text, url } from './setting-types.ts'

export const telemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    'OpenTelemetry collector for traces and metrics by OTLP/HTTP, such as http://127.0.0.1:4318. Empty: off.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    'Headers for the collector, as name=value separated by commas; values are URL-encoded.',
  ),
  OTEL_SERVICE_NAME: text('Name of this server in traces and metrics.', { default: 'berth' }),
  OTEL_METRIC_EXPORT_SECONDS: integer(1, 3_600, 60, 'Seconds between two exports of metrics.'),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: onOff(
    false,
    'Adds prompts and responses of chats to traces. The collector then stores what people write.',
  ),
}
