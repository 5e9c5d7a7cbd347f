import { editable, integer, secretUrl } from './setting-types.ts'

/** Alerts of the operator (docs/operating.md, "Alerts"). */
export const alerting = editable({
  ALERT_WEBHOOK_URL: secretUrl('URL that receives alerts as signed webhooks.'),
  ALERT_ERROR_PERCENT: integer(
    0,
    100,
    5,
    'Share of server errors in percent, over five minutes, from which on there is an alert. 0 is off.',
  ),
  ALERT_P95_MS: integer(
    0,
    600_000,
    30_000,
    'Milliseconds until responses begin, for the slowest 5 percent, from which on there is an alert. 0 is off.',
  ),
  ALERT_DISK_FREE_BYTES: integer(
    0,
    1_000_000_000_000_000,
    1_000_000_000,
    'Free disk space in bytes below which there is an alert. 0 is off.',
  ),
})
